//! Conditions on live figures in the form `p99(read) > 200ms for 10s`.

use crate::cql;
use helenus_notation::{did_you_mean, quantity};
use std::str::FromStr;
use std::time::Duration;

/// The figure of a condition, computed for each second.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Figure {
    /// Quantile of response times, in ms; 1 is the maximum.
    Latency(f64, RequestKind),
    /// Failed requests per second.
    Errors,
    /// Timed-out requests per second.
    Timeouts,
    /// Share of the time in which collections stopped the JVM.
    Gc,
    /// Number of waiting tasks of a thread pool.
    Pending(String),
    /// Events of the node's log that contain this text, in lower case.
    Log(String),
    /// Number of node processes that ended.
    Exit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    All,
    Read,
    Write,
}

impl RequestKind {
    /// Whether a statement is of this kind. A statement whose text is not known is neither a read nor a write.
    pub(super) fn has(self, statement: &str) -> bool {
        match self {
            RequestKind::All => true,
            RequestKind::Read => cql::is_select(statement),
            RequestKind::Write => {
                matches!(cql::kind(statement), Some("write" | "batch" | "lightweight transaction"))
            }
        }
    }
}

/// A bound on a figure, and for how long the figure has to exceed it.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    pub(super) figure: Figure,
    pub(super) above: f64,
    pub(super) lasts: Duration,
}

/// A syntax error in a condition: its position, and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}, {found}: {allowed}")]
pub struct BadCondition {
    /// Position of the error in the text, from 1.
    at: usize,
    found: String,
    allowed: String,
}

const FIGURES: [&str; 10] = ["p50", "p95", "p99", "p99.9", "max", "errors", "timeouts", "gc", "pending", "log"];
const LONGEST: Duration = Duration::from_secs(3600);
const ALLOWED: &str = "expected a figure: p50 to p99.9 or max, of (read), (write) or all requests; errors, timeouts, gc, \
                       pending(POOL), log(TEXT) or exit";

impl Condition {
    /// The condition as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the condition is about the end of a node's process, which no table records.
    pub fn is_exit(&self) -> bool {
        self.figure == Figure::Exit
    }

    /// The table that holds the condition's figure.
    pub fn table(&self) -> Option<&'static str> {
        match self.figure {
            Figure::Latency(..) | Figure::Errors | Figure::Timeouts => Some("wire"),
            Figure::Gc => Some("pauses"),
            Figure::Pending(_) => Some("pools"),
            Figure::Log(_) => Some("events"),
            Figure::Exit => None,
        }
    }
}

impl FromStr for Condition {
    type Err = BadCondition;

    fn from_str(text: &str) -> Result<Condition, BadCondition> {
        let mut rest = Rest { text, at: 0 };
        let (name_at, name) = rest.word();
        let argument = rest.argument()?;
        let mut figure = figure(&rest, (name_at, name), argument)?;
        let mut above = 0.0;
        let has_bound = !matches!(figure, Figure::Log(_) | Figure::Exit);
        let mut lasts = Duration::ZERO;
        if has_bound {
            if !rest.take(">") {
                return Err(rest.bad(rest.at, "expected `>` and a value"));
            }
            let (at, value) = rest.piece();
            above = bound(&figure, value).map_err(|allowed| rest.bad(at, allowed))?;
            lasts = rest.lasts()?;
        }
        let (at, more) = rest.piece();
        if !more.is_empty() {
            return Err(rest.bad(at, "expected the end"));
        }
        if let Figure::Log(wanted) = &mut figure {
            *wanted = wanted.to_lowercase();
        }
        Ok(Condition { text: text.trim().to_string(), figure, above, lasts })
    }
}

fn figure(
    rest: &Rest<'_>,
    (name_at, name): (usize, &str),
    argument: Option<(usize, &str)>,
) -> Result<Figure, BadCondition> {
    let needed = |allowed: &str| match argument {
        Some((_, text)) if !text.is_empty() => Ok(text.to_string()),
        _ => Err(rest.bad(name_at + name.len(), allowed)),
    };
    let figure = match name {
        "pending" => return needed("expected a thread pool, such as pending(MutationStage)").map(Figure::Pending),
        "log" => return needed("expected a text, such as log(tombstones)").map(Figure::Log),
        "errors" => Figure::Errors,
        "timeouts" => Figure::Timeouts,
        "gc" => Figure::Gc,
        "exit" => Figure::Exit,
        _ => {
            let unknown = || rest.bad(name_at, format!("{ALLOWED}{}", did_you_mean(name, FIGURES)));
            return Ok(Figure::Latency(quantile(name).ok_or_else(unknown)?, request_kind(rest, argument)?));
        }
    };
    match argument {
        Some((at, _)) => Err(rest.bad(at, format!("{name} takes nothing in parentheses"))),
        None => Ok(figure),
    }
}

