//! Tokens of CQL.
//!
//! Source: Apache Cassandra, `src/antlr/Lexer.g`.

/// The text does not parse.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unsure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in quotes.
    Quoted,
    /// A string, number, blob, uuid, duration, or another constant.
    Literal,
    /// A sign; `..` is one, too.
    Sign,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    /// Whether there is a space or a comment before it.
    pub(super) is_spaced: bool,
}

/// All tokens of a text. If the end of the text was cut off, a string or comment may be open at its end.
///
/// # Errors
/// If a part of the text is not a token.
pub(super) fn tokens(text: &str, is_cut: bool) -> Result<Vec<Token<'_>>, Unsure> {
    let mut tokens = Vec::new();
    let (mut left, mut is_spaced) = (text, false);
    while let Some(first) = left.chars().next() {
        let skipped = match first {
            ' ' | '\t' | '\r' | '\n' => Some(1),
            '-' if left.starts_with("--") => Some(end_of_line(left)),
            '/' if left.starts_with("//") => Some(end_of_line(left)),
            '/' if left.starts_with("/*") => Some(closed(left[2..].find("*/").map(|end| end + 4), left, is_cut)?),
            _ => None,
        };
        if let Some(skipped) = skipped {
            left = &left[skipped..];
            is_spaced = true;
            continue;
        }
        let (kind, length) = token(first, left, is_cut)?;
        let (text, rest) = left.split_at(length);
        tokens.push(Token { kind, text, is_spaced });
        (left, is_spaced) = (rest, false);
    }
    Ok(tokens)
}

fn end_of_line(text: &str) -> usize {
    text.find(['\n', '\r']).unwrap_or(text.len())
}

/// The length up to an end; without an end, all of a text that was cut off.
fn closed(end: Option<usize>, text: &str, is_cut: bool) -> Result<usize, Unsure> {
    end.or(is_cut.then_some(text.len())).ok_or(Unsure)
}

fn token(first: char, left: &str, is_cut: bool) -> Result<(Kind, usize), Unsure> {
    Ok(match first {
        '\'' => (Kind::Literal, closed(quoted(left, "'"), left, is_cut)?),
        '$' if left.starts_with("$$") => {
            (Kind::Literal, closed(left[2..].find("$$").map(|end| end + 4), left, is_cut)?)
        }
        // A name without an end may be a value in the wrong quotes.
        '"' => match quoted(left, "\"") {
            Some(length) => (Kind::Quoted, length),
            None => (Kind::Literal, closed(None, left, is_cut)?),
        },
        _ if first.is_ascii_alphanumeric() => match literal(left) {
            Some(length) => (Kind::Literal, length),
            None if first.is_ascii_digit() => return Err(Unsure),
            None => (Kind::Word, left.find(|next| !is_of_word(next)).unwrap_or(left.len())),
        },
        '.' if left.starts_with("..") => (Kind::Sign, 2),
        _ if "()[]{},.;:=<>!+-*/%?".contains(first) => (Kind::Sign, 1),
        _ => return Err(Unsure),
    })
}

/// Letters beyond ASCII count, so that no word ends in the middle of one.
fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The text without a word at its end, which may be a part of a literal.
pub(super) fn without_last_word(text: &str) -> &str {
    text.trim_end_matches(|last: char| is_of_word(last) || ['-', '.', ':', '+', '\u{fffd}'].contains(&last))
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

/// The length of the constant without quotes at the start of a text.
fn literal(text: &str) -> Option<usize> {
    let length = uuid(text).or_else(|| iso_duration(text)).or_else(|| number(text)).or_else(|| constant(text))?;
    // A letter directly behind a constant would be a part of it.
    (!text[length..].starts_with(is_of_word)).then_some(length)
}

fn constant(text: &str) -> Option<usize> {
    let length = text.find(|next| !is_of_word(next)).unwrap_or(text.len());
    let is_one = |constant: &str| constant.eq_ignore_ascii_case(&text[..length]);
    ["true", "false", "nan", "infinity"].into_iter().any(is_one).then_some(length)
}

fn digits(text: &str) -> usize {
    text.find(|next: char| !next.is_ascii_digit()).unwrap_or(text.len())
}

/// A blob, a duration such as `1h30m`, an integer, or a number with a point or an exponent.
fn number(text: &str) -> Option<usize> {
    if text.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x")) {
        return Some(2 + text[2..].find(|next: char| !next.is_ascii_hexdigit()).unwrap_or(text.len() - 2));
    }
    let mut length = digits(text);
    if length == 0 {
        return None;
    }
    if let Some(units) = units(text) {
        return Some(units);
    }
    // Two points are a range, as in `list[1..2]`.
    if text[length..].starts_with('.') && !text[length..].starts_with("..") {
        length += 1;
        length += digits(&text[length..]);
    }
    if let Some(exponent) = text[length..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        match digits(&exponent[sign..]) {
            0 => {}
            digits => length += 1 + sign + digits,
        }
    }
    Some(length)
}

/// The length of a duration of numbers with units.
fn units(text: &str) -> Option<usize> {
    const UNITS: [&str; 11] = ["y", "mo", "w", "d", "h", "m", "s", "ms", "us", "µs", "ns"];
    let mut at = 0;
    loop {
        let number = digits(&text[at..]);
        if number == 0 {
            return (at > 0).then_some(at);
        }
        let unit = &text[at + number..];
        let length = unit.find(|next: char| !next.is_alphabetic()).unwrap_or(unit.len());
        UNITS.iter().find(|known| unit[..length].to_lowercase() == **known)?;
        at += number + length;
    }
}

/// The length of a duration literal such as `P1Y2DT3H` or `P0001-02-03T04:05:06`.
fn iso_duration(text: &str) -> Option<usize> {
    const DATE_AND_TIME: &[u8] = b"P0000-00-00T00:00:00";
    let is_right = |(byte, like): (&u8, &u8)| if *like == b'0' { byte.is_ascii_digit() } else { byte == like };
    if text.as_bytes().get(..DATE_AND_TIME.len()).is_some_and(|bytes| bytes.iter().zip(DATE_AND_TIME).all(is_right)) {
        return Some(DATE_AND_TIME.len());
    }
    let rest = text.strip_prefix('P')?;
    let rest = &rest[..rest.find(|next: char| !is_of_word(next)).unwrap_or(rest.len())];
    let begins = rest.strip_prefix('T').unwrap_or(rest).starts_with(|next: char| next.is_ascii_digit());
    let has_unit = rest.ends_with(|last: char| last.is_ascii_alphabetic());
    let is_part = |letter: char| letter.is_ascii_digit() || "YMWDTHS".contains(letter);
    (begins && has_unit && rest.chars().all(is_part)).then_some(1 + rest.len())
}

fn uuid(text: &str) -> Option<usize> {
    const LENGTH: usize = 36;
    let is_right = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let bytes = text.as_bytes().get(..LENGTH)?;
    bytes.iter().enumerate().all(is_right).then_some(LENGTH)
}
