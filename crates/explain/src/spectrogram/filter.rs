//! Selects events by name: patterns that become an SQL condition.

use super::events::Of;
use crate::Error;

/// Patterns for the name of the call, the thread group and the file. An event is selected if, for each of the three
/// names, it matches at least one pattern (or there is no pattern) and no pattern that begins with `!`.
///
/// A pattern matches any part of a name. With `*` or `?` in it, it is a glob for the whole name; after `=`, it is the
/// exact name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpectrogramFilter {
    pub call: Vec<String>,
    pub group: Vec<String>,
    pub file: Vec<String>,
}

impl SpectrogramFilter {
    /// The SQL condition on rows of the table.
    pub(crate) fn condition(&self, of: Of) -> Result<String, Error> {
        let (call, others) = match of {
            Of::Syscalls | Of::Summary => ("call", Some(("thread_group", "file"))),
            Of::Requests => ("operation", None),
        };
        let mut conditions = condition(call, &self.call);
        match others {
            Some((group, file)) => {
                conditions.extend(condition(group, &self.group));
                conditions.extend(condition(file, &self.file));
            }
            None if !self.group.is_empty() || !self.file.is_empty() => {
                return Err(Error::Spectrogram(
                    "requests have neither a thread group nor a file; choose them by their operation with --call"
                        .to_string(),
                ));
            }
            None => {}
        }
        Ok(if conditions.is_empty() { "true".to_string() } else { conditions.join(" AND ") })
    }
}

fn condition(column: &str, patterns: &[String]) -> Vec<String> {
    let (unwanted, wanted): (Vec<&str>, Vec<&str>) =
        patterns.iter().map(String::as_str).partition(|pattern| pattern.starts_with('!'));
    let mut conditions = Vec::new();
    if !wanted.is_empty() {
        let any: Vec<String> = wanted.iter().map(|pattern| matches(column, pattern)).collect();
        conditions.push(format!("({})", any.join(" OR ")));
    }
    conditions.extend(unwanted.iter().map(|pattern| format!("NOT ({})", matches(column, &pattern[1..]))));
    conditions
}

fn matches(column: &str, pattern: &str) -> String {
    if let Some(name) = pattern.strip_prefix('=') {
        return format!("{column} = '{}'", name.replace('\'', "''"));
    }
    let whole = pattern.contains(['*', '?']);
    let mut like = String::with_capacity(pattern.len() + 2);
    for character in pattern.chars() {
        match character {
            '*' => like.push('%'),
            '?' => like.push('_'),
            '%' | '_' | '\\' => like.extend(['\\', character]),
            '\'' => like.push_str("''"),
            _ => like.push(character),
        }
    }
    match whole {
        true => format!("{column} LIKE '{like}'"),
        false => format!("{column} LIKE '%{like}%'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_recording::{Manifest, Recorder, Recording};
    use proptest::prelude::*;

    /// Matches a name against the pattern in Rust, to check the SQL condition.
    fn expected(pattern: &str, text: &str) -> bool {
        if let Some(name) = pattern.strip_prefix('=') {
            return name == text;
        }
        if !pattern.contains(['*', '?']) {
            return text.contains(pattern);
        }
        fn glob(pattern: &[char], text: &[char]) -> bool {
            match (pattern.first(), text.first()) {
                (None, None) => true,
                (Some('*'), _) => glob(&pattern[1..], text) || (!text.is_empty() && glob(pattern, &text[1..])),
                (Some('?'), Some(_)) => glob(&pattern[1..], &text[1..]),
                (Some(one), Some(other)) if one == other => glob(&pattern[1..], &text[1..]),
                _ => false,
            }
        }
        glob(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>())
    }

    #[test]
    fn patterns_mean_in_sql_what_they_say() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("r");
        Recorder::create(&path, Manifest::new("t", "c")).unwrap().close().unwrap();
        let engine = crate::Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
        let name = "[a-c%_'\\\\/é*?=!.\\-]{0,6}";
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
        runner
            .run(&("[=a-c%_'\\\\/é*?.\\-]{1,6}", name), |(pattern, text)| {
                let condition = condition("file", &[pattern.clone(), format!("!={text}x")]).join(" AND ");
                let sql = format!(
                    "SELECT count(*) AS n FROM (SELECT '{}' AS file) WHERE {condition}",
                    text.replace('\'', "''")
                );
                let found = engine.sql(&sql).unwrap().integers("n").unwrap()[0] == 1;
                prop_assert_eq!(found, expected(&pattern, &text), "{} on {}: {}", pattern, text, sql);
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn without_patterns_everything_is_asked_for() {
        let all = SpectrogramFilter::default();
        assert_eq!(all.condition(Of::Syscalls).unwrap(), "true");
        let some = SpectrogramFilter {
            call: vec!["pread64".to_string(), "=read".to_string(), "!futex".to_string()],
            file: vec!["*-Data.db".to_string()],
            ..SpectrogramFilter::default()
        };
        assert_eq!(
            some.condition(Of::Syscalls).unwrap(),
            "(call LIKE '%pread64%' OR call = 'read') AND NOT (call LIKE '%futex%') AND (file LIKE '%-Data.db')"
        );
        assert!(some.condition(Of::Requests).unwrap_err().to_string().contains("--call"));
    }
}