/// Parses a quantile: `p99.9` and the like, or `max`.
fn quantile(name: &str) -> Option<f64> {
    if name == "max" {
        return Some(1.0);
    }
    let digits = name.strip_prefix('p').filter(|digits| digits.starts_with(|first: char| first.is_ascii_digit()))?;
    let percent: f64 = digits.parse().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}

fn request_kind(rest: &Rest<'_>, argument: Option<(usize, &str)>) -> Result<RequestKind, BadCondition> {
    match argument {
        None | Some((_, "all")) => Ok(RequestKind::All),
        Some((_, "read")) => Ok(RequestKind::Read),
        Some((_, "write")) => Ok(RequestKind::Write),
        Some((at, other)) => {
            let meant = did_you_mean(other, ["read", "write", "all"]);
            Err(rest.bad(at, format!("expected read, write or all{meant}")))
        }
    }
}

/// The bound of a figure, in its unit.
fn bound(figure: &Figure, value: &str) -> Result<f64, &'static str> {
    match figure {
        Figure::Latency(..) => {
            let bound = quantity::duration(value).map_err(|_| "expected a duration such as 200ms")?;
            Ok(bound.as_secs_f64() * 1e3)
        }
        Figure::Gc => share(value).ok_or("expected a share of the time below 100%, such as 20%"),
        Figure::Pending(_) => whole(value).ok_or("expected a number of tasks, such as 100"),
        _ if matches!(value, "0" | "0/s") => Ok(0.0),
        _ => quantity::rate(value).map_err(|_| "expected a rate such as 5/s, or 0"),
    }
}

fn whole(value: &str) -> Option<f64> {
    if value == "0" { Some(0.0) } else { quantity::count(value).ok().map(|count| count as f64) }
}

fn share(value: &str) -> Option<f64> {
    let percent = value.strip_suffix('%')?.trim_end();
    let is_plain = percent.chars().all(|character| character.is_ascii_digit() || character == '.');
    let share = percent.parse::<f64>().ok().filter(|_| is_plain)? / 100.0;
    (0.0..1.0).contains(&share).then_some(share)
}

