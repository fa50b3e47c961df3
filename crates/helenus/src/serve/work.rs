//! Limits how many requests are answered at the same time. Questions that read recordings have few places. Live figures and changes of
//! nodes have places of their own, so that they never wait for questions. Answers are cached, and equal questions wait for the first.

use anyhow::Result;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Semaphore;

/// The most questions at a time, so that they leave CPU time and memory for the node.
const QUESTIONS: usize = 4;
/// How long a question waits for its place. With the time for the answer it is less than that of a connection.
const WAITS: Duration = Duration::from_secs(50);
/// The most figures of live pages, and the most changes, at a time.
const FIGURES: usize = 16;
const CHANGES: usize = 16;
/// The most answers that are cached.
const KEPT_BYTES: usize = 96 << 20;

/// The kinds of work that the server does in its own process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    Figures,
    Changes,
}

/// No place became free for a question.
#[derive(Debug)]
pub(super) struct Busy;

impl fmt::Display for Busy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{QUESTIONS} questions are being answered, and none has ended in {} s; try again, or close the pages that ask them",
            WAITS.as_secs()
        )
    }
}

impl std::error::Error for Busy {}

#[derive(Debug)]
pub(super) struct Work {
    questions: Semaphore,
    figures: Arc<Semaphore>,
    changes: Arc<Semaphore>,
    kept: Mutex<Kept>,
    /// Questions that are being answered, by the key of their answer: equal ones wait for the first.
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
        Work {
            questions: Semaphore::new(QUESTIONS),
            figures: Arc::new(Semaphore::new(FIGURES)),
            changes: Arc::new(Semaphore::new(CHANGES)),
            kept: Mutex::default(),
            running: Mutex::default(),
        }
    }

    /// Waits for a place and the answer of a child, and caches the answer under `key` if there is one.
    pub(super) async fn answer(
        &self,
        key: Option<String>,
        child: impl Future<Output = Result<String>>,
    ) -> Result<Arc<str>> {
        let turn = key.as_ref().map(|key| self.turn(key));
        let _turn = match &turn {
            Some(turn) => Some(turn.lock().await),
            None => None,
        };
        if let Some(kept) = key.as_ref().and_then(|key| self.kept().get(key)) {
            return Ok(kept);
        }
        let _place = tokio::time::timeout(WAITS, self.questions.acquire()).await.map_err(|_| Busy)??;
        let answer: Arc<str> = child.await?.into();
        if let Some(key) = key {
            self.kept().put(key, Arc::clone(&answer));
        }
        Ok(answer)
    }

    /// Runs what this process does itself in a thread of its own.
    pub(super) async fn beside<T: Send + 'static>(
        &self,
        lane: Lane,
        run: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let room = match lane {
            Lane::Figures => &self.figures,
            Lane::Changes => &self.changes,
        };
        let place = Arc::clone(room).acquire_owned().await?;
        let running = tokio::task::spawn_blocking(move || {
            let outcome = run();
            drop(place);
            outcome
        });
        running.await?
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
