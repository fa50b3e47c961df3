//! Arguments in groups of words: `write n=1M -rate threads=50`.

use crate::Error;
use helenus_notation::did_you_mean;

/// A group: the command, or an option with a dash, and the words that follow it.
#[derive(Debug, Clone)]
pub(super) struct Words {
    pub group: String,
    words: Vec<String>,
    asked: Vec<&'static str>,
}

/// Splits arguments into groups, the first of which is the command. Spaces within parentheses, as in `ops (insert=1,
/// read=2)`, are removed.
pub(super) fn groups(arguments: &[String]) -> Vec<Words> {
    let mut words: Vec<String> = Vec::new();
    for word in arguments.iter().flat_map(|argument| argument.split_whitespace()) {
        match words.last_mut() {
            Some(last) if last.ends_with([',', '=', '(']) || word.starts_with([',', '=', '(', ')']) => {
                last.push_str(word);
            }
            _ => words.push(word.to_string()),
        }
    }
    let mut groups: Vec<Words> = Vec::new();
    for word in words {
        match groups.last_mut() {
            Some(group) if !word.starts_with('-') => group.words.push(word),
            _ => groups.push(Words { group: word.to_lowercase(), words: Vec::new(), asked: Vec::new() }),
        }
    }
    groups
}

impl Words {
    pub fn none(group: &str) -> Words {
        Words { group: group.to_string(), words: Vec::new(), asked: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether the group has this word.
    pub fn flag(&mut self, name: &'static str) -> bool {
        self.asked.push(name);
        let before = self.words.len();
        self.words.retain(|word| !word.eq_ignore_ascii_case(name));
        self.words.len() < before
    }

    /// The text after a word such as `threads=`.
    pub fn value(&mut self, name: &'static str) -> Result<Option<String>, Error> {
        self.asked.push(name);
        let found = self.words.iter().position(|word| strip(word, name).is_some());
        let Some(position) = found else { return Ok(None) };
        let word = self.words.remove(position);
        let value = strip(&word, name).unwrap_or_default().to_string();
        match self.words.iter().any(|word| strip(word, name).is_some()) {
            true => Err(self.wrong(name, "is given twice; leave one of them")),
            false if value.is_empty() => Err(self.wrong(name, "has no value")),
            false => Ok(Some(value)),
        }
    }

    /// Like [`Words::value`], parsed.
    pub fn parsed<T>(
        &mut self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Error> {
        let value = self.value(name)?;
        value.map(|text| parse(&text).map_err(|message| self.wrong(name, &message))).transpose()
    }

    /// The text between the brackets of a word such as `ratio(write=1)`.
    pub fn inside(&mut self, name: &'static str) -> Result<Option<String>, Error> {
        self.asked.push(name);
        let of = |word: &str| strip(word, name).and_then(|rest| rest.strip_prefix('(')).map(str::to_string);
        let Some(position) = self.words.iter().position(|word| of(word).is_some()) else { return Ok(None) };
        let word = self.words.remove(position);
        match of(&word).as_deref().and_then(|rest| rest.strip_suffix(')')) {
            Some(inside) => Ok(Some(inside.to_string())),
            None => Err(self.wrong(name, "has no closing bracket; quote it for the shell: 'name(…)'")),
        }
    }

    /// The first of the unread words that has no `=`.
    pub fn plain(&mut self) -> Option<String> {
        let position = self.words.iter().position(|word| !word.contains(['=', '(']))?;
        Some(self.words.remove(position))
    }

    /// Refuses a word by name, and says what to do instead. Names that end in `=` are refused with any value.
    pub fn refuse(&mut self, refused: &[(&'static str, &'static str)]) -> Result<(), Error> {
        for (name, instead) in refused {
            let given = |word: &&String| strip(word, name).is_some_and(|rest| name.ends_with('=') || rest.is_empty());
            if self.words.iter().any(|word| given(&word)) {
                return Err(self.wrong(name, &format!("is not taken: {instead}")));
            }
        }
        Ok(())
    }

    /// Fails if there is a word that was not read.
    pub fn finish(&self) -> Result<(), Error> {
        let Some(word) = self.words.first() else { return Ok(()) };
        let name = word.find(['=', '(', '<', '>']).map_or(word.as_str(), |end| &word[..=end]);
        let known = self.asked.join(", ");
        let message = match self.asked.is_empty() {
            true => format!("`{word}` is unknown; nothing follows {}", self.group),
            false => {
                format!("`{word}` is unknown{} (known here: {known})", did_you_mean(name, self.asked.iter().copied()))
            }
        };
        Err(Error::Argument { argument: self.group.clone(), message })
    }

    /// An error about a word of the group.
    pub fn wrong(&self, name: &str, message: &str) -> Error {
        Error::Argument { argument: format!("{} {name}", self.group), message: message.to_string() }
    }
}

fn strip<'w>(word: &'w str, name: &str) -> Option<&'w str> {
    let head = word.get(..name.len())?;
    head.eq_ignore_ascii_case(name).then(|| &word[name.len()..])
}

/// Parses a whole number with `k`, `m` or `b` for thousands, millions and billions.
pub(super) fn number(text: &str) -> Result<u64, String> {
    let number = crate::rows::whole(text)?;
    u64::try_from(number).map_err(|_| format!("`{text}` is less than 0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(line: &str) -> Vec<Words> {
        groups(&line.split(' ').map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn spaces_that_shells_leave_are_taken_out() {
        let groups = split("user profile=a.yaml ops (insert=1, read = 2) -Rate threads=5 -node a,b");
        let shown: Vec<String> = groups.iter().map(|group| format!("{} {:?}", group.group, group.words)).collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn numbers_take_their_suffixes() {
        assert_eq!(
            [number("5"), number("5k"), number("2M"), number("1b")],
            [5, 5_000, 2_000_000, 1_000_000_000].map(Ok)
        );
        assert!(["", "k", "1.5m", "-1", "99999999999b"].iter().all(|text| number(text).is_err()));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(line in "\\PC{0,40}") {
            for mut group in split(&line) {
                let _ = (group.flag("x"), group.value("n="), group.inside("ratio"), group.finish());
            }
            let _ = number(&line);
        }
    }
}
