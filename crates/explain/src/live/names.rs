//! Interns names as numbers. The number of names is bounded: names beyond the bound share the first number.

use super::columns::Texts;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// The number shared by all names beyond the bound.
pub(super) const OTHERS: u16 = 0;
pub(super) const OTHERS_NAME: &str = "(others)";
/// Names are cut to this many characters.
const LONGEST: usize = 1000;

/// The names seen, each with the newest bin that holds it. The number of a name that is in no kept bin can be reused.
#[derive(Debug)]
pub(super) struct Names {
    most: usize,
    /// Names by number; the first one stands for all names beyond the bound.
    names: Vec<String>,
    newest: Vec<i64>,
    numbers: HashMap<String, u16, RandomState>,
    /// The bin in which no number was free.
    full_in: i64,
}

impl Names {
    pub(super) fn new(most: u16) -> Names {
        Names {
            most: usize::from(most),
            names: vec![OTHERS_NAME.to_string()],
            newest: vec![i64::MIN],
            numbers: HashMap::default(),
            full_in: i64::MIN,
        }
    }

    pub(super) fn name(&self, number: u16) -> &str {
        self.names.get(usize::from(number)).map_or(OTHERS_NAME, String::as_str)
    }

    /// All names by number.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The number of a known name.
    pub(super) fn known(&self, name: &str) -> Option<u16> {
        if name == OTHERS_NAME {
            return Some(OTHERS);
        }
        self.numbers.get(name).copied()
    }

    /// The number of a name that occurs in a bin, while `oldest` is the oldest bin that is kept.
    pub(super) fn number(&mut self, name: &str, bin: i64, oldest: i64) -> u16 {
        let name = match name.char_indices().nth(LONGEST) {
            Some((end, _)) => &name[..end],
            None => name,
        };
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => self.add(name, bin, oldest),
        };
        self.touch(number, bin);
        number
    }

    fn touch(&mut self, number: u16, bin: i64) {
        let newest = &mut self.newest[usize::from(number)];
        *newest = bin.max(*newest);
    }

    fn add(&mut self, name: &str, bin: i64, oldest: i64) -> u16 {
        if self.names.len() <= self.most {
            let number = u16::try_from(self.names.len()).unwrap_or(OTHERS);
            self.names.push(name.to_string());
            self.newest.push(bin);
            self.numbers.insert(name.to_string(), number);
            return number;
        }
        if self.full_in == bin {
            return OTHERS;
        }
        let Some(free) = (1..self.names.len()).find(|number| self.newest[*number] < oldest) else {
            self.full_in = bin;
            return OTHERS;
        };
        let number = u16::try_from(free).unwrap_or(OTHERS);
        self.numbers.remove(&self.names[free]);
        self.names[free] = name.to_string();
        self.newest[free] = bin;
        self.numbers.insert(name.to_string(), number);
        number
    }
}

/// A column of names. A name that repeats within a batch is looked up once.
pub(super) struct Numbered<'a> {
    texts: &'a Texts,
    known: Vec<Option<u16>>,
    last: Option<(usize, u16)>,
}

impl<'a> Numbered<'a> {
    pub(super) fn new(texts: &'a Texts) -> Numbered<'a> {
        Numbered { texts, known: vec![None; texts.distinct()], last: None }
    }

    pub(super) fn number(&mut self, row: usize, names: &mut Names, bin: i64, oldest: i64) -> u16 {
        if let Some(key) = self.texts.key(row) {
            let known = self.known.get(key).copied().flatten();
            let number = known.unwrap_or_else(|| names.number(self.texts.get(row), bin, oldest));
            if let Some(place) = self.known.get_mut(key) {
                *place = Some(number);
            }
            names.touch(number, bin);
            return number;
        }
        let number = match self.last {
            Some((before, number)) if self.texts.get(before) == self.texts.get(row) => {
                names.touch(number, bin);
                number
            }
            _ => names.number(self.texts.get(row), bin, oldest),
        };
        self.last = Some((row, number));
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_names_are_others_until_a_number_is_free() {
        let mut names = Names::new(2);
        let (a, b) = (names.number("a", 1, 0), names.number("b", 5, 0));
        assert_ne!(a, b);
        assert_eq!(names.number("c", 5, 0), OTHERS);
        assert_eq!(names.name(OTHERS), OTHERS_NAME);
        // The bins that hold the name `a` were dropped.
        let c = names.number("c", 6, 2);
        assert_eq!((c, names.name(c)), (a, "c"));
        assert_eq!(names.known("a"), None);
        assert_eq!(names.number("b", 7, 2), b);
    }
}
