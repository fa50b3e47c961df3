//! Items of several manifests in the order in which they come, each once.

use std::collections::HashMap;
use std::hash::Hash;

/// Items that are found by a key, however many there are: a manifest of somebody else may have any number.
#[derive(Debug)]
pub(crate) struct Once<K, T> {
    items: Vec<T>,
    places: HashMap<K, usize>,
}

impl<K: Hash + Eq, T> Once<K, T> {
    /// Of items with the same key, the first one is found.
    pub(crate) fn of(items: Vec<T>, key: impl Fn(&T) -> K) -> Once<K, T> {
        let mut places = HashMap::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            places.entry(key(item)).or_insert(place);
        }
        Once { items, places }
    }

    /// Adds an item, or has `merge` add it to the one with the same key.
    pub(crate) fn add(&mut self, key: K, item: T, merge: impl FnOnce(&mut T, T)) {
        match self.places.get(&key).and_then(|place| self.items.get_mut(*place)) {
            Some(known) => merge(known, item),
            None => {
                self.places.insert(key, self.items.len());
                self.items.push(item);
            }
        }
    }

    pub(crate) fn into_items(self) -> Vec<T> {
        self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_there_once_and_in_order() {
        let mut once = Once::of(vec![("b", 1), ("a", 2), ("b", 3)], |item| item.0);
        for item in [("c", 4), ("a", 5), ("b", 6), ("c", 7)] {
            once.add(item.0, item, |known, more| known.1 += more.1);
        }
        assert_eq!(once.into_items(), [("b", 7), ("a", 7), ("b", 3), ("c", 11)]);
    }
}
