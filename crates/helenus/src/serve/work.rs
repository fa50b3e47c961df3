//! Runs queries in threads of their own: a few at a time, each within a time limit; ended when no client waits for the
//! answer.

use anyhow::Result;
use helenus_explain::{Stop, Stopper};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Time limit of a query.
const LIMIT: Duration = Duration::from_secs(120);
/// The most queries at a time, so that one that reads much leaves CPU time for others.
const AT_A_TIME: usize = 4;
/// The most answers that are cached.
const KEPT_BYTES: usize = 96 << 20;

#[derive(Debug)]
pub(super) struct Work {
    room: Arc<Semaphore>,
    kept: Mutex<Kept>,
    /// Queries that run, by the key of their answer: equal ones wait for the first.
    running: Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>,
}

/// The cached answers, the oldest first.
#[derive(Debug, Default)]
struct Kept {
    bytes: usize,
    answers: VecDeque<(String, Arc<str>)>,
}

impl Work {
    pub(super) fn new() -> Work {
        Work { room: Arc::new(Semaphore::new(AT_A_TIME)), kept: Mutex::default(), running: Mutex::default() }
    }

    /// Runs a query, and caches its answer under `key` if there is one.
    pub(super) async fn answer(
        &self,
        key: Option<String>,
        question: impl FnOnce(Stop) -> Result<String> + Send + 'static,
    ) -> Result<Arc<str>> {
        let turn = key.as_ref().map(|key| self.turn(key));
        let _turn = match &turn {
            Some(turn) => Some(turn.lock().await),
            None => None,
        };
        if let Some(kept) = key.as_ref().and_then(|key| self.kept().get(key)) {
            return Ok(kept);
        }
        let place = Arc::clone(&self.room).acquire_owned().await?;
        let (waiting, stop): (Stopper, Stop) = Stop::after(LIMIT);
        let asked = tokio::task::spawn_blocking(move || {
            let answer = question(stop);
            drop(place);
            answer
        });
        let answer: Arc<str> = asked.await??.into();
        drop(waiting);
        if let Some(key) = key {
            self.kept().put(key, Arc::clone(&answer));
        }
        Ok(answer)
    }

    /// Held by the query that computes the answer of a key.
    fn turn(&self, key: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|_, turn| turn.strong_count() > 0);
        if let Some(turn) = running.get(key).and_then(Weak::upgrade) {
            return turn;
        }
        let turn = Arc::default();
        running.insert(key.to_string(), Arc::downgrade(&turn));
        turn
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn get(&mut self, key: &str) -> Option<Arc<str>> {
        let place = self.answers.iter().position(|(known, _)| known == key)?;
        let found = self.answers.remove(place)?;
        let answer = Arc::clone(&found.1);
        self.answers.push_back(found);
        Some(answer)
    }

    fn put(&mut self, key: String, answer: Arc<str>) {
        if answer.len() > KEPT_BYTES / 2 || self.answers.iter().any(|(known, _)| *known == key) {
            return;
        }
        self.bytes += answer.len();
        self.answers.push_back((key, answer));
        while self.bytes > KEPT_BYTES
            && let Some((_, oldest)) = self.answers.pop_front()
        {
            self.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_answers_are_kept_within_bounds() {
        let mut kept = Kept::default();
        let large: Arc<str> = "x".repeat(KEPT_BYTES / 3).into();
        for key in ["a", "b", "c"] {
            kept.put(key.to_string(), Arc::clone(&large));
        }
        assert!(kept.get("a").is_some());
        kept.put("d".to_string(), Arc::clone(&large));
        assert!(kept.get("b").is_none(), "asked for the longest ago");
        assert!(kept.get("a").is_some() && kept.get("d").is_some());
        assert!(kept.bytes <= KEPT_BYTES);
        kept.put("e".to_string(), "x".repeat(KEPT_BYTES).into());
        assert!(kept.get("e").is_none());
    }
}
