//! Names of the kernel's functions, from /proc/kallsyms.

use super::functions::{Function, Functions};
use std::io;

/// The kernel's functions, by address.
pub(crate) struct KernelSymbols(Functions);

impl KernelSymbols {
    /// Reads the kernel's symbols. Fails if the kernel hides its addresses.
    pub(crate) fn read() -> io::Result<KernelSymbols> {
        let symbols = KernelSymbols::parse(std::fs::read_to_string("/proc/kallsyms")?);
        if symbols.0.is_empty() {
            return Err(io::Error::other("the kernel tells no addresses of its functions"));
        }
        Ok(symbols)
    }

    /// Parses lines of an address, a letter for the kind and a name, followed by a tab and the module. For users
    /// without the permission all addresses are zero.
    fn parse(text: String) -> KernelSymbols {
        let mut functions = Vec::new();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            if address == 0 || !matches!(kind, "t" | "T" | "w" | "W") {
                continue;
            }
            let start = name.as_ptr() as usize - text.as_ptr() as usize;
            functions.push(Function { start: address, end: 0, name: start..start + name.len() });
        }
        KernelSymbols(Functions::new(text, functions))
    }

    /// The function that contains an address, or the address itself if there is none.
    pub(crate) fn name(&self, address: u64) -> String {
        self.0.name(address).map_or_else(|| format!("{address:#x}"), str::to_string)
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
        let symbols = KernelSymbols::parse(SOME.to_string());
        assert_eq!(symbols.name(0xffff_0100), "__schedule");
        assert_eq!(symbols.name(0xffff_014f), "__schedule");
        assert_eq!(symbols.name(0xffff_0290), "schedule", "data is no function");
        assert_eq!(symbols.name(0xffff_00ff), "0xffff00ff");
    }

    #[test]
    fn without_the_right_to_see_them_there_are_none() {
        assert!(KernelSymbols::parse("0000000000000000 T schedule\n".to_string()).0.is_empty());
    }

    proptest! {
        #[test]
        fn no_text_can_make_it_panic(text in "([0-9a-f]{0,18} ?[tTd]? ?.{0,5}\n?){0,8}", address: u64) {
            let _ = KernelSymbols::parse(text).name(address);
        }
    }
}
