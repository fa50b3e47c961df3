//! Why a node ended while starting: the lines of its log that say so.

/// At most so many lines make a reason.
const MOST: usize = 12;

/// The lines that matter of what the node wrote: `output` is the JVM's stdout and stderr, `log`
/// Cassandra's system.log. The end of what there is when no line stands out.
pub(crate) fn reason(log: &str, output: &str) -> String {
    // Cassandra's own summary of a failed start names the cause in one line; and a JVM that did
    // not come up wrote nothing else.
    let mut lines = telling(output);
    if lines.is_empty() {
        lines = errors(log);
    }
    if lines.is_empty() {
        let last = last_lines(&format!("{output}\n{log}"), 6);
        return if last.is_empty() { "it wrote nothing".to_owned() } else { last };
    }
    lines.truncate(MOST);
    lines.join("\n")
}

/// The last `count` lines that are not empty.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Stack frames say where, not why.
fn is_frame(line: &str) -> bool {
    let bare = line.trim_start();
    bare.starts_with("at ") || (bare.starts_with("... ") && (bare.ends_with(" more") || bare.ends_with("omitted")))
}

fn telling(output: &str) -> Vec<String> {
    const WORDS: [&str; 11] = [
        "Exception",
        "Error",
        "error",
        "Unrecognized",
        "Could not",
        "Invalid",
        "invalid",
        "insufficient",
        "Conflicting",
        "Terminating",
        "Fatal",
    ];
    let wanted = |line: &&str| {
        !is_frame(line)
            && !line.contains("Server VM warning:")
            && !line.starts_with("WARN")
            && WORDS.iter().any(|word| line.contains(word))
    };
    unique(output.lines().filter(wanted).map(str::trim))
}

/// ERROR entries of system.log with what hangs under them but stack frames.
fn errors(log: &str) -> Vec<String> {
    const LEVELS: [&str; 5] = ["ERROR", "WARN ", "INFO ", "DEBUG", "TRACE"];
    let mut within = false;
    let lines = log.lines().filter(|line| {
        if LEVELS.iter().any(|level| line.starts_with(level) && line[5..].trim_start().starts_with('[')) {
            within = line.starts_with("ERROR");
        }
        within && !is_frame(line) && !line.trim().is_empty()
    });
    unique(lines.map(message))
}

/// "ERROR [main] 2026-11-21 13:27:00,123 CassandraDaemon.java:900 - Text" → "Text".
fn message(line: &str) -> &str {
    match line.split_once(" - ") {
        Some((head, text)) if head.starts_with("ERROR") => text.trim(),
        _ => line.trim(),
    }
}

/// In order, each once; Cassandra says the cause in a sentence, and then again alone.
fn unique<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for line in lines {
        if !kept.iter().any(|other| other.contains(line)) {
            kept.push(line.to_owned());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_startup_exception_is_the_reason() {
        let output = "WARNING: something harmless\nException (org.apache.cassandra.exceptions.ConfigurationException) encountered during startup: Invalid yaml. Please remove properties [nonsense] from your cassandra.yaml\nInvalid yaml. Please remove properties [nonsense] from your cassandra.yaml\norg.apache.cassandra.exceptions.ConfigurationException: Invalid yaml\n\tat org.apache.cassandra.config.YamlConfigurationLoader.check(YamlConfigurationLoader.java:1)\n";
        let reason = reason("INFO  [main] 2026-11-21 13:00:00,000 X.java:1 - fine\n", output);
        assert!(reason.contains("Please remove properties [nonsense]"), "{reason}");
        assert!(!reason.contains("\tat ") && !reason.contains("harmless"), "{reason}");
    }

    #[test]
    fn the_jvms_own_refusal_is_the_reason() {
        let output = "Unrecognized VM option 'Nonsense'\nError: Could not create the Java Virtual Machine.\nError: A fatal exception has occurred. Program will exit.\n";
        assert!(reason("", output).starts_with("Unrecognized VM option 'Nonsense'"));
    }

    #[test]
    fn errors_of_the_log_come_without_their_frames() {
        let log = "INFO  [main] 2026-11-21 13:00:00,000 X.java:1 - fine\nERROR [main] 2026-11-21 13:00:01,000 CassandraDaemon.java:900 - Port in use\njava.net.BindException: Address already in use\n\tat sun.nio.ch.Net.bind0(Native Method)\n\t... 3 common frames omitted\nINFO  [main] 2026-11-21 13:00:02,000 X.java:2 - after\n";
        assert_eq!(reason(log, ""), "Port in use\njava.net.BindException: Address already in use");
    }

    #[test]
    fn without_errors_the_end_is_given() {
        assert_eq!(
            reason("INFO  [main] a - one\n\nINFO  [main] b - two\n", ""),
            "INFO  [main] a - one\nINFO  [main] b - two"
        );
        assert_eq!(reason("", " \n"), "it wrote nothing");
    }

    proptest! {
        #[test]
        fn a_reason_is_short_and_never_empty(log in "(.|\n){0,300}", output in "(.|\n){0,300}") {
            let reason = reason(&log, &output);
            prop_assert!(!reason.is_empty() && reason.lines().count() <= MOST);
        }
    }
}
