//! A stack in the format of the table `stacks`.

use crate::symbols::KernelSymbols;

/// A stack: its frames from the outermost to the innermost with `;` between them, and a letter for the kind of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Frames {
    pub names: String,
    pub kinds: String,
}

impl Frames {
    /// Adds a frame as the innermost one. Replaces separators in its name.
    pub fn push(&mut self, name: &str, kind: char) {
        if !self.kinds.is_empty() {
            self.names.push(';');
        }
        self.names.extend(name.chars().map(|c| if matches!(c, ';' | '\n' | '\r') { ':' } else { c }));
        self.kinds.push(kind);
    }

    /// Adds kernel frames by address, innermost first. Without symbols the frames have no names.
    pub(crate) fn push_kernel(&mut self, symbols: Option<&KernelSymbols>, addresses: &[u64]) {
        for (depth, address) in addresses.iter().enumerate().rev() {
            let name = symbols.map_or_else(|| "[kernel]".to_string(), |symbols| symbols.name(within(depth, *address)));
            self.push(&name, 'k');
        }
    }

    /// The number of a stack, which is the same for the same frames in every recording: FNV-1a, without the sign bit.
    pub fn number(&self) -> i64 {
        let bytes = self.names.bytes().chain([0]).chain(self.kinds.bytes());
        let hash =
            bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        (hash >> 1).cast_signed()
    }
}

/// An address within the function of a frame. All frames but the innermost have return addresses, which may be behind
/// the end of the calling function.
pub(crate) fn within(depth: usize, address: u64) -> u64 {
    if depth == 0 { address } else { address.saturating_sub(1) }
}
