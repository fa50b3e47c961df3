//! Runs the sources that follow the watched processes with eBPF programs, in a thread for each source.

use super::reader::ProgramReader;
use super::{PROCESSES, Programs, Rows, Unavailable, require};
use crate::Watched;
use crate::names::ThreadNames;
use crate::source::{Context, facts};
use crate::worker::Worker;

/// The name of these providers in a recording.
pub(crate) const PROVIDER: &str = "ebpf";

/// Follows the watched processes. If that is impossible, the reason is reported for each node, and nothing runs.
///
/// `load` loads the programs, attaches them to the processes, and returns the object that makes rows from their
/// records. It runs in the source's thread, because none of this may move to another thread.
pub(crate) fn follow_watched<R: Rows>(
    context: &Context<'_>,
    source: &'static str,
    note: &str,
    without: impl Fn(&Unavailable) -> String,
    load: impl FnOnce(&[u32]) -> Result<(Programs, R), Unavailable> + Send + 'static,
) -> Option<Worker> {
    let followed = followable(context, source, context.watched_with_names());
    if followed.is_empty() {
        return None;
    }
    match follow(context, source, note, followed.clone(), load) {
        Ok(worker) => Some(worker),
        Err(unavailable) => {
            for (watched, _) in followed {
                context.degrade(&watched.node, source, without(&unavailable));
            }
            None
        }
    }
}

/// Follows these processes; there must be no more than [`followable`] returns.
pub(crate) fn follow<R: Rows>(
    context: &Context<'_>,
    source: &'static str,
    note: &str,
    followed: Vec<(Watched, ThreadNames)>,
    load: impl FnOnce(&[u32]) -> Result<(Programs, R), Unavailable> + Send + 'static,
) -> Result<Worker, Unavailable> {
    require()?;
    let nodes: Vec<String> = followed.iter().map(|(watched, _)| watched.node.clone()).collect();
    let recorder = context.recorder.clone();
    let prepare = move || {
        let pids: Vec<u32> = followed.iter().map(|(watched, _)| watched.pid).collect();
        let (programs, rows) = load(&pids)?;
        Ok::<_, Unavailable>((ProgramReader::new(source, recorder, followed, programs, rows)?, ()))
    };
    let (worker, ()) = Worker::start(source, prepare, ProgramReader::run)?;
    Ok(worker.noted(context, nodes.iter().map(|node| facts(source, node, PROVIDER, note)).collect()))
}

/// The processes that can be followed: without this recorder itself, and no more than the limit. Processes that are
/// left out are reported.
pub(crate) fn followable(
    context: &Context<'_>,
    source: &'static str,
    watched: impl IntoIterator<Item = (Watched, ThreadNames)>,
) -> Vec<(Watched, ThreadNames)> {
    let others = watched.into_iter().filter(|(watched, _)| watched.pid != std::process::id());
    let mut followed: Vec<_> = others.collect();
    for (watched, _) in followed.drain(PROCESSES.min(followed.len())..) {
        context.degrade(&watched.node, source, format!("at most {PROCESSES} processes are followed at once"));
    }
    followed
}
