//! Finds in a node's log why it ended while starting.

/// The most lines of a reason.
const MOST: usize = 12;

/// The lines that matter of what the node wrote: `output` is the JVM's stdout and stderr, `log`
/// Cassandra's system.log. Without such a line, the end of the text.
pub(crate) fn reason(log: &str, output: &str) -> String {
    // If Cassandra's own summary of a failed start exists, it names the cause in one line. If the JVM did not start,
    // there is only its own output.
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

/// The part that refuses to start, and its message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StartRefusal {
    /// The JVM, for its options.
    Options(String),
    /// Cassandra, for its settings.
    Settings(String),
}

/// Reads the output of a Cassandra tool that was started with a configuration. A tool exits with 3 if it can't read the
/// configuration (`org.apache.cassandra.tools.Util`, 4.0 to 5.0); a JVM that does not start prints why.
pub(crate) fn of_rehearsal(code: Option<i32>, output: &str) -> Option<StartRefusal> {
    const NO_JVM: [&str; 2] =
        ["Could not create the Java Virtual Machine", "Error occurred during initialization of VM"];
    const REFUSED: &str = "encountered during startup: ";
    if NO_JVM.iter().any(|sign| output.contains(sign)) {
        let lines = telling(output).into_iter().filter(|line| !NO_JVM.iter().any(|sign| line.contains(sign)));
        let lines = lines.filter(|line| !line.contains("A fatal exception has occurred")).take(3);
        return Some(StartRefusal::Options(lines.collect::<Vec<_>>().join("; ")));
    }
    let why = output.lines().find_map(|line| Some(line.split_once(REFUSED)?.1.trim().to_string()));
    (code == Some(3)).then(|| StartRefusal::Settings(why.unwrap_or_else(|| reason("", output))))
}

/// The last `count` lines that are not empty.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Stack frames show where it failed, not why, so they are left out.
fn is_frame(line: &str) -> bool {
    let bare = line.trim_start();
    bare.starts_with("at ") || (bare.starts_with("... ") && (bare.ends_with(" more") || bare.ends_with("omitted")))
}

/// The part of the output from the first line of a failure to the end.
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
    let chatter = |line: &str| line.contains("Server VM warning:") || line.starts_with("WARN");
    let tells = |line: &str| !chatter(line) && !is_frame(line) && WORDS.iter().any(|word| line.contains(word));
    let from_there = output.lines().skip_while(|line| !tells(line));
    // A caret under a quoted line points nowhere once the lines are trimmed.
    let wanted = |line: &&str| !is_frame(line) && !chatter(line) && line.bytes().any(|b| b.is_ascii_alphanumeric());
    unique(from_there.filter(wanted).map(str::trim))
}

/// ERROR entries of system.log with their following lines, without stack frames.
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

/// The lines in order, each once: Cassandra prints a cause in a sentence, then alone, then after its class's name.
fn unique<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for line in lines {
        let bare = match line.split_once(": ") {
            Some((class, message)) if class.contains('.') && !class.contains(' ') => message,
            _ => line,
        };
        if !kept.iter().any(|other| other.contains(bare)) {
            kept.push(line.to_owned());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rehearsal_tells_the_jvm_from_cassandra() {
        let jvm = "Unrecognized VM option 'NoSuchThing'\nError: Could not create the Java Virtual Machine.\n\
                   Error: A fatal exception has occurred. Program will exit.\n";
        let refused = of_rehearsal(Some(1), jvm);
        assert_eq!(refused, Some(StartRefusal::Options("Unrecognized VM option 'NoSuchThing'".into())));
        let cassandra = "Exception (org.apache.cassandra.exceptions.ConfigurationException) encountered during startup: \
                         Invalid yaml. Please remove properties [concurrent_readz] from your cassandra.yaml\nInvalid yaml.\n";
        let Some(StartRefusal::Settings(why)) = of_rehearsal(Some(3), cassandra) else { panic!() };
        assert!(why.ends_with("remove properties [concurrent_readz] from your cassandra.yaml"), "{why}");
        assert_eq!(of_rehearsal(Some(1), "Unknown keyspace/table no_such_keyspace.no_such_table\n"), None);
        assert_eq!(of_rehearsal(None, ""), None);
    }
    use proptest::prelude::*;

    #[test]
    fn the_startup_exception_is_the_reason() {
        let output = "WARNING: something harmless\nException (org.apache.cassandra.exceptions.ConfigurationException) encountered during startup: Invalid yaml. Please remove properties [nonsense] from your cassandra.yaml\nInvalid yaml. Please remove properties [nonsense] from your cassandra.yaml\norg.apache.cassandra.exceptions.ConfigurationException: Invalid yaml\n\tat org.apache.cassandra.config.YamlConfigurationLoader.check(YamlConfigurationLoader.java:1)\n";
        let reason = reason("INFO  [main] 2026-11-21 13:00:00,000 X.java:1 - fine\n", output);
        assert!(reason.contains("Please remove properties [nonsense]"), "{reason}");
        assert_eq!(reason.lines().count(), 1, "the cause once, no frames, no warnings: {reason}");
    }

    #[test]
    fn the_jvms_own_refusal_is_the_reason() {
        let output = "Unrecognized VM option 'Nonsense'\nError: Could not create the Java Virtual Machine.\nError: A fatal exception has occurred. Program will exit.\n";
        assert!(reason("", output).starts_with("Unrecognized VM option 'Nonsense'"));
    }

    #[test]
    fn what_explains_the_failure_stays_with_it() {
        let output = "chatter\nException (x.ConfigurationException) encountered during startup: Invalid yaml\nCaused by: Cannot create property=num_tokens\n in 'reader', line 3, column 1:\n    num_tokens: \"many\"\n    ^\n\tat a.b\n\t... 7 more\nCaused by: java.lang.NumberFormatException: For input string: \"many\"\n";
        let reason = reason("", output);
        let lines: Vec<_> = reason.lines().skip(1).collect();
        let expected = [
            "Caused by: Cannot create property=num_tokens",
            "in 'reader', line 3, column 1:",
            "num_tokens: \"many\"",
            "Caused by: java.lang.NumberFormatException: For input string: \"many\"",
        ];
        assert_eq!(lines, expected);
        let output = "Error occurred during initialization of VM\nToo small maximum heap\n";
        assert!(super::reason("", output).ends_with("Too small maximum heap"));
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
