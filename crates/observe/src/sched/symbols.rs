//! Names of the kernel's functions, from /proc/kallsyms.

use std::io;

/// What every stack begins with at its innermost end: the switch itself, and the programs that look at it.
const SWITCH: &str = "__schedule";

/// The kernel's functions, by their address.
pub(super) struct Symbols {
    text: String,
    /// Address, and where the name is in the text.
    functions: Vec<(u64, std::ops::Range<usize>)>,
}

impl Symbols {
    /// Reads them. Fails where the kernel does not tell addresses.
    pub(super) fn read() -> io::Result<Symbols> {
        let symbols = Symbols::parse(std::fs::read_to_string("/proc/kallsyms")?);
        if symbols.functions.is_empty() {
            return Err(io::Error::other("the kernel tells no addresses of its functions"));
        }
        Ok(symbols)
    }

    /// Lines of an address, a letter for the kind, and a name; after a tab the module. Without the right to see them
    /// all addresses are zero.
    fn parse(text: String) -> Symbols {
        let mut functions = Vec::new();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            if address == 0 || !matches!(kind, "t" | "T" | "w" | "W") {
                continue;
            }
            let start = name.as_ptr() as usize - text.as_ptr() as usize;
            functions.push((address, start..start + name.len()));
        }
        functions.sort_by_key(|(address, _)| *address);
        Symbols { text, functions }
    }

    /// The function that an address is in.
    fn name(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|(start, _)| *start <= address);
        let (_, name) = self.functions.get(after.checked_sub(1)?)?;
        self.text.get(name.clone())
    }

    /// The frames of a stack from the outermost to the innermost, with ; between them; what looks at the switch is left
    /// out.
    pub(super) fn frames(&self, innermost_first: &[u64]) -> (String, usize) {
        let names = innermost_first.iter().map(|address| match self.name(*address) {
            Some(name) => name.to_string(),
            None => format!("{address:#x}"),
        });
        let names: Vec<String> = names.collect();
        let from = names.iter().position(|name| name == SWITCH).unwrap_or(0);
        let outermost_first: Vec<&str> = names[from..].iter().rev().map(String::as_str).collect();
        (outermost_first.join(";"), outermost_first.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SOME: &str = "ffff0300 t bpf_prog_1 [bpf]
ffff0100 T __schedule
ffff0200 t schedule
ffff0280 d no_function
ffff0150 T do_nanosleep
";

    #[test]
    fn an_address_is_in_the_function_that_begins_before_it() {
        let symbols = Symbols::parse(SOME.to_string());
        assert_eq!(symbols.name(0xffff_0100), Some("__schedule"));
        assert_eq!(symbols.name(0xffff_014f), Some("__schedule"));
        assert_eq!(symbols.name(0xffff_0290), Some("schedule"), "data is no function");
        assert_eq!(symbols.name(0xffff_00ff), None);
    }

    #[test]
    fn a_stack_ends_with_the_switch() {
        let symbols = Symbols::parse(SOME.to_string());
        let stack = [0xffff_0301, 0xffff_0101, 0xffff_0201, 0xffff_0151, 0x10];
        assert_eq!(symbols.frames(&stack), ("0x10;do_nanosleep;schedule;__schedule".to_string(), 4));
        assert_eq!(symbols.frames(&[]), (String::new(), 0));
    }

    #[test]
    fn without_the_right_to_see_them_there_are_none() {
        assert!(Symbols::parse("0000000000000000 T schedule\n".to_string()).functions.is_empty());
    }

    proptest! {
        #[test]
        fn no_text_can_make_it_panic(text in "([0-9a-f]{0,18} ?[tTd]? ?.{0,5}\n?){0,8}", stack: Vec<u64>) {
            let _ = Symbols::parse(text).frames(&stack);
        }
    }
}
