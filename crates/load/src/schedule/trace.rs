//! Requests at the times that a file lists.

use crate::Error;
use helenus_notation::given;
use std::path::Path;

/// The largest trace file, in bytes: some 200 million times.
const MOST_BYTES: u64 = 4 << 30;

/// Start times of a trace's requests: ascending, the first at 0. They take 8 bytes of memory each.
#[derive(Clone, PartialEq)]
pub struct Trace {
    file: String,
    offsets_ns: Vec<i64>,
}

impl Trace {
    /// Reads a file: a time per line, as seconds (`1.25`) or with a unit (`1250ms`, `1250000000ns`), ascending. They
    /// may count from any time, such as 1970; the first one becomes the start of the phase. Empty lines and text after
    /// `#` are ignored.
    pub fn read(path: &Path) -> Result<Trace, Error> {
        let text = given::read_text(path, MOST_BYTES)
            .map_err(|source| Error::ReadTrace { path: path.to_path_buf(), source })?;
        Trace::parse(&path.display().to_string(), &text)
    }

    /// Parses the text of a trace; `file` is its name in errors.
    pub fn parse(file: &str, text: &str) -> Result<Trace, Error> {
        let wrong =
            |line: usize, message: String| Error::File(helenus_notation::Error::at_line(file, line + 1, message));
        let mut times_ns: Vec<i64> = Vec::new();
        for (line, written) in text.lines().enumerate() {
            let written = written.split('#').next().unwrap_or_default().trim();
            if written.is_empty() {
                continue;
            }
            let time_ns = time_ns(written).ok_or_else(|| {
                wrong(line, format!("`{written}` is not a time; write seconds like 1.25, or a unit like 1250ms"))
            })?;
            if times_ns.last().is_some_and(|before| time_ns < *before) {
                let message = format!("{written} is before the time on the line above; sort the file (`sort -n`)");
                return Err(wrong(line, message));
            }
            times_ns.push(time_ns);
        }
        let Some(first_ns) = times_ns.first().copied() else {
            return Err(wrong(0, "a trace has at least one time".to_string()));
        };
        times_ns.iter_mut().for_each(|time_ns| *time_ns -= first_ns);
        Ok(Trace { file: file.to_string(), offsets_ns: times_ns })
    }

    pub fn offsets_ns(&self) -> &[i64] {
        &self.offsets_ns
    }

    /// The name of the file without its folder.
    pub fn name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or(&self.file)
    }

    pub(super) fn starts_before(&self, end_ns: i64) -> u64 {
        self.offsets_ns.partition_point(|offset_ns| *offset_ns < end_ns) as u64
    }

    /// The length of the first `count` requests: up to the last start, plus the mean gap, at least 1 ms.
    pub(super) fn lasts_ns(&self, count: u64) -> i64 {
        let last_ns = count.checked_sub(1).map_or(0, |last| self.offsets_ns[last as usize]);
        last_ns + (last_ns / (count as i64 - 1).max(1)).max(1_000_000)
    }
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} of {} times", self.file, self.offsets_ns.len())
    }
}

/// Parsed exactly to the ns, which a 64-bit float can't represent for seconds since 1970.
fn time_ns(text: &str) -> Option<i64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let digits_of_unit = match text[end..].trim() {
        "" | "s" => 9,
        "ms" => 6,
        "us" | "µs" => 3,
        "ns" => 0,
        _ => return None,
    };
    let (whole, fraction) = text[..end].split_once('.').unwrap_or((&text[..end], ""));
    if whole.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let fraction: String = fraction.chars().chain(std::iter::repeat('0')).take(digits_of_unit).collect();
    let fraction: i64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    whole.checked_mul(10i64.pow(digits_of_unit as u32))?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_count_from_the_first() {
        let text = "# since 1970\n1700000000.000000001\n1700000000.5\n\n1700000001s # a unit\n1700000001500ms\n";
        let trace = Trace::parse("trace.txt", text).unwrap();
        assert_eq!(trace.offsets_ns(), [0, 499_999_999, 999_999_999, 1_499_999_999]);
        assert_eq!(trace.lasts_ns(4), 1_499_999_999 + 499_999_999);
        assert_eq!(Trace::parse("a/b.txt", "5").unwrap().lasts_ns(1), 1_000_000);
    }

    #[test]
    fn mistakes_have_their_line() {
        let errors = ["", "0\nsoon\n", "1\n# x\n0.5\n", "1.2.3", "99999999999", "-1", "1h"]
            .map(|text| Trace::parse("trace.txt", text).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"));
    }

    proptest! {
        #[test]
        fn nanoseconds_read_back(mut times_ns in prop::collection::vec(0i64..4_000_000_000_000_000_000, 1..20)) {
            times_ns.sort_unstable();
            let seconds = |ns: &i64| format!("{}.{:09}\n", ns / 1_000_000_000, ns % 1_000_000_000);
            let trace = Trace::parse("t", &times_ns.iter().map(seconds).collect::<String>()).unwrap();
            let plain = Trace::parse("t", &times_ns.iter().map(|ns| format!("{ns}ns\n")).collect::<String>()).unwrap();
            prop_assert_eq!(trace.offsets_ns(), plain.offsets_ns());
            prop_assert_eq!(trace.offsets_ns().last().unwrap() + times_ns[0], *times_ns.last().unwrap());
        }

        #[test]
        fn nothing_makes_it_panic(text in "\\PC{0,20}") {
            let _ = Trace::parse("t", &text);
        }
    }
}
