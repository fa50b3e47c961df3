//! Folded stacks. Each line is a stack: its frames from the outermost with `;` between them, a space, and its weight.
//!
//! Source: Brendan Gregg, FlameGraph, the stackcollapse programs.

use super::lines::{Line, Lines};
use super::recognized::is_comment;
use super::{Error, ImportOptions, Sink, TimeAlignment, kind_of, named};
use crate::stacks::Frames;
use std::io::BufRead;

/// A parsed line.
struct Folded<'a> {
    tid: i64,
    thread: &'a str,
    frames: Frames,
    weight: Weight,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Weight {
    Whole(i64),
    /// The weight may be a fraction: seconds, percent, or an average.
    Part(f64),
}

/// Whether a line is a stack. A weight alone may be anything, although it is the stack of a
/// thread without a name or frames.
pub(super) fn is_line(line: &str) -> bool {
    parse(line).is_some_and(|folded| !folded.thread.is_empty() || !folded.frames.kinds.is_empty())
}

pub(super) fn read(from: impl BufRead, options: &ImportOptions, sink: &mut Sink<'_>) -> Result<(), Error> {
    let at_ns = match options.place {
        TimeAlignment::BeginsAt(ns) | TimeAlignment::EndsAt(ns) => ns,
        TimeAlignment::ThisBoot => {
            return Err(Error::Other("folded stacks have no times; leave --this-boot away".to_string()));
        }
    };
    let event = options.event.as_deref().unwrap_or("cpu");
    let interval_ns = options.interval.map_or(1, |interval| i64::try_from(interval.as_nanos()).unwrap_or(i64::MAX));
    let mut lines = Lines::new(from);
    let (mut taken, mut compared) = (0u64, 0u64);
    // The part of the weights that rounding has left over. It is added to the next weight, so that the sum stays the
    // same.
    let (mut left, mut has_parts) = (0.0, false);
    while let Some(line) = lines.next()? {
        let line = match line {
            Line::Whole(line) => line,
            Line::Last(line) => {
                sink.note("the last line has no end: if the file was cut off, its weight may be, too");
                line
            }
            Line::GivenUp(reason) => {
                sink.give_up(lines.number, reason);
                break;
            }
            Line::TooLong => {
                sink.lose_line("lines too long for a stack", lines.number);
                continue;
            }
        };
        // Some files begin with comment lines, which may end with a number.
        if line.trim().is_empty() || is_comment(&line) {
            continue;
        }
        let Some(folded) = parse(&line) else {
            if taken == 0 {
                sink.note("lines before the first stack are not read");
                continue;
            }
            sink.lose_line("lines without a weight", lines.number);
            continue;
        };
        taken += 1;
        lines.has_sample = true;
        compared += u64::from(is_compared(&line));
        let weight = match folded.weight {
            Weight::Whole(weight) => weight.checked_mul(interval_ns),
            Weight::Part(part) => {
                has_parts = true;
                let exact = part * interval_ns as f64 + left;
                let weight = (exact < i64::MAX as f64).then_some(exact.round() as i64);
                left = weight.map_or(left, |weight| exact - weight as f64);
                weight
            }
        };
        let Some(weight) = weight else {
            sink.lose(1, "weights that can't be added up in 64 bits");
            continue;
        };
        let stack = folded.frames.number();
        sink.add(at_ns, event, weight, (folded.tid, folded.thread), stack, || Ok::<_, Error>(&folded.frames))?;
    }
    if taken > 0 && taken == compared {
        return Err(Error::Other(
            "each stack has two weights: it is a comparison, not a profile; import the profiles that it was made of"
                .into(),
        ));
    }
    if has_parts && options.interval.is_none() {
        sink.note(
            "weights with a fraction are rounded, so that their sum stays; say with --interval what a 1 stands for",
        );
    }
    if event != "alloc" && options.interval.is_none() {
        sink.note("weights are taken for nanoseconds; where they are counts of samples, say with --interval what a sample stands for");
    }
    sink.note("folded stacks have no times: all are at one moment");
    Ok(())
}

fn parse(line: &str) -> Option<Folded<'_>> {
    let (stack, weight) = line.trim_end().rsplit_once([' ', '\t'])?;
    let weight = weight_of(weight)?;
    let (root, rest) = stack.split_once(';').map_or((stack, None), |(root, rest)| (root, Some(rest)));
    let mut frames = Frames::default();
    for name in rest.into_iter().flat_map(|rest| rest.split(';')) {
        frames.push(name, kind_of(name));
    }
    // Threads without a name, such as virtual ones, have an empty first frame.
    let root = if root.trim().is_empty() { "" } else { root };
    let (thread, tid) = named(root).unwrap_or((root, 0));
    Some(Folded { tid, thread, frames, weight })
}

/// Parses digits with an optional fraction or exponent.
fn weight_of(word: &str) -> Option<Weight> {
    if let Ok(whole) = word.parse::<u64>() {
        return i64::try_from(whole).ok().map(Weight::Whole);
    }
    let is_number = word.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && word.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    word.parse::<f64>().ok().filter(|part| is_number && part.is_finite()).map(Weight::Part)
}

/// Whether there is another number before the last one.
fn is_compared(line: &str) -> bool {
    let mut words = line.rsplit([' ', '\t']).skip(1);
    words.next().is_some_and(|word| weight_of(word).is_some())
}
