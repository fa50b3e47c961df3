//! The thread of a source.

use crate::Unavailable;
use crate::source::Running;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// A thread that records until it is stopped.
#[derive(Debug)]
pub(crate) struct Worker {
    stop: Sender<()>,
    thread: JoinHandle<()>,
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
    /// Starts a thread, and returns when it is ready, with what it says then. Both `prepare` and `run` are called in the
    /// thread, so that what it works with may be shared without locks. The receiver of `run` is disconnected when the thread
    /// is to end.
    pub(crate) fn start<Prepared, Note, E>(
        name: &str,
        prepare: impl FnOnce() -> Result<(Prepared, Note), E> + Send + 'static,
        run: impl FnOnce(Prepared, &Receiver<()>) + Send + 'static,
    ) -> Result<(Worker, Note), E>
    where
        Note: Send + 'static,
        E: From<NoThread> + Send + 'static,
    {
        let (stop, stopped) = channel();
        let (say_ready, ready) = channel();
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || match prepare() {
            Ok((prepared, note)) => {
                // Nobody waits any more only if the whole start was given up.
                let _ = say_ready.send(Ok(note));
                run(prepared, &stopped);
            }
            Err(error) => {
                let _ = say_ready.send(Err(error));
            }
        });
        let thread = thread.map_err(|error| NoThread(error.to_string()))?;
        let note = ready.recv().map_err(|_| NoThread("it ended".into()))??;
        Ok((Worker { stop, thread }, note))
    }

    /// Ends the thread, after the last of what it saw is in the recording.
    pub(crate) fn end(self) {
        drop(self.stop);
        // A panic in the thread has been printed; what it recorded is there.
        let _ = self.thread.join();
    }
}

impl Running for Worker {
    fn stop(self: Box<Self>) -> Option<String> {
        self.end();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::RecvTimeoutError;
    use std::time::Duration;

    #[test]
    fn it_says_when_it_is_ready_and_works_until_it_is_stopped() {
        let (done, result) = channel();
        let prepare = || Ok::<_, String>((7, "ready"));
        let run = move |prepared: i32, stopped: &Receiver<()>| {
            while stopped.recv_timeout(Duration::from_millis(1)) == Err(RecvTimeoutError::Timeout) {}
            done.send(prepared).unwrap();
        };
        let (worker, note) = Worker::start("test", prepare, run).unwrap();
        assert_eq!((note, result.try_recv().is_err()), ("ready", true));
        worker.end();
        assert_eq!(result.recv(), Ok(7));
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
