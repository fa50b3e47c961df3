//! The JVM's answers.

use std::collections::BTreeMap;

/// An answer: the command's output. Its result code was 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub text: String,
}

/// Splits "CODE\nTEXT"; `None` when there is no code.
pub(super) fn split(answer: &[u8]) -> Option<(i32, String)> {
    let end = answer.iter().position(|b| *b == b'\n').unwrap_or(answer.len());
    let code = std::str::from_utf8(&answer[..end]).ok()?.trim().parse().ok()?;
    let text = String::from_utf8_lossy(answer.get(end + 1..).unwrap_or_default()).into_owned();
    Some((code, text))
}

/// Whether `load` succeeded. Its own result code is 0 even if the agent failed. The text is the code of
/// `Agent_OnAttach` alone (JDK 8), the code after "return code: " (JDK 9 and later), or the reason why the agent was
/// not started.
pub(super) fn agent_result(text: &str) -> Result<(), String> {
    let text = text.trim();
    match text.strip_prefix("return code:").unwrap_or(text).trim().parse::<i32>() {
        Ok(0) => Ok(()),
        // The codes of java.instrument's own library (InvocationAdapter.c).
        Ok(100) => Err("the jar cannot be opened, or its manifest names no Agent-Class".to_owned()),
        Ok(101) => Err("the jar cannot be put on the class path".to_owned()),
        Ok(102) => Err("its agentmain threw an exception, or its class was not found; the target's stderr has the stack trace".to_owned()),
        Ok(code) => Err(format!("its start returned {code}")),
        Err(_) if text.is_empty() => Err("the JVM said nothing about it".to_owned()),
        Err(_) if text.contains("Dynamic agent loading is not enabled") => {
            Err("it was started with -XX:-EnableDynamicAgentLoading; start it without, or give it the agent at start with -javaagent".to_owned())
        }
        Err(_) => Err(text.to_owned()),
    }
}

/// Whether a native agent accepted its options; it chooses its codes itself.
pub(super) fn native_result(text: &str) -> Result<(), String> {
    let text = text.trim();
    match text.strip_prefix("return code:").unwrap_or(text).trim().parse::<i32>() {
        Ok(0) => Ok(()),
        Ok(code) => Err(format!("it returned {code}")),
        Err(_) => agent_result(text),
    }
}

/// Reads what `java.util.Properties.store` writes: one `key=value` a line, `#` comments, escapes.
pub(super) fn read_properties(text: &str) -> BTreeMap<String, String> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(read_property).collect()
}

fn read_property(line: &str) -> Option<(String, String)> {
    let mut escaped = false;
    let separator = line.char_indices().find(|(_, c)| {
        let found = !escaped && matches!(c, '=' | ':');
        escaped = !escaped && *c == '\\';
        found
    });
    let at = separator?.0;
    Some((unescape(&line[..at]), unescape(&line[at + 1..])))
}

/// Decodes `\t`, `\n`, `\f`, `\r`, `\uXXXX` (UTF-16); any other escaped character stands for itself.
fn unescape(text: &str) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            continue;
        }
        let Some(c) = rest.chars().next() else { break };
        rest = &rest[c.len_utf8()..];
        let digits = rest.get(..4).filter(|digits| c == 'u' && digits.bytes().all(|b| b.is_ascii_hexdigit()));
        if let Some(unit) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            units.push(unit);
            rest = &rest[4..];
            continue;
        }
        let c = match c {
            't' => '\t',
            'n' => '\n',
            'f' => '\u{c}',
            'r' => '\r',
            other => other,
        };
        units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn answers_are_split_into_code_and_text() {
        assert_eq!(split(b"0\nhello\nworld\n"), Some((0, "hello\nworld\n".into())));
        assert_eq!(split(b"-1\n"), Some((-1, String::new())));
        assert_eq!(split(b"101"), Some((101, String::new())));
        assert_eq!(split(b""), None);
        assert_eq!(split(b"what\n"), None);
    }

    #[test]
    fn agents_results_of_all_java_versions_are_read() {
        assert_eq!(agent_result("0\n"), Ok(()));
        assert_eq!(agent_result("return code: 0\n"), Ok(()));
        assert!(agent_result("return code: 102\n").unwrap_err().contains("agentmain"));
        assert!(agent_result("100\n").unwrap_err().contains("Agent-Class"));
        assert!(agent_result("return code: 7\n").unwrap_err().contains('7'));
        assert!(
            agent_result(
                "Dynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to launch target VM."
            )
            .unwrap_err()
            .contains("-javaagent")
        );
        assert_eq!(agent_result("instrument was not loaded.\n").unwrap_err(), "instrument was not loaded.");
        assert!(agent_result(" ").is_err());
    }

    #[test]
    fn properties_are_read_as_java_writes_them() {
        let text = "#Sat Nov 21 13:27:00 UTC 2026\njava.version=17.0.15\npath.separator=\\:\nfile\\:x\\=y=a\\=b\\\\c\nline.separator=\\n\nname=J\\u00FCrgen \\uD83D\\uDE00\nempty=\n";
        let read = read_properties(text);
        let of = |key: &str| read.get(key).map(String::as_str);
        assert_eq!(of("java.version"), Some("17.0.15"));
        assert_eq!(of("path.separator"), Some(":"));
        assert_eq!(of("file:x=y"), Some("a=b\\c"));
        assert_eq!(of("line.separator"), Some("\n"));
        assert_eq!(of("name"), Some("Jürgen 😀"));
        assert_eq!(of("empty"), Some(""));
        assert_eq!(read.len(), 6);
    }

    /// Escapes a text as `Properties.saveConvert` does.
    fn store(text: &str) -> String {
        let escape = |c: char| match c {
            '\t' => "\\t".into(),
            '\n' => "\\n".into(),
            '\r' => "\\r".into(),
            '\u{c}' => "\\f".into(),
            '\\' | '=' | ':' | '#' | '!' => format!("\\{c}"),
            ' '..='~' => c.to_string(),
            _ => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect(),
        };
        text.chars().map(escape).collect::<String>()
    }

    proptest! {
        #[test]
        fn what_java_stores_comes_back(key in "[^ ].{0,20}", value: String) {
            let read = read_properties(&format!("#date\n{}={}\n", store(&key), store(&value)));
            prop_assert_eq!(read, BTreeMap::from([(key, value)]));
        }

        #[test]
        fn no_answer_makes_the_readers_panic(bytes: Vec<u8>, text in "(.|\n){0,200}") {
            let _ = split(&bytes);
            let _ = agent_result(&text);
            let _ = read_properties(&text);
        }
    }
}
