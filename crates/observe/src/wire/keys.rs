//! Texts of partition keys, for a user who watches a node and requests them. They are kept in the memory of this
//! process only.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Size of a generation of keys; at most two generations are kept.
const KEPT: usize = 50_000;

/// Texts of the most recently seen partition keys, by token.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    texts: Arc<Mutex<Texts>>,
}

/// Two generations: when the younger one is full, it replaces the older one.
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

    /// The text of the key with this token, if it was seen recently.
    pub fn text(&self, token: i64) -> Option<String> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.younger.get(&token).or_else(|| texts.elder.get(&token)).cloned()
    }
}

/// Two are equal if they share the same texts.
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
