//! Texts of partition keys, for a user who watches a node and requests them. They stay in the memory of this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Keys that are known at once; twice as many at most.
const KEPT: usize = 50_000;

/// Texts of the partition keys that were met last, by token.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    texts: Arc<Mutex<Texts>>,
}

/// Two generations: when the younger is full, it takes the place of the elder.
#[derive(Debug, Default)]
struct Texts {
    younger: HashMap<i64, String, foldhash::fast::RandomState>,
    elder: HashMap<i64, String, foldhash::fast::RandomState>,
}

impl Keys {
    pub(super) fn note(&self, token: i64, text: impl FnOnce() -> String) {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if texts.younger.contains_key(&token) {
            return;
        }
        let text = texts.elder.remove(&token).unwrap_or_else(text);
        texts.younger.insert(token, text);
        if texts.younger.len() >= KEPT {
            texts.elder = std::mem::take(&mut texts.younger);
        }
    }

    /// The text of the key with this token, where it was met of late.
    pub fn text(&self, token: i64) -> Option<String> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.younger.get(&token).or_else(|| texts.elder.get(&token)).cloned()
    }
}

/// Two are the same if they have the same texts now and later.
impl PartialEq for Keys {
    fn eq(&self, other: &Keys) -> bool {
        Arc::ptr_eq(&self.texts, &other.texts)
    }
}

impl Eq for Keys {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_met_last_are_kept() {
        let keys = Keys::default();
        for token in 0..5 * KEPT as i64 {
            keys.note(token, || token.to_string());
            keys.note(7, || "seven".to_string());
        }
        assert_eq!(keys.text(7).as_deref(), Some("seven"));
        assert_eq!(keys.text(8), None);
        assert_eq!(keys.text(5 * KEPT as i64 - 1), Some((5 * KEPT - 1).to_string()));
        let texts = keys.texts.lock().unwrap();
        assert!(texts.younger.len() + texts.elder.len() <= 2 * KEPT);
    }
}