/// The text being parsed, and the position in bytes.
struct Rest<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Rest<'a> {
    fn skip_spaces(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    /// Takes letters, digits and dots.
    fn word(&mut self) -> (usize, &'a str) {
        let rest = self.skip_spaces();
        let is_of_word = |character: char| character.is_ascii_alphanumeric() || character == '.';
        let end = rest.find(|character| !is_of_word(character)).unwrap_or(rest.len());
        self.at += end;
        (self.at - end, &rest[..end])
    }

    fn take(&mut self, what: &str) -> bool {
        let is_there = self.skip_spaces().starts_with(what);
        self.at += if is_there { what.len() } else { 0 };
        is_there
    }

    /// Takes the text between parentheses, which may contain parentheses.
    fn argument(&mut self) -> Result<Option<(usize, &'a str)>, BadCondition> {
        let opens = self.at;
        if !self.take("(") {
            return Ok(None);
        }
        let from = self.at;
        let mut depth = 1;
        for (place, character) in self.text[from..].char_indices() {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at = from + place + 1;
                let inner = &self.text[from..from + place];
                let trimmed = inner.trim_start();
                return Ok(Some((from + inner.len() - trimmed.len(), trimmed.trim_end())));
            }
        }
        Err(self.bad(opens, "this parenthesis is not closed"))
    }

    /// Takes everything up to the next space.
    fn piece(&mut self) -> (usize, &'a str) {
        let rest = self.skip_spaces();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.at += end;
        (self.at - end, &rest[..end])
    }

    /// Parses `for 10s`, if present.
    fn lasts(&mut self) -> Result<Duration, BadCondition> {
        match self.piece() {
            (_, "") => Ok(Duration::ZERO),
            (_, "for") => {
                let (at, value) = self.piece();
                match quantity::duration(value) {
                    Ok(lasts) if lasts <= LONGEST => Ok(lasts),
                    Ok(_) => Err(self.bad(at, "expected 1h at most")),
                    Err(_) => Err(self.bad(at, "expected a duration such as 10s")),
                }
            }
            (at, _) => Err(self.bad(at, "expected `for DURATION` or the end")),
        }
    }

    /// An error at a position.
    fn bad(&self, at: usize, allowed: impl Into<String>) -> BadCondition {
        let (before, after) = self.text.split_at(at);
        let is_closing = after.trim_start().starts_with(')');
        let mut words = after.split(|c: char| c.is_whitespace() || c == ')').filter(|word| !word.is_empty());
        let found = match words.next() {
            _ if is_closing => "`)`".to_string(),
            Some(word) => format!("`{}`", word.chars().take(40).collect::<String>()),
            None => "the end".to_string(),
        };
        BadCondition { at: before.chars().count() + 1, found, allowed: allowed.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (Figure, f64, u64) {
        let condition: Condition = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(condition.text(), text.trim());
        (condition.figure, condition.above, condition.lasts.as_secs())
    }

    #[test]
    fn conditions_are_read() {
        assert_eq!(read("p99(read) > 200ms for 10s"), (Figure::Latency(0.99, RequestKind::Read), 200.0, 10));
        assert_eq!(
            read(" p99.9 ( write )>1.5s for 1m "),
            (Figure::Latency(99.9 / 100.0, RequestKind::Write), 1500.0, 60)
        );
        assert_eq!(read("max > 1s"), (Figure::Latency(1.0, RequestKind::All), 1000.0, 0));
        assert_eq!(read("errors>5/s"), (Figure::Errors, 5.0, 0));
        assert_eq!(read("errors > 0 for 3s"), (Figure::Errors, 0.0, 3));
        assert_eq!(read("timeouts > 0.5/s"), (Figure::Timeouts, 0.5, 0));
        assert_eq!(read("gc > 20% for 5s"), (Figure::Gc, 0.2, 5));
        assert_eq!(read("pending(MutationStage) > 100"), (Figure::Pending("MutationStage".into()), 100.0, 0));
        assert_eq!(
            read("log(Read (.*) Tombstones > 5 for)"),
            (Figure::Log("read (.*) tombstones > 5 for".into()), 0.0, 0)
        );
        assert_eq!(read("exit"), (Figure::Exit, 0.0, 0));
    }

    #[test]
    fn an_error_says_where_and_what_is_allowed() {
        let refused = |text: &str, at: usize, said: &str| {
            let error = text.parse::<Condition>().unwrap_err();
            assert_eq!(error.at, at, "{text}: {error}");
            assert!(error.to_string().contains(said), "{text}: {error}");
        };
        refused("", 1, "the end: expected a figure");
        refused("p99(reads) > 200ms", 5, "did you mean `read`");
        refused("timeout > 5", 1, "did you mean `timeouts`");
        refused("p101 > 5ms", 1, "p50 to p99.9");
        refused("p99 200ms", 5, "`200ms`: expected `>`");
        refused("p99", 4, "the end: expected `>`");
        refused("p99(read > 1s", 4, "not closed");
        refused("p99(read) > 200", 13, "expected a duration such as 200ms");
        refused("p99 > 1s forever", 10, "expected `for DURATION` or the end");
        refused("p99 > 1s for 3s 4s", 17, "expected the end");
        refused("p99 > 1s for ever", 14, "expected a duration such as 10s");
        refused("p99 > 1s for", 13, "expected a duration such as 10s");
        refused("p99 > 1s for 2h", 14, "1h at most");
        refused("gc > 120%", 6, "such as 20%");
        refused("gc > 0.2", 6, "such as 20%");
        refused("gc(young) > 20%", 4, "takes nothing in parentheses");
        refused("pending > 5", 8, "pending(MutationStage)");
        refused("p99) > 1s", 4, "`)`: expected `>`");
        refused("log", 4, "log(tombstones)");
        refused("log(x) > 3", 8, "expected the end");
        refused("exit for 3s", 6, "expected the end");
        refused("errors > many", 10, "a rate such as 5/s");
        refused("ä > 1", 1, "`ä`");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}") {
            let _ = text.parse::<Condition>();
        }

        /// Fragments of conditions, in any order.
        #[test]
        fn no_pieces_make_it_panic(pieces in prop::collection::vec(
            prop::sample::select(vec!["p99", "(", ")", ">", " for", " ", "1s", "20%", "log", "ä", "max", "read", "0", "for "]), 0..12)) {
            let text = pieces.concat();
            match text.parse::<Condition>() {
                Ok(condition) => prop_assert_eq!(condition.text(), text.trim()),
                Err(error) => prop_assert!(error.at >= 1 && error.at <= text.chars().count() + 1),
            }
        }
    }
}
