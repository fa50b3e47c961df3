//! Reads tokens by a grammar, and writes the statement without its literals.

use super::lexer::{Kind, Token, Unsure};

/// Why reading has ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Unsure,
    /// The rest of the text was cut off.
    Cut,
}

impl From<Unsure> for Stop {
    fn from(_: Unsure) -> Stop {
        Stop::Unsure
    }
}

pub(super) type Read = Result<(), Stop>;

/// The deepest nesting that is read; the server's own parser gives up not much later.
const DEEPEST: usize = 200;

pub(super) struct Reader<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    is_cut: bool,
    depth: usize,
    /// The text written so far.
    pub(super) out: String,
    /// Groups that are not closed yet and will be one `?`: where each begins, and what stands for it if it is cut off.
    open: Vec<(usize, &'static str)>,
    /// How many names of columns were read so far where a value may be.
    pub(super) columns: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(tokens: Vec<Token<'t>>, is_cut: bool) -> Reader<'t> {
        let (out, open) = (String::new(), Vec::new());
        Reader { tokens, at: 0, is_cut, depth: 0, out, open, columns: 0 }
    }

    pub(super) fn ahead(&self, by: usize) -> Option<&Token<'t>> {
        self.tokens.get(self.at + by)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub(super) fn is_word_at(&self, by: usize, word: &str) -> bool {
        self.ahead(by).is_some_and(|token| token.kind == Kind::Word && token.text.eq_ignore_ascii_case(word))
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(word))
    }

    pub(super) fn is_sign_at(&self, by: usize, sign: &str) -> bool {
        self.ahead(by).is_some_and(|token| token.kind == Kind::Sign && token.text == sign)
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.is_sign_at(0, sign)
    }

    pub(super) fn is_kind(&self, kind: Kind) -> bool {
        self.ahead(0).is_some_and(|token| token.kind == kind)
    }

    /// The end of the reading where something else had to follow.
    pub(super) fn unexpected(&self) -> Stop {
        if self.is_at_end() && self.is_cut { Stop::Cut } else { Stop::Unsure }
    }

    /// Writes the next token, and `?` for a literal.
    pub(super) fn take(&mut self) -> Read {
        let Some(token) = self.ahead(0).copied() else { return Err(self.unexpected()) };
        self.space();
        self.out.push_str(if token.kind == Kind::Literal { "?" } else { token.text });
        self.at += 1;
        Ok(())
    }

    /// Writes the space before the next token.
    fn space(&mut self) {
        if self.ahead(0).is_some_and(|token| token.is_spaced) && !self.out.is_empty() {
            self.out.push(' ');
        }
    }

    pub(super) fn may_word(&mut self, word: &str) -> bool {
        self.is_word(word) && self.take().is_ok()
    }

    pub(super) fn word(&mut self, word: &str) -> Read {
        if self.may_word(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) fn words(&mut self, words: &[&str]) -> Read {
        words.iter().try_for_each(|word| self.word(word))
    }

    pub(super) fn may_sign(&mut self, sign: &str) -> bool {
        self.is_sign(sign) && self.take().is_ok()
    }

    pub(super) fn sign(&mut self, sign: &str) -> Read {
        if self.may_sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// One or more items with commas between them.
    pub(super) fn list(&mut self, mut item: impl FnMut(&mut Self) -> Read) -> Read {
        item(self)?;
        while self.may_sign(",") {
            item(self)?;
        }
        Ok(())
    }

    /// Items with commas between them, possibly none, up to a closing sign.
    pub(super) fn list_until(&mut self, closing: &str, item: impl FnMut(&mut Self) -> Read) -> Read {
        if !self.is_sign(closing) {
            self.list(item)?;
        }
        self.sign(closing)
    }

    /// Reads something for which `whole` is written, whatever it has, unless it names columns.
    pub(super) fn collapsed(&mut self, whole: &str, cut: &'static str, read: impl FnOnce(&mut Self) -> Read) -> Read {
        self.space();
        let (from, columns) = (self.out.len(), self.columns);
        self.open.push((from, cut));
        // The space is written already.
        let at = self.at;
        if let Some(token) = self.tokens.get_mut(at) {
            token.is_spaced = false;
        }
        read(self)?;
        self.open.pop();
        if self.columns == columns {
            self.out.truncate(from);
            self.out.push_str(whole);
        }
        Ok(())
    }

    /// Reads something that may hold itself.
    pub(super) fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Read) -> Read {
        if self.depth >= DEEPEST {
            return Err(Stop::Unsure);
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Takes all groups for closed, because what was written of them is not shown.
    pub(super) fn close_all(&mut self) {
        self.open.clear();
    }

    /// The text of a statement that was cut off: of a group that is open, nothing is shown.
    pub(super) fn cut_off(&mut self) {
        if let Some((from, cut)) = self.open.first() {
            self.out.truncate(*from);
            self.out.push_str(cut);
        }
        self.close_all();
    }
}
