//! The trait that sources implement, and what they are started with.

use crate::check::Check;
use crate::error::Error;
use crate::names::ThreadNames;
use crate::{Event, Events, ProcessKind, Watched};
use helenus_recording::{Recorder, SourceFacts};
use std::time::Duration;

/// A thread that wakes up at least this late counts as stalled, whether it watches a process from inside or from
/// outside.
pub(crate) const STALL_BOUND: Duration = Duration::from_millis(10);

/// A source: records one thing about the watched processes, or several that are read together.
pub(crate) trait Source {
    type Options;

    /// Begins to record what the options request, which may be nothing. All parts that were started are added to
    /// `running`, even if an error is returned.
    ///
    /// # Errors
    /// An error fails the whole recording. A source that is optional reports for each node what is not
    /// recorded and why ([`Context::degrade`]), and returns Ok.
    fn start(
        &self,
        context: &Context<'_>,
        options: &Self::Options,
        running: &mut Vec<Box<dyn Running>>,
    ) -> Result<(), Error>;

    /// Rejects options that are invalid together: one that needs another, or a source that would measure itself.
    fn check(&self, _options: &Self::Options) -> Result<(), String> {
        Ok(())
    }

    /// The lines of the source in `helenus doctor`.
    fn checks(&self) -> Vec<Check>;
}

/// A running part of a source.
pub(crate) trait Running: std::fmt::Debug + Send {
    /// Continues in another recording; from then on nothing goes into the previous one. Returns false if the source
    /// can't do so. Then it is stopped and started again in the other recording, and misses what happens in between.
    ///
    /// # Errors
    /// Fails if the source has ended.
    fn continue_in(&mut self, _context: &Context<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    /// Ends the source once its last rows are in the recording. Returns a message about changes that may remain.
    fn stop(self: Box<Self>) -> Option<String>;
}

/// What every source is started with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) recorder: &'a Recorder,
    pub(crate) watched: &'a [Watched],
    /// The thread names of each watched process, in the order of the processes.
    pub(crate) names: &'a [ThreadNames],
    pub(crate) events: &'a Events,
}

impl Context<'_> {
    pub(crate) fn watched_with_names(&self) -> impl Iterator<Item = (Watched, ThreadNames)> {
        self.watched.iter().cloned().zip(self.names.iter().cloned())
    }

    /// The processes that are nodes.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (Watched, ThreadNames)> {
        self.watched_with_names().filter(|(watched, _)| watched.process == ProcessKind::Server)
    }

    pub(crate) fn say(&self, event: Event) {
        say(self.events, event);
    }

    /// Reports that a source is missing, or records less than requested.
    pub(crate) fn degrade(&self, node: &str, source: &'static str, reason: impl Into<String>) {
        self.say(Event::Degraded { node: node.into(), source, reason: reason.into() });
    }

    /// Writes sources to the manifest.
    pub(crate) fn note(&self, sources: &[SourceFacts]) {
        // The recorder itself reports a manifest that can't be written.
        let _ = self.recorder.update_manifest(|manifest| manifest.sources.extend_from_slice(sources));
    }
}

/// A source as the manifest lists it.
pub(crate) fn facts(name: &str, node: &str, provider: &str, note: &str) -> SourceFacts {
    SourceFacts { name: name.into(), node: node.into(), provider: provider.into(), note: note.into() }
}

/// Reports an event to the user.
pub(crate) fn say(events: &Events, event: Event) {
    // The receiver may have been dropped; the recording has the facts.
    let _ = events.send(event);
}
