//! One bound in bytes for all that a source keeps of many connections, files or statements. A bound for each of them would
//! bound nothing, since there may be any number of them.

use foldhash::fast::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// The bytes that a source holds, and the most that it may hold.
#[derive(Debug)]
pub(crate) struct Room {
    most: usize,
    held: usize,
}

impl Room {
    pub(crate) fn new(most: usize) -> Room {
        Room { most, held: 0 }
    }

    /// Accounts for something that took `before` bytes and takes `now`.
    pub(crate) fn change(&mut self, before: usize, now: usize) {
        self.held = self.held.saturating_add(now).saturating_sub(before);
    }

    /// Accounts for more bytes if there is room for them.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let has_room = self.held.saturating_add(bytes) <= self.most;
        if has_room {
            self.held += bytes;
        }
        has_room
    }

    pub(crate) fn is_over(&self) -> bool {
        self.held > self.most
    }

    /// Bytes to give up where too many are held: a quarter more than needed, so that it is not done again at once.
    pub(crate) fn to_give_up(&self) -> usize {
        self.held.saturating_sub(self.most - self.most / 4)
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.held
    }
}

/// The time up to which things have to go to free so many bytes, where the oldest go first. `things` are the time and the
/// bytes of each.
pub(crate) fn oldest(mut things: Vec<(i64, usize)>, bytes: usize) -> i64 {
    things.sort_unstable_by_key(|(time_ns, _)| *time_ns);
    let mut freed = 0;
    let last = things.iter().find(|(_, size)| {
        freed += size;
        freed >= bytes
    });
    last.or(things.last()).map_or(i64::MIN, |(time_ns, _)| *time_ns)
}

/// A map with a bound in bytes. The entries that were inserted first go first.
#[derive(Debug)]
pub(crate) struct Kept<K, V> {
    entries: HashMap<K, Entry<V>, RandomState>,
    /// All keys in the order in which they were inserted. A key that was inserted again is here twice.
    order: VecDeque<(K, u64)>,
    room: Room,
    inserted: u64,
    /// Number of entries that had to go since the caller last set this to 0.
    pub(crate) given_up: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    number: u64,
}

impl<K: Eq + Hash + Clone, V> Kept<K, V> {
    pub(crate) fn new(most: usize) -> Kept<K, V> {
        let (entries, order) = (HashMap::default(), VecDeque::new());
        Kept { entries, order, room: Room::new(most), inserted: 0, given_up: 0 }
    }

    /// Bytes of an entry besides those that key and value point to.
    const ENTRY: usize = 2 * (size_of::<K>() + size_of::<Entry<V>>()) + 2 * size_of::<(K, u64)>();

    /// Inserts or replaces an entry; `bytes` are those that its key and value point to.
    pub(crate) fn insert(&mut self, key: K, value: V, bytes: usize) {
        let bytes = bytes.saturating_add(Self::ENTRY);
        self.inserted += 1;
        let number = self.inserted;
        self.order.push_back((key.clone(), number));
        self.room.change(0, bytes);
        if let Some(before) = self.entries.insert(key, Entry { value, bytes, number }) {
            self.room.change(before.bytes, 0);
        }
        while self.room.is_over()
            && let Some((key, number)) = self.order.pop_front()
        {
            if self.is_latest(&key, number)
                && let Some(gone) = self.entries.remove(&key)
            {
                self.room.change(gone.bytes, 0);
                self.given_up += 1;
            }
        }
        if self.order.len() > 2 * self.entries.len() + 64 {
            let mut order = std::mem::take(&mut self.order);
            order.retain(|(key, number)| self.is_latest(key, *number));
            self.order = order;
        }
    }

    fn is_latest(&self, key: &K, number: u64) -> bool {
        self.entries.get(key).is_some_and(|entry| entry.number == number)
    }

    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.entries.get(key).map(|entry| &entry.value)
    }

    pub(crate) fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q)
    where
        K: std::borrow::Borrow<Q>,
    {
        if let Some(gone) = self.entries.remove(key) {
            self.room.change(gone.bytes, 0);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.order.clear();
        self.room.held = 0;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, entry)| (key, &entry.value))
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.room.held()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_without_room_are_not_accounted() {
        let mut room = Room::new(10);
        assert!(room.take(7) && !room.take(4) && room.take(3) && !room.take(1));
        assert_eq!((room.held(), room.is_over(), room.to_give_up()), (10, false, 2));
        room.change(3, 8);
        assert!(room.is_over());
    }

    #[test]
    fn the_oldest_go_until_enough_is_free() {
        let things = vec![(30, 5), (10, 5), (20, 5)];
        assert_eq!(oldest(things.clone(), 1), 10);
        assert_eq!(oldest(things.clone(), 6), 20);
        assert_eq!(oldest(things, 100), 30);
        assert_eq!(oldest(Vec::new(), 1), i64::MIN);
    }

    proptest! {
        /// The sum of all entries stays below the bound, and the latest are there, after any inserts and removals.
        #[test]
        fn a_kept_map_never_holds_more(
            entries in prop::collection::vec((0u8..40, 0usize..600, any::<bool>()), 0..200),
        ) {
            const MOST: usize = 4_000;
            let mut kept = Kept::new(MOST);
            let mut there = std::collections::HashMap::new();
            for (number, (key, bytes, is_removed)) in entries.iter().enumerate() {
                if *is_removed {
                    kept.remove(key);
                    there.remove(key);
                } else {
                    kept.insert(*key, number, *bytes);
                    there.insert(*key, (number, *bytes));
                    prop_assert_eq!(kept.get(key), Some(&number));
                }
                let held: usize = kept.iter().map(|(key, _)| there[key].1 + Kept::<u8, usize>::ENTRY).sum();
                prop_assert_eq!(kept.held(), held);
                prop_assert!(held <= MOST);
                prop_assert!(kept.order.len() <= 2 * kept.entries.len() + 64);
                // All that are there are later than all that are gone.
                let first = kept.iter().map(|(_, number)| *number).min().unwrap_or(usize::MAX);
                prop_assert!(there.iter().all(|(key, (number, _))| kept.get(key).is_some() || *number < first));
            }
        }
    }
}
