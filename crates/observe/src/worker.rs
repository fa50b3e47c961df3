//! The thread of a source.

use crate::Unavailable;
use crate::error::Error;
use crate::source::{Context, Running};
use helenus_recording::{Recorder, SourceFacts};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A command for a thread is delivered at once; the thread then finishes what it has read before it continues in
/// another recording.
const CONTINUE_WITHIN: Duration = Duration::from_secs(5);

/// A thread that records until it is stopped, in one recording after the other.
#[derive(Debug)]
pub(crate) struct Worker {
    instruct: Sender<Next>,
    thread: JoinHandle<()>,
    /// The sources in each recording's manifest.
    sources: Vec<SourceFacts>,
}

/// The recording in which a thread is to continue.
#[derive(Debug)]
pub(crate) struct Next {
    recorder: Recorder,
    begun: Sender<()>,
}

impl Next {
    /// The recorder to write to from now on. Everything read before must be written to the previous one first.
    pub(crate) fn begin(self) -> Recorder {
        // Nobody waits if it took too long; then the thread will be stopped.
        let _ = self.begun.send(());
        self.recorder
    }
}

/// A command for a waiting thread.
#[derive(Debug)]
pub(crate) enum Instruction {
    Nothing,
    Continue(Next),
    Stop,
}

impl Instruction {
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self, Instruction::Stop)
    }

    /// Whether the thread has to end or to continue in another recording.
    pub(crate) fn is_last(&self) -> bool {
        !matches!(self, Instruction::Nothing)
    }
}

#[derive(Debug)]
pub(crate) struct Instructions(Receiver<Next>);

impl Instructions {
    /// Waits at most this long for the next instruction.
    pub(crate) fn wait(&self, at_most: Duration) -> Instruction {
        match self.0.recv_timeout(at_most) {
            Ok(next) => Instruction::Continue(next),
            Err(RecvTimeoutError::Timeout) => Instruction::Nothing,
            Err(RecvTimeoutError::Disconnected) => Instruction::Stop,
        }
    }
}

/// The thread could not be started, or ended before it was ready.
#[derive(Debug, thiserror::Error)]
#[error("its thread could not start: {0}")]
pub(crate) struct NoThread(String);

impl From<NoThread> for String {
    fn from(error: NoThread) -> String {
        error.to_string()
    }
}

impl From<NoThread> for std::io::Error {
    fn from(error: NoThread) -> std::io::Error {
        std::io::Error::other(error)
    }
}

impl From<NoThread> for Unavailable {
    fn from(error: NoThread) -> Unavailable {
        Unavailable::new(error.to_string(), "look for limits on threads and memory (ulimit -a)")
    }
}

impl Worker {
    /// Starts a thread, and returns the result of `prepare` when it is ready. `prepare` and `run` are both called in
    /// the thread, so that they can share data without locks.
    pub(crate) fn start<Prepared, Note, E>(
        name: &str,
        prepare: impl FnOnce() -> Result<(Prepared, Note), E> + Send + 'static,
        run: impl FnOnce(Prepared, &Instructions) + Send + 'static,
    ) -> Result<(Worker, Note), E>
    where
        Note: Send + 'static,
        E: From<NoThread> + Send + 'static,
    {
        let (instruct, instructions) = channel();
        let instructions = Instructions(instructions);
        let (say_ready, ready) = channel();
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || match prepare() {
            Ok((prepared, note)) => {
                // The receiver is dropped only if the start was abandoned.
                let _ = say_ready.send(Ok(note));
                run(prepared, &instructions);
            }
            Err(error) => {
                let _ = say_ready.send(Err(error));
            }
        });
        let thread = thread.map_err(|error| NoThread(error.to_string()))?;
        let note = ready.recv().map_err(|_| NoThread("it ended".into()))??;
        Ok((Worker { instruct, thread, sources: Vec::new() }, note))
    }

    /// Writes its sources to the manifest, and to those of later recordings.
    pub(crate) fn noted(self, context: &Context<'_>, sources: Vec<SourceFacts>) -> Worker {
        context.note(&sources);
        Worker { sources, ..self }
    }

    /// Ends the thread, once its last rows are in the recording.
    pub(crate) fn end(self) {
        drop(self.instruct);
        // The message of a panic has been printed; the rows until then are in the recording.
        let _ = self.thread.join();
    }
}

impl Running for Worker {
    fn continue_in(&mut self, context: &Context<'_>) -> Result<bool, Error> {
        let (begun, has_begun) = channel();
        let next = Next { recorder: context.recorder.clone(), begun };
        if self.instruct.send(next).is_err() || has_begun.recv_timeout(CONTINUE_WITHIN).is_err() {
            return Ok(false);
        }
        context.note(&self.sources);
        Ok(true)
    }

    fn stop(self: Box<Self>) -> Option<String> {
        self.end();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::facts;
    use helenus_recording::Manifest;

    #[test]
    fn it_says_when_it_is_ready_and_works_until_it_is_stopped() {
        let (done, result) = channel();
        let prepare = || Ok::<_, String>((7, "ready"));
        let run = move |prepared: i32, instructions: &Instructions| {
            while !instructions.wait(Duration::from_millis(1)).is_stop() {}
            done.send(prepared).unwrap();
        };
        let (worker, note) = Worker::start("test", prepare, run).unwrap();
        assert_eq!((note, result.try_recv().is_err()), ("ready", true));
        worker.end();
        assert_eq!(result.recv(), Ok(7));
    }

    #[test]
    fn it_goes_on_in_another_recording_until_it_has_ended() {
        let place = tempfile::tempdir().unwrap();
        let recorder = |name: &str| Recorder::create(&place.path().join(name), Manifest::new("t", "c")).unwrap();
        let (first, second) = (recorder("first"), recorder("second"));
        let (events, _heard) = channel();
        let context = |recorder| Context { recorder, watched: &[], names: &[], events: &events };
        let (tell, told) = channel();
        let run = move |(), instructions: &Instructions| {
            // The thread waits for a long time, and is woken by the instruction.
            if let Instruction::Continue(next) = instructions.wait(Duration::from_secs(600)) {
                tell.send(next.begin().folder().to_path_buf()).unwrap();
            }
        };
        let (worker, ()) = Worker::start("test", || Ok::<_, String>(((), ())), run).unwrap();
        let mut worker = worker.noted(&context(&first), vec![facts("name", "node", "provider", "note")]);
        assert!(worker.continue_in(&context(&second)).unwrap());
        assert_eq!(told.recv().unwrap(), second.folder());
        assert!(!worker.continue_in(&context(&first)).unwrap(), "the thread has ended");
        worker.end();
        for recorder in [first, second] {
            let folder = recorder.close().unwrap().folder;
            let sources = helenus_recording::Recording::open(&folder).unwrap().manifest().sources.clone();
            assert_eq!(sources, [facts("name", "node", "provider", "note")]);
        }
    }

    #[test]
    fn it_tells_why_it_is_not_ready() {
        let refused = Worker::start("test", || Err::<((), ()), _>("no".to_string()), |(), _| {});
        assert_eq!(refused.unwrap_err(), "no");
        let prepare = || -> Result<((), ()), String> { std::panic::resume_unwind(Box::new("gone")) };
        let ended = Worker::start("test", prepare, |(), _| {}).unwrap_err();
        assert_eq!(ended, "its thread could not start: it ended");
    }
}
