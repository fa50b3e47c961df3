//! The command line that a recording keeps, with secrets replaced.

/// Names of secrets: a whole word, or the last word of a name.
const SECRETS: [&str; 9] =
    ["password", "passwd", "passphrase", "secret", "token", "credential", "credentials", "apikey", "authorization"];
/// Words that may come between a header's name and its secret.
const SCHEMES: [&str; 2] = ["bearer", "basic"];
/// Options of Cassandra's tools that are followed by a password.
const OPTIONS: [&str; 3] = ["-pw", "--pw", "--pass"];
/// Tools whose -p is a password; elsewhere it is a port, a path or a pid.
const WITH_P: [&str; 2] = ["cqlsh", "dsbulk"];

/// The option with the command for alerts, which often contains an address that is a secret.
const ALERT: &str = "--exec";

const HIDDEN: &str = "…";

/// The given command line, with each secret replaced.
pub fn command_line() -> String {
    // A path need not be UTF-8.
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    shown("helenus", &words)
}

fn shown(program: &str, words: &[String]) -> String {
    let quoted = |word: String| if word.contains(char::is_whitespace) { format!("'{word}'") } else { word };
    let mut hiding = SecretFilter::default();
    let words = words.iter().map(|word| quoted(hiding.word(word)));
    std::iter::once(program.to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

#[derive(Debug, Default)]
struct SecretFilter {
    /// The word before says that a secret follows.
    is_next: bool,
    has_p: bool,
}

impl SecretFilter {
    /// Checks a word of a command; the word may itself be a command of several words (`sh -c '…'`).
    fn word(&mut self, word: &str) -> String {
        if std::mem::take(&mut self.is_next) && !word.is_empty() {
            return HIDDEN.to_string();
        }
        if word.strip_prefix(ALERT).is_some_and(|value| value.starts_with('=')) {
            return format!("{ALERT}={HIDDEN}");
        }
        if !word.contains(char::is_whitespace) {
            return self.part(word);
        }
        let parts = word.split_inclusive(char::is_whitespace).map(|part| {
            let text = part.trim_end_matches(char::is_whitespace);
            let rest = &part[text.len()..];
            match std::mem::take(&mut self.is_next) && !text.is_empty() {
                true => {
                    self.is_next = SCHEMES.contains(&text.to_ascii_lowercase().as_str());
                    format!("{HIDDEN}{rest}")
                }
                false => format!("{}{rest}", self.part(text)),
            }
        });
        parts.collect()
    }

    fn part(&mut self, part: &str) -> String {
        let bare = part.trim_matches(['"', '\'']);
        // A header or a setting whose value is the next word.
        self.is_next = bare.strip_suffix([':', '=']).is_some_and(is_secret);
        let program = bare.rsplit('/').next().unwrap_or(bare);
        self.has_p |= WITH_P.contains(&program);
        if bare.starts_with('-') && !bare.contains(['=', ':']) {
            let name = bare.trim_start_matches('-');
            self.is_next = is_secret(name) || bare == ALERT || OPTIONS.contains(&bare) || (self.has_p && bare == "-p");
            if self.has_p && !self.is_next && !bare.starts_with("--") && bare.starts_with("-p") {
                return format!("-p{HIDDEN}");
            }
            return part.to_string();
        }
        part.split(',').map(|setting| without_user_info(&value_hidden(setting))).collect::<Vec<_>>().join(",")
    }
}

/// `name=value` or `name:value` of a secret, without its value.
fn value_hidden(setting: &str) -> String {
    match setting.split_once(['=', ':']) {
        Some((name, value)) if is_secret(name.trim_start_matches(['-', '"', '\'', '{', '('])) && !value.is_empty() => {
            let closing: String = value.chars().rev().take_while(|end| "\"')}".contains(*end)).collect();
            format!("{}{HIDDEN}{}", &setting[..=name.len()], closing.chars().rev().collect::<String>())
        }
        // The value may itself be a setting, as in -Dapp.options=password=x.
        Some((name, value)) if value.contains(['=', ':']) && !value.starts_with("//") => {
            format!("{}{}", &setting[..=name.len()], value_hidden(value))
        }
        _ => setting.to_string(),
    }
}

/// A URL without the password of its user.
fn without_user_info(text: &str) -> String {
    let hidden = || {
        let (scheme, rest) = text.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (user, host) = rest[..end].rsplit_once('@')?;
        let (user, _) = user.split_once(':')?;
        Some(format!("{scheme}://{user}:{HIDDEN}@{host}{}", &rest[end..]))
    };
    hidden().unwrap_or_else(|| text.to_string())
}

/// Decides by the last word: `ssl.keyStorePassword` is a secret, `password_file` is not.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['-', '_', '.'], "");
    SECRETS.iter().any(|secret| name.ends_with(secret))
}

#[cfg(test)]
mod tests {
    use super::shown;

    fn keeps(line: &[&str]) -> String {
        shown("helenus", &line.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn no_secret_is_kept() {
        for line in [
            &["record", "--", "cassandra-stress", "write", "-mode", "native", "user=u", "password=hunter2"][..],
            &["record", "--", "cassandra-stress", "-mode", "native cql3 user=u password=hunter2"],
            &["record", "--", "cassandra-stress", "-transport", "truststore-password=hunter2,keystore=k"],
            &["record", "--", "sh", "-c", "sleep 1; nodetool -u me -pw hunter2 status"],
            &["record", "--", "sh", "-c", "tool --password 'hunter2' --port 1"],
            &["record", "--", "nodetool", "-u", "me", "-pw", "hunter2", "status"],
            &["record", "--", "nodetool", "--password", "hunter2"],
            &["record", "--", "nodetool", "--password=hunter2"],
            &["record", "--", "/usr/bin/cqlsh", "-u", "me", "-p", "hunter2"],
            &["record", "--", "cqlsh", "-phunter2"],
            &["record", "--", "java", "-Djavax.net.ssl.keyStorePassword=hunter2", "-jar", "x"],
            &["record", "--", "env", "DB_PASSWORD=hunter2", "API_TOKEN=hunter2", "run"],
            &["record", "--", "curl", "http://me:hunter2@127.0.0.1/x"],
            &["record", "--", "curl", "-H", "x-secret: hunter2"],
            &["record", "--", "curl", "-H", "Authorization: Bearer hunter2"],
            &["record", "--", "run", "--options=a=1,password=hunter2"],
            &["record", "--exec", "curl https://alerts.example/hunter2 -d x", "--keep", "30m"],
            &["record", "--exec=curl https://alerts.example/hunter2 -d x"],
        ] {
            let kept = keeps(line);
            assert!(!kept.contains("hunter2") && kept.contains('…'), "{kept}");
        }
    }

    #[test]
    fn the_rest_is_kept_as_it_is() {
        for line in [
            &["load", "keyvalue/mixed", "--node", "127.0.0.1:9042", "--rate", "100/s", "-p", "x"][..],
            &["record", "--", "sh", "-c", "echo a b"],
            &["record", "--password-file", "/etc/x", "--", "ssh", "-p", "22", "host"],
            &["load", "--user", "me", "s3://bucket/key", "--at=10:30:00"],
        ] {
            let plain = line.iter().map(|word| if word.contains(' ') { format!("'{word}'") } else { word.to_string() });
            assert_eq!(keeps(line), format!("helenus {}", plain.collect::<Vec<_>>().join(" ")));
        }
    }
}
