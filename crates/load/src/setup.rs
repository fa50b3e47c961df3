//! Steps before the first request: find nodes, create the schema, prepare statements, open connections.
//!
//! A separate thread waits for each step up to a deadline. The caller can show progress meanwhile, and a stopped load
//! ends at once, even if a node does not answer.

use crate::cut::Cut;
use crate::driver::{ContactPoints, Driver, Run, SessionThread, probe, reach};
use crate::progress::{Event, Progress};
use crate::schedule::{Phase, segments};
use crate::stalls::StallRegister;
use crate::workload::Pool;
use crate::{Cancel, DriverKind, Error, Plan};
use helenus_recording::Recorder;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

const POLL_EVERY: Duration = Duration::from_millis(50);
/// A frame has at most 256 MiB (CQL protocol, section 2.4), and set-up needs little memory. The driver crate allocates
/// whatever size a frame announces, so the growth of this process is checked instead.
const LARGEST_FRAME_BYTES: u64 = 256 << 20;
/// Memory that set-up may use besides a frame, and for each connection.
const OWN_BYTES: u64 = 128 << 20;
const CONNECTION_BYTES: u64 = 1 << 20;

/// A load that is ready to start.
#[derive(Debug)]
pub(crate) struct SetUp {
    pub run: Run,
    pub drivers: Vec<Driver>,
    pub session_thread: Option<SessionThread>,
    pub events: Vec<Event>,
}

/// Sets up a load. Returns None if it was stopped meanwhile; a node that does not answer is then abandoned.
pub(crate) fn set_up(
    plan: &Arc<Plan>,
    recorder: &Recorder,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<SetUp>, Error> {
    let (say_reached, reached) = std::sync::mpsc::channel();
    let (own, recorder, stop) = (Arc::clone(plan), recorder.clone(), cancel.clone());
    // A local error message may be long, so it is not taken for a node's answer.
    let pool = Pool::new(plan.workload.seed, &plan.workload.parameters).of_partitions(plan.partitions);
    std::thread::Builder::new()
        .name("load-setup".into())
        .spawn(move || {
            // The receiver is dropped if the run was stopped.
            let _ = say_reached.send(ready(own, pool, recorder, stop));
        })
        .map_err(|source| Error::Start { what: "the thread that sets up", source })?;
    let connections = (plan.threads * plan.connections_per_node * plan.nodes.len()) as u64;
    let most = resident_bytes() + LARGEST_FRAME_BYTES + OWN_BYTES + connections * CONNECTION_BYTES;
    loop {
        match reached.recv_timeout(POLL_EVERY) {
            Ok(ready) => return ready.map(Some),
            Err(RecvTimeoutError::Timeout) => progress(Progress::default()),
            Err(RecvTimeoutError::Disconnected) => return Err(Error::ThreadLost),
        }
        if resident_bytes() > most {
            let reason = format!(
                "it answers with a frame of more than {} MiB, which no answer to these requests has",
                LARGEST_FRAME_BYTES >> 20
            );
            return Err(Error::Session { node: plan.nodes.join(", "), reason });
        }
        if cancel.is_asked() {
            progress(Progress { events: vec![Event::Stopping], ..Progress::default() });
            return Ok(None);
        }
    }
}

/// Resident memory of this process; 0 if the kernel does not report it.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    // SAFETY: it takes no pointer, and says how large a page is.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.unwrap_or(0) * u64::try_from(page_bytes).unwrap_or(0)
}

/// The event that the first phase populates. `empty` is the table that was found empty.
fn populates(plan: &Plan, phases: &[Phase], empty: Option<String>) -> Event {
    let populate = plan.workload.populate;
    Event::Populates {
        empty,
        requests: populate.map_or(0, |populate| populate.count),
        in_flight: populate.map_or(0, |populate| populate.in_flight.max(1)),
        then: phases.get(1).map(|phase| phase.name.clone()),
    }
}

fn ready(plan: Arc<Plan>, pool: Pool, recorder: Recorder, cancel: Cancel) -> Result<SetUp, Error> {
    let ContactPoints { open, closed } = reach(&plan.nodes, plan.access.tls.as_ref())?;
    let mut events = Vec::new();
    if !closed.is_empty() {
        events.push(Event::Unreachable { reasons: closed });
    }
    let found = probe(&plan, &open)?;
    let mut phases = plan.all_phases()?;
    if let (Some(table), true) = (found.empty, plan.populate_when_empty)
        && let Some(first) = plan.populating()
    {
        if plan.shard.1 > 1 {
            return Err(Error::Empty { table });
        }
        phases.insert(0, first);
        events.push(populates(&plan, &phases, Some(table)));
    } else if plan.populate {
        events.push(populates(&plan, &phases, None));
    }
    let (phases, points) = (Arc::new(phases), Arc::new(open));
    // The session thread runs as long as the load.
    let session_thread = match plan.driven_by() {
        DriverKind::Thin => Some(SessionThread::start(&plan, &points)?),
        DriverKind::Scylla => None,
    };
    let run = Run {
        segments: Arc::new(segments(&phases)),
        phases,
        points,
        pool: Arc::new(pool),
        recorder,
        cancel,
        cut: Cut::none(),
        stall_register: StallRegister::new(i64::try_from(plan.late_bound.as_nanos()).unwrap_or(i64::MAX)),
        preparation: session_thread.as_ref().map(|session_thread| session_thread.preparation.clone()),
        plan,
    };
    let drivers: Vec<Driver> =
        (0..run.plan.threads).map(|number| Driver::start(&run, number)).collect::<Result<_, _>>()?;
    let nodes = run.points.iter().map(|point| point.ip().to_string()).collect();
    events.push(Event::Connected { nodes });
    Ok(SetUp { run, drivers, session_thread, events })
}
