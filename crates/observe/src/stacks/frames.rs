//! A stack as the table `stacks` has it.

/// A stack: its frames from the outermost to the innermost with `;` between them, and a letter for each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Frames {
    pub names: String,
    pub kinds: String,
}

impl Frames {
    /// Adds a frame inside of the others. What separates frames is in no name.
    pub fn push(&mut self, name: &str, kind: char) {
        if !self.kinds.is_empty() {
            self.names.push(';');
        }
        self.names.extend(name.chars().map(|c| if matches!(c, ';' | '\n' | '\r') { ':' } else { c }));
        self.kinds.push(kind);
    }

    /// The same for the same frames, in every recording: FNV-1a, without the sign.
    pub fn number(&self) -> i64 {
        let bytes = self.names.bytes().chain([0]).chain(self.kinds.bytes());
        let hash =
            bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        (hash >> 1).cast_signed()
    }
}
