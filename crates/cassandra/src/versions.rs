use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// A release line of Cassandra that can be started here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Line {
    V4_0,
    V4_1,
    V5_0,
}

impl Line {
    pub const ALL: [Line; 3] = [Line::V4_0, Line::V4_1, Line::V5_0];

    /// The patch release that the bare line's name means. Pinned, so that two people who say
    /// "5.0" measure the same server; raised by hand when a new patch has been tried.
    #[must_use]
    pub fn pinned(self) -> Version {
        let patch = match self {
            Line::V4_0 => 19,
            Line::V4_1 => 10,
            Line::V5_0 => 9,
        };
        Version { line: self, patch }
    }

    /// The Java feature releases that this line is built and tested for, the best first (`java.supported` in the
    /// release's build.xml).
    #[must_use]
    pub fn java(self) -> &'static [u32] {
        match self {
            Line::V4_0 | Line::V4_1 => &[11, 8],
            Line::V5_0 => &[17, 11],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Line::V4_0 => "4.0",
            Line::V4_1 => "4.1",
            Line::V5_0 => "5.0",
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A release, such as 5.0.9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Version {
    line: Line,
    patch: u16,
}

impl Version {
    #[must_use]
    pub fn line(self) -> Line {
        self.line
    }
}

impl Default for Version {
    /// The newest line's pinned release.
    fn default() -> Self {
        Line::V5_0.pinned()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.line, self.patch)
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

impl TryFrom<String> for Version {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

/// Reads "5.0" (the line's pinned release) or "5.0.3" (exactly that).
impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownVersion { asked: text.to_owned(), supported: supported() };
        let line = Line::ALL
            .into_iter()
            .find(|line| text.strip_prefix(line.name()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')));
        let line = line.ok_or_else(unknown)?;
        match &text[line.name().len()..] {
            "" => Ok(line.pinned()),
            // Only plain digits: "5.0.+3" is no release, though it parses as a number.
            patch if patch[1..].bytes().all(|b| b.is_ascii_digit()) => {
                let patch = patch[1..].parse().map_err(|_| unknown())?;
                Ok(Version { line, patch })
            }
            _ => Err(unknown()),
        }
    }
}

/// "5.0 (5.0.9), 4.1 (4.1.10), …" for messages and help.
fn supported() -> String {
    let lines = Line::ALL.iter().rev();
    lines.map(|line| format!("{line} ({})", line.pinned())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_means_its_pinned_release() {
        assert_eq!("5.0".parse::<Version>().unwrap().to_string(), "5.0.9");
        assert_eq!("4.1".parse::<Version>().unwrap().to_string(), "4.1.10");
        assert_eq!("4.0".parse::<Version>().unwrap().to_string(), "4.0.19");
    }

    #[test]
    fn an_exact_release_is_taken_as_it_is() {
        assert_eq!("5.0.3".parse::<Version>().unwrap().to_string(), "5.0.3");
    }

    #[test]
    fn anything_else_is_refused_with_what_there_is() {
        for text in ["", "5", "3.11", "5.1", "5.00", "5.0.", "5.0.x", "5.0.+3", "5.0.1.2", "5.0-rc1", "latest"] {
            let error = text.parse::<Version>().unwrap_err().to_string();
            assert!(error.contains("5.0 (5.0.9), 4.1 (4.1.10), 4.0 (4.0.19)"), "{text}: {error}");
        }
    }
}
