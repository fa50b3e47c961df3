//! The thread that takes what the programs of a source tell, until it is told to end.

use super::Missing;
use libbpf_rs::RingBuffer;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two looks at the ring buffer: each wakes a thread on a machine that has other things to do.
const READ_EVERY: Duration = Duration::from_millis(100);
/// Where more records come than that, so that the buffer holds what comes in many looks.
const READ_EVERY_IF_MANY: Duration = Duration::from_millis(20);
const MANY_PER_S: f64 = 25_000.0;
/// Rows go to the recording in sorted batches, which take less room in it the longer they are.
const APPEND_EVERY: Duration = Duration::from_millis(200);
const APPEND_AT_ROWS: usize = 1 << 17;
/// How often a reader says what it captured, lost and cost; and how often sums are taken.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// Records that are taken at once, so that the end of the recording is noticed even when they come faster.
pub(crate) const RECORDS_AT_ONCE: usize = 1 << 16;

/// Makes rows of what programs tell.
pub(crate) trait Reader {
    /// Takes the programs off; what they have written is still read.
    fn detach(&mut self);

    /// Writes the rows that wait, if there are more than that.
    fn append(&mut self, at_least: usize);

    /// Takes sums and reports, for the time since it was called last.
    fn each_second(&mut self, interval: Duration, ring: &RingBuffer<'_>);
}

/// A reader that runs in a thread of its own.
#[derive(Debug)]
pub(crate) struct Reading {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Reading {
    /// Makes the reader in the thread that it stays in, as its names are shared without locks.
    pub(crate) fn start<R: Reader>(
        source: &'static str,
        make: impl FnOnce() -> Result<(R, RingBuffer<'static>), Missing> + Send + 'static,
    ) -> Result<Reading, Missing> {
        let (stop, stopped) = channel();
        let (say_ready, ready) = channel();
        let no_thread = |error: &dyn std::fmt::Display| {
            Missing::new(
                format!("the reader could not start: {error}"),
                "look for limits on threads and memory (ulimit -a)",
            )
        };
        let thread = std::thread::Builder::new().name(source.into()).spawn(move || match make() {
            Ok((reader, ring)) => {
                // Nobody waits any more only if the whole start was given up.
                let _ = say_ready.send(Ok(()));
                read(reader, &ring, &stopped);
            }
            Err(missing) => {
                let _ = say_ready.send(Err(missing));
            }
        });
        let thread = thread.map_err(|error| no_thread(&error))?;
        ready.recv().map_err(|_| no_thread(&"it ended"))??;
        Ok(Reading { stop, thread })
    }

    /// Takes the programs off, after the last of what they saw is in the recording.
    pub(crate) fn stop(self) {
        drop(self.stop);
        // A panic in the reader has been printed; what it recorded is there.
        let _ = self.thread.join();
    }
}

fn read(mut reader: impl Reader, ring: &RingBuffer<'_>, stopped: &Receiver<()>) {
    let (mut looked, mut appended, mut reported) = (Instant::now(), Instant::now(), Instant::now());
    let mut wait = READ_EVERY_IF_MANY;
    loop {
        let going_on = stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
        if !going_on {
            reader.detach();
        }
        let elapsed = std::mem::replace(&mut looked, Instant::now()).elapsed();
        let mut taken = 0;
        loop {
            let taken_now = ring.consume_raw_n(RECORDS_AT_ONCE);
            if taken_now <= 0 {
                break;
            }
            taken += taken_now;
            reader.append(APPEND_AT_ROWS);
            if going_on && appended.elapsed() >= REPORT_EVERY {
                break;
            }
        }
        let are_many = f64::from(taken) > MANY_PER_S * elapsed.as_secs_f64();
        wait = if are_many { READ_EVERY_IF_MANY } else { READ_EVERY };
        if !going_on || appended.elapsed() >= APPEND_EVERY {
            appended = Instant::now();
            reader.append(0);
        }
        if !going_on || reported.elapsed() >= REPORT_EVERY {
            let interval = reported.elapsed();
            reported = Instant::now();
            reader.each_second(interval, ring);
        }
        if !going_on {
            return;
        }
    }
}
