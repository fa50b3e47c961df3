//! Removes the values from statements: values may be secrets, and statements that differ only in values are counted
//! together.

/// The most characters of a statement that are kept.
const LONGEST: usize = 1000;

/// A statement with `?` in place of each literal, of a whole collection of literals, and of a list of `IN` of any
/// length. With `is_cut` the end of the text is missing: its last word may be part of a literal and is dropped.
pub(super) fn normalized(statement: &str, is_cut: bool) -> String {
    let statement = if is_cut { without_last_word(statement) } else { statement };
    let mut out = Text { text: String::with_capacity(statement.len()), brackets: Vec::new() };
    let mut left = statement;
    while let Some(first) = left.chars().next() {
        left = &left[out.take(first, left)..];
    }
    out.finish(is_cut)
}

fn without_last_word(text: &str) -> &str {
    text.trim_end_matches(|last: char| is_of_word(last) || ['-', '.', ':', '+', '\u{fffd}'].contains(&last))
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The text written so far, and its open brackets.
struct Text {
    text: String,
    brackets: Vec<Bracket>,
}

struct Bracket {
    at: usize,
    /// Whether the bracket so far contains only values.
    is_of_values: bool,
}

impl Text {
    /// Writes the first token of the text; returns its length.
    fn take(&mut self, first: char, left: &str) -> usize {
        if is_of_word(first) && !self.text.ends_with(is_of_word) {
            let length = literal(left).unwrap_or(0);
            if length > 0 {
                self.value();
                return length;
            }
            let length = left.find(|next| !is_of_word(next)).unwrap_or(left.len());
            match &left[..length] {
                word if is_constant(word) => self.value(),
                word => self.text.push_str(word),
            }
            return length;
        }
        match first {
            '\'' => {
                self.value();
                quoted(left, "'").unwrap_or(left.len())
            }
            '$' if left.starts_with("$$") => {
                self.value();
                2 + left[2..].find("$$").map_or(left.len() - 2, |end| end + 2)
            }
            // A quoted name stays as it is. One without a closing quote may contain a literal.
            '"' => match quoted(left, "\"") {
                Some(end) => {
                    self.text.push_str(&left[..end]);
                    end
                }
                None => {
                    self.value();
                    left.len()
                }
            },
            '-' if left.starts_with("--") => left.find('\n').unwrap_or(left.len()),
            '/' if left.starts_with("//") => left.find('\n').unwrap_or(left.len()),
            '/' if left.starts_with("/*") => {
                self.space();
                left.find("*/").map_or(left.len(), |end| end + 2)
            }
            '-' if !self.follows_operand() && literal(&left[1..]).is_some() => {
                self.value();
                1 + literal(&left[1..]).unwrap_or(0)
            }
            first if first.is_whitespace() => {
                self.space();
                left.find(|next: char| !next.is_whitespace()).unwrap_or(left.len())
            }
            '(' | '[' | '{' => {
                let is_of_values = match first {
                    '(' => self.follows("IN") || self.brackets.last().is_some_and(|outer| outer.is_of_values),
                    // An element of a collection, such as `list[0]`.
                    '[' => !self.follows_operand(),
                    _ => true,
                };
                self.brackets.push(Bracket { at: self.text.len(), is_of_values });
                self.text.push(first);
                1
            }
            ')' | ']' | '}' => {
                self.text.push(first);
                self.close(first);
                1
            }
            first => {
                self.text.push(first);
                first.len_utf8()
            }
        }
    }

    fn value(&mut self) {
        self.text.push('?');
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    fn finish(mut self, is_cut: bool) -> String {
        while let Some(Bracket { at, is_of_values }) = self.brackets.pop() {
            let Some((opening, content)) = self.text.get(at..).and_then(|text| text.split_at_checked(1)) else { break };
            if is_of_values && is_one_value(content) {
                let shown = if opening == "(" { "(?" } else { "?" };
                self.text.truncate(at);
                self.text.push_str(shown);
            }
        }
        let mut text = self.text;
        text.truncate(text.trim_end().len());
        let longest = text.char_indices().nth(LONGEST).map(|(at, _)| at);
        text.truncate(longest.unwrap_or(text.len()));
        if is_cut || longest.is_some() {
            text.push('…');
        }
        text
    }

    /// Replaces the content of a bracket that contains only values by a single `?`.
    fn close(&mut self, closing: char) {
        let Some(Bracket { at, is_of_values: true }) = self.brackets.pop() else { return };
        let content = self.text.get(at + 1..self.text.len() - 1).unwrap_or_default();
        // This includes a list of named markers, `:name`.
        let is_of_names = closing == ')' && content.split(',').all(|item| item.trim_start().starts_with(':'));
        if !is_of_names && !is_one_value(content) {
            return;
        }
        self.text.truncate(at);
        self.text.push_str(if closing == ')' { "(?)" } else { "?" });
    }

    /// Whether the last token is a value or a name, which a minus sign or an index may follow.
    fn follows_operand(&self) -> bool {
        let text = self.text.trim_end();
        let word = text.rsplit(|letter: char| !is_of_word(letter)).next().unwrap_or_default();
        let is_keyword = ["IN", "SELECT", "AND", "CONTAINS", "KEY", "LIMIT", "TTL", "TIMESTAMP", "OF"]
            .iter()
            .any(|keyword| keyword.eq_ignore_ascii_case(word));
        !is_keyword && text.ends_with(|last: char| is_of_word(last) || ['?', ')', ']', '}', '"'].contains(&last))
    }

    fn follows(&self, keyword: &str) -> bool {
        let text = self.text.trim_end();
        let start = text.len().saturating_sub(keyword.len());
        text.get(start..).is_some_and(|word| word.eq_ignore_ascii_case(keyword)) && !text[..start].ends_with(is_of_word)
    }
}

/// Whether a bracket contains values and nothing else.
fn is_one_value(content: &str) -> bool {
    let mut words = content.split(|letter: char| ", :(){}[]".contains(letter)).filter(|word| !word.is_empty());
    words.next() == Some("?") && words.all(|word| word == "?")
}

/// The length of a quoted text, in which quotes are doubled; None if there is no closing quote.
fn quoted(text: &str, quote: &str) -> Option<usize> {
    let mut at = 1;
    loop {
        let end = at + text[at..].find(quote)?;
        if !text[end + 1..].starts_with(quote) {
            return Some(end + 1);
        }
        at = end + 2;
    }
}

fn is_constant(word: &str) -> bool {
    ["true", "false", "nan", "infinity"].iter().any(|constant| constant.eq_ignore_ascii_case(word))
}

/// The length of the number, blob, uuid or duration at the start of a text.
fn literal(text: &str) -> Option<usize> {
    if is_uuid(text) {
        return Some(36);
    }
    let first = text.chars().next()?;
    if first.is_ascii_digit() {
        return Some(number(text));
    }
    if first == 'P' { iso_duration(text) } else { None }
}

/// The length of a number, blob or duration that begins with a digit.
fn number(text: &str) -> usize {
    let is_hexadecimal = text.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"));
    let mut before = ' ';
    text.find(|next: char| {
        let is_exponent = !is_hexadecimal && matches!(before, 'e' | 'E') && matches!(next, '-' | '+');
        before = next;
        !(next.is_alphanumeric() || next == '.' || is_exponent)
    })
    .unwrap_or(text.len())
}

/// The length of a duration literal such as `P1Y2DT3H` or `P0001-02-03T04:05:06`; None if the text is none.
fn iso_duration(text: &str) -> Option<usize> {
    let length = text.find(|next: char| !(is_of_word(next) || ['-', ':', '.'].contains(&next))).unwrap_or(text.len());
    let rest = &text[1..length];
    let is_part = |letter: char| letter.is_ascii_digit() || "YMWDTHS-:.".contains(letter);
    let begins = rest.strip_prefix('T').unwrap_or(rest).starts_with(|next: char| next.is_ascii_digit());
    let has_unit = rest.contains(|letter: char| letter.is_ascii_alphabetic());
    (begins && has_unit && rest.chars().all(is_part)).then_some(length)
}

fn is_uuid(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_right = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    bytes.len() >= 36
        && bytes[..36].iter().enumerate().all(is_right)
        && !bytes.get(36).is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_go_and_names_stay() {
        for (statement, expected) in [
            ("SELECT v1 FROM ks2.t3 WHERE id = 5 LIMIT 10;", "SELECT v1 FROM ks2.t3 WHERE id = ? LIMIT ?;"),
            (
                "CREATE ROLE a WITH PASSWORD = 'it''s'  AND x=1.5e-3 AND y = true",
                "CREATE ROLE a WITH PASSWORD = ? AND x=? AND y = ?",
            ),
            (
                "INSERT INTO \"T'1\" (a) VALUES (0xcafe, f47ac10b-58cc-4372-a567-0e02b2c3d479, $$o'x$$, '')",
                "INSERT INTO \"T'1\" (a) VALUES (?, ?, ?, ?)",
            ),
            ("select 1 -- it's\n from /* ' */ t // x", "select ? from t"),
            ("x = 'open", "x = ?"),
            ("x = \"open 'secret'", "x = ?"),
            ("x = $$open", "x = ?"),
            ("UPDATE t SET a = -5, b = b - 5, c = b -5", "UPDATE t SET a = ?, b = b - ?, c = b -?"),
            (
                "SELECT * FROM t WHERE d > 1h30m AND e < P1Y2M AND f = PT5M",
                "SELECT * FROM t WHERE d > ? AND e < ? AND f = ?",
            ),
            ("SELECT p1, px, pt FROM t WHERE d = 10µs AND e = -P3D", "SELECT p1, px, pt FROM t WHERE d = ? AND e = ?"),
            ("x = P0001-02-03T04:05:06", "x = ?"),
            ("x = -NaN AND y = Infinity AND z = null", "x = -? AND y = ? AND z = null"),
            ("SET a = 123e4567-e89b-12d3-a456-426614174000", "SET a = ?"),
        ] {
            assert_eq!(normalized(statement, false), expected);
        }
        let long = normalized(&"x ".repeat(5000), false);
        assert_eq!(long.chars().count(), LONGEST + 1);
    }

    #[test]
    fn lists_and_collections_of_any_length_are_one() {
        for (statement, expected) in [
            ("SELECT * FROM t WHERE k IN (1)", "SELECT * FROM t WHERE k IN (?)"),
            ("SELECT * FROM t WHERE k IN (1, 2,3 ,-4)", "SELECT * FROM t WHERE k IN (?)"),
            ("SELECT * FROM t WHERE k in (?, ?, ?)", "SELECT * FROM t WHERE k in (?)"),
            ("SELECT * FROM t WHERE k IN(:a, :b) AND c = :d", "SELECT * FROM t WHERE k IN(?) AND c = :d"),
            ("SELECT * FROM t WHERE (a, b) IN ((1, 'x'), (2, 'y'))", "SELECT * FROM t WHERE (a, b) IN (?)"),
            ("INSERT INTO t (a, b) VALUES (?, ?)", "INSERT INTO t (a, b) VALUES (?, ?)"),
            ("UPDATE t SET l = [1, 2], s = {'a'}, m = {1: 'x', 2: 'y'}", "UPDATE t SET l = ?, s = ?, m = ?"),
            ("UPDATE t SET l = l + [1], l[3] = 4, m['k'] = {1: [2, 3]}", "UPDATE t SET l = l + ?, l[?] = ?, m[?] = ?"),
            ("INSERT INTO t (a) VALUES ({street: 'x', zip: 5})", "INSERT INTO t (a) VALUES ({street: ?, zip: ?})"),
            ("UPDATE t SET l = [], m = {}", "UPDATE t SET l = [], m = {}"),
            ("SELECT * FROM t WHERE k IN ()", "SELECT * FROM t WHERE k IN ()"),
            ("SELECT ) ] } FROM (", "SELECT ) ] } FROM ("),
        ] {
            assert_eq!(normalized(statement, false), expected);
        }
    }

    #[test]
    fn what_is_cut_off_does_not_show_the_begin_of_a_value() {
        for (statement, expected) in [
            ("INSERT INTO t (a) VALUES (f47ac10b-58cc-4372", "INSERT INTO t (a) VALUES (…"),
            ("INSERT INTO t (a) VALUES ('x', 'secr", "INSERT INTO t (a) VALUES (?, ?…"),
            ("INSERT INTO t (a) VALUES (1.5e", "INSERT INTO t (a) VALUES (…"),
            ("INSERT INTO t (a) VALUES (\"secr", "INSERT INTO t (a) VALUES (?…"),
            ("SELECT * FROM t WHERE k IN (1, 2, tr", "SELECT * FROM t WHERE k IN (?…"),
        ] {
            assert_eq!(normalized(statement, true), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_in_a_bounded_length(text: String, is_cut: bool) {
            let _ = normalized(&text, is_cut);
        }

        /// Fragments that are difficult for a lexer, in any order.
        #[test]
        fn any_words_are_read(words in prop::collection::vec(prop::sample::select(vec![
            "'", "''", "\"", "$$", "$", "--", "\n", "/*", "*/", "//", "(", ")", "[", "]", "{", "}", "-", "5", "IN", ",", ":", "?",
            "P1Y", "µ", "é", "0x", "e", "f47ac10b-58cc-4372-a567-0e02b2c3d479", " ", "a", "…",
        ]), 0..40), is_cut: bool) {
            let once = normalized(&words.concat(), is_cut);
            prop_assert!(once.chars().count() <= LONGEST + 1);
        }

        #[test]
        fn what_is_in_quotes_is_never_shown(secret in "[a-z]{8}", before in "[ a-z'=]{0,20}", cut in 0usize..60) {
            // If there is an even number of quotes before it, the secret is in quotes.
            prop_assume!(before.matches('\'').count() % 2 == 0 && !before.ends_with('\''));
            let statement = format!("{before}'{secret}Q' AND a = 1");
            let shown = normalized(&statement, false);
            prop_assert!(!shown.contains('Q'), "{}", shown);
            let shown = normalized(&statement[..cut.min(statement.len())], true);
            prop_assert!(!shown.contains('Q'), "{}", shown);
        }

        #[test]
        fn no_number_is_ever_shown(number in "(-?[1-9][0-9]{0,9}(\\.[0-9]{1,5})?(e-?[0-9]{1,2})?)|0x[0-9a-f]{4,20}|[1-9]h[1-9]m") {
            for before in ["a = ", "IN (1, ", "[", "LIMIT ", "VALUES (", "a + ", "TTL "] {
                let shown = normalized(&format!("{before}{number}) "), false);
                prop_assert!(!shown.contains(|letter: char| letter.is_ascii_digit()), "{}", shown);
            }
        }
    }
}
