//! Statements that define something: names, types and options.

use super::lexer::Kind;
use super::reader::{Read, Reader};

/// Words that a literal may follow directly.
const BEFORE_LITERALS: [&str; 6] = ["AS", "USING", "INITCOND", "TIMESTAMP", "IS", "DEFAULT"];
/// Words that may follow a literal directly.
const AFTER_LITERALS: [&str; 8] = ["AND", "OR", "WITH", "PRIMARY", "AS", "MASKED", "STATIC", "CHECK"];
/// Signs that a literal may follow directly, and signs that may follow it.
const SIGNS_BEFORE: [&str; 7] = ["=", "<", ">", ",", "(", "-", ":"];
const SIGNS_AFTER: [&str; 4] = [",", ")", ">", ":"];

impl Reader<'_> {
    /// Any words, names and signs. Values are literals alone: a word where a literal has to be makes it unsure.
    pub(super) fn definition(&mut self) -> Read {
        let mut before = "";
        let mut is_after_literal = false;
        while let Some(token) = self.ahead(0).copied().filter(|token| token.text != ";") {
            let is_one = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(token.text));
            // An option has a literal, with or without a sign, or a map.
            let is_value = token.kind == Kind::Literal || ["{", "[", "-"].contains(&token.text);
            if (before == "=" && !is_value) || (before == "-" && token.kind != Kind::Literal) {
                return Err(self.unexpected());
            }
            match token.kind {
                Kind::Literal => {
                    let may_follow = SIGNS_BEFORE.contains(&before)
                        || BEFORE_LITERALS.iter().any(|word| word.eq_ignore_ascii_case(before));
                    if is_after_literal || !may_follow {
                        return Err(self.unexpected());
                    }
                    self.take()?;
                }
                Kind::Sign if ["{", "["].contains(&token.text) => {
                    if is_after_literal || !(before == "=" || before.eq_ignore_ascii_case("INITCOND")) {
                        return Err(self.unexpected());
                    }
                    self.operand(super::terms::Columns::Refused)?;
                }
                Kind::Sign => {
                    let is_known = ["(", ")", ",", ".", "<", ">", "=", "!", "*", "-"].contains(&token.text);
                    if !is_known || (is_after_literal && !SIGNS_AFTER.contains(&token.text)) {
                        return Err(self.unexpected());
                    }
                    self.take()?;
                }
                Kind::Word | Kind::Quoted => {
                    if is_after_literal && !is_one(&AFTER_LITERALS) {
                        return Err(self.unexpected());
                    }
                    self.take()?;
                }
            }
            let is_group = ["{", "["].contains(&token.text);
            is_after_literal = token.kind == Kind::Literal || is_group;
            before = if is_after_literal { "" } else { token.text };
        }
        Ok(())
    }
}
