//! Functions by address, with all names in one text.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) start: u64,
    /// The end of the function, or 0 if it is unknown; then it extends to the next function.
    pub(super) end: u64,
    /// Range of the name within the text.
    pub(super) name: Range<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Functions {
    text: String,
    functions: Vec<Function>,
}

impl Functions {
    pub(super) fn new(text: String, mut functions: Vec<Function>) -> Functions {
        // If one address has several names, that of the longest function comes last and is used.
        functions.sort_by_key(|function| (function.start, function.end));
        Functions { text, functions }
    }

    /// The bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.text.capacity() + self.functions.capacity() * size_of::<Function>()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The function that an address is in.
    pub(super) fn name(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|function| function.start <= address);
        let found = self.functions.get(after.checked_sub(1)?)?;
        let within = found.end == 0 || address < found.end;
        if within { self.text.get(found.name.clone()) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_function_that_begins_before_it_and_ends_after_it() {
        let function = |start, end, name| Function { start, end, name };
        let text = "openendedsized".to_string();
        let functions = Functions::new(text, vec![function(0x20, 0x30, 9..14), function(0x10, 0, 0..9)]);
        assert_eq!(functions.name(0xf), None);
        assert_eq!(functions.name(0x1f), Some("openended"));
        assert_eq!(functions.name(0x20), Some("sized"));
        assert_eq!(functions.name(0x30), None);
    }
}
