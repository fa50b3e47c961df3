//! The evidence: everything that the findings are derived from, loaded and computed once.

mod attribution;
mod cause;
mod chosen;
mod common;
mod counted;
mod coverage;
mod crowding;
mod disk_time;
mod events;
mod governed;
mod in_node;
mod kind;
mod late;
mod machine;
mod origin;
mod pools;
mod shortage;
mod stops;

pub(crate) use attribution::Account;
pub(crate) use cause::{Blamed, Cause, EXCESS_BOUND, Standing, StopTotals};
pub(crate) use common::{Common, Dimension, Shared};
pub(crate) use counted::{Counted, CountedGroup, not_counted};
pub(crate) use coverage::{Coverage, is_serious};
pub(crate) use crowding::Crowding;
pub(crate) use disk_time::DiskTime;
pub(crate) use events::Event;
pub(crate) use governed::{Governed, Metered};
pub(crate) use kind::CauseKind;
pub(crate) use late::LateAnswers;
pub use machine::Usage;
pub(crate) use machine::{BUSY_IDLE_SHARE, Machine};
pub(crate) use origin::{Origin, Sides, Split};
pub use pools::FullPool;
pub(crate) use pools::Pools;
pub(crate) use shortage::{Consumer, Shortage, SlowDisk, WORTH_NAMING_CPUS};
pub(crate) use stops::{LONG_STOP_NS, STOPPED, Stop, Stops, times};

use crate::Error;
use crate::advice::{Advice, advise};
use crate::anatomy::{Change, Knee, Limit, Phase, changes};
use crate::association::{Judged, Place};
use crate::engine::{Engine, Provider};
use crate::io::Io;
use crate::options::{Options, SlowThreshold};
use crate::percentiles::{Percentiles, quantile_of_sorted};
use crate::query::{self, Query, Value};
use crate::requests::{Request, Requests};
use crate::timeline::{Interval, merge};
use crate::workloads;
use chosen::{Chosen, Selection};
use std::collections::BTreeMap;
use std::rc::Rc;

/// With fewer requests than this, the set of slow ones is imprecise: at p99 it has ten.
pub(crate) const FEW_REQUESTS: usize = 1000;

/// Which requests are judged, and which of them are slow.
#[derive(Debug)]
pub(crate) struct Basis {
    /// All requests of the recording.
    pub(crate) recorded: Rc<Requests>,
    /// The requests that the user chose.
    pub(crate) requests: Rc<Requests>,
    selection: Option<Selection>,
    pub(crate) phases: Vec<Phase>,
    pub(crate) knee: Option<Knee>,
    pub(crate) judged: Judged,
    pub(crate) judges_overload: bool,
    pub(crate) baseline: Option<Percentiles>,
}

#[derive(Debug)]
pub(crate) struct Evidence {
    /// All requests of the recording.
    pub(crate) recorded_requests: Rc<Requests>,
    /// The requests that the user chose; all of them without a selection.
    pub(crate) requests: Rc<Requests>,
    selection: Option<Selection>,
    pub(crate) phases: Vec<Phase>,
    pub(crate) knee: Option<Knee>,
    /// The resource that limits the overloaded phases; None if no phase is overloaded.
    pub(crate) limit: Option<Limit>,
    pub(crate) judged: Judged,
    /// Whether overloaded phases are judged because there are no other phases.
    pub(crate) judges_overload: bool,
    pub(crate) machine: Machine,
    pub(crate) stops: Stops,
    pub(crate) pools: Pools,
    pub(crate) shortage: Shortage,
    pub(crate) coverage: Coverage,
    /// Reads and writes of files; empty if no system calls were recorded.
    pub(crate) io: Rc<Io>,
    /// Where the time of requests went; None if no request was recorded on the wire.
    pub(crate) origin: Option<Origin>,
    /// Hardware counters; None if they were not recorded.
    pub(crate) counted: Option<Counted>,
    /// A loss of throughput by too many requests in flight; None if there is none.
    pub(crate) crowding: Option<Crowding>,
    pub(crate) governed: Vec<Governed>,
    /// The metered methods, those with the most own time first.
    pub(crate) metered: Vec<Metered>,
    /// The advice of the rules for tables and nodes; empty where no table was recorded.
    pub(crate) advised: Vec<Advice>,
    /// The statement that each operation sends, from the workload.
    statements: BTreeMap<String, String>,
    /// The causes, in the order of precedence.
    pub(crate) causes: Vec<Cause>,
    /// Values that the slow requests share.
    pub(crate) common: Common,
    /// Whether the requests with these values wait for a disk.
    pub(crate) disk_time: Option<DiskTime>,
    pub(crate) provider: Provider,
    /// Answers that came after the clients had probably given up, by driver.
    pub(crate) late_answers: Vec<LateAnswers>,
    /// The slow requests that are attributed to no cause.
    pub(crate) account: Account,
    /// When rate and latency changed, the largest change first.
    pub(crate) changes: Vec<Change>,
    pub(crate) events: Vec<Event>,
    /// Percentiles of the window that the user gave as the baseline.
    pub(crate) baseline: Option<Percentiles>,
    /// The interval in which the load was recorded.
    pub(crate) span: Interval,
    /// The whole recorded interval.
    pub(crate) recorded: Interval,
    /// The interval that the user asked about; None for the whole recording.
    asked: Option<Interval>,
}

impl Basis {
    pub(crate) fn load(engine: &Engine, options: &Options) -> Result<Basis, Error> {
        let recorded = Requests::of(engine)?;
        let mut phases = Phase::load(engine, &recorded)?;
        if let Some(window) = options.window.map(interval) {
            phases.retain(|phase| phase.window().overlaps(window));
        }
        let knee = Knee::find(&mut phases);
        let (windows, judges_overload) = judged_windows(&phases);
        let windows = match options.window.map(interval) {
            Some(wanted) => {
                windows.iter().map(|window| window.clip(wanted)).filter(|window| window.length() > 0).collect()
            }
            None => windows,
        };
        let Chosen { requests, selection } = Chosen::load(engine, &recorded, &options.only)?;
        let bounded_by = options.against.map(|against| vec![interval(against)]);
        if let (Some(good), false) = (&bounded_by, options.only.is_all())
            && good.iter().all(|window| requests.due_in(*window).is_empty())
        {
            return Err(Error::Nothing("none of these requests were due in the time given as --against".to_string()));
        }
        let mut judged = judge(&requests, &windows, bounded_by.as_deref().unwrap_or(&windows), &options.threshold);
        if let Some(selection) = &selection {
            judged.judge_only(selection.of_driver.clone());
        }
        let baseline = bounded_by.map(|good| Percentiles::of(&mut responses(&requests, &good)));
        Ok(Basis { recorded, requests, selection, phases, knee, judged, judges_overload, baseline })
    }
}

impl Evidence {
    pub(crate) fn load(engine: &Engine, options: &Options, basis: Basis) -> Result<Evidence, Error> {
        let Basis { recorded, requests, selection, phases, mut knee, mut judged, judges_overload, baseline } = basis;
        let machine = Machine::load(engine)?;
        let shortage = Shortage::load(engine)?;
        let stops = Stops::load(engine)?.apart(&shortage, &machine.scarce());
        let mut pools = Pools::load(engine, &recorded)?;
        let limit = Limit::find(engine, &phases, &machine, &stops, &pools)?;
        if let Some(knee) = &mut knee {
            knee.limit.clone_from(&limit);
        }
        if let Some(selection) = &selection {
            pools.keep_waits_of(&selection.rows);
        }
        let coverage = Coverage::load(engine, machine.gaps())?;
        let io = if coverage.has("system calls") { Io::of(engine)? } else { Rc::default() };
        // Recordings of the wire alone have no driver's side to compare with.
        let has_both_sides = coverage.has("wire") && engine.provider() == Provider::Load;
        let origin = match (has_both_sides, judged.hull()) {
            (true, Some(hull)) => {
                tell_places(engine, &mut judged, hull)?;
                Origin::load(engine, &judged, hull)?
            }
            _ => None,
        };
        let counted = Counted::load(engine, &judged)?;
        let runs = baseline_runs(engine)?;
        let crowding = Crowding::find(&recorded, &phases, runs.as_deref());
        let span = recorded.span().unwrap_or_else(|| of_manifests(engine));
        let busy = busy(&machine, &shortage, &judged);
        let statements = workloads::statements(engine.manifests());
        let mut common = Common::find(&judged, &statements, options.shifts, options.seed);
        common.name_partitions(engine, &judged)?;
        common.name_large_answers(&recorded, &judged);
        judged.set_usual(|request| common.usual_ns(request));
        let mut causes = Cause::all(&judged, &stops, &machine, (&pools, &shortage), busy.clone(), options);
        let account = attribution::attribute(
            &judged,
            &stops,
            &mut causes,
            attribution::Throughout { busy: &busy, slow_disk: &shortage.disk_times(), pools: &pools },
            judges_overload,
            &common,
        );
        let (changes, events) = (changes(&judged), Event::load(engine, &machine)?);
        let span_of_all = engine.span()?;
        let late_answers = late::late_answers(engine, &judged)?;
        let disk_time = DiskTime::find(&judged, &common, &shortage);
        Ok(Evidence {
            recorded_requests: recorded,
            requests,
            selection,
            phases,
            knee,
            limit,
            judged,
            judges_overload,
            machine,
            stops,
            pools,
            shortage,
            io,
            origin,
            counted,
            crowding,
            governed: Governed::load(engine)?,
            metered: Metered::load(engine)?,
            advised: match coverage.has("table_stats") || coverage.has("settings") {
                true => advise(engine, None)?.advice,
                false => Vec::new(),
            },
            statements,
            changes,
            events,
            baseline,
            disk_time,
            common,
            provider: engine.provider(),
            late_answers,
            causes,
            account,
            recorded: span_of_all,
            asked: options.window.map(interval),
            span,
            coverage,
        })
    }

    /// From the start of the first judged stretch to the end of the last; the whole recording when nothing is judged.
    pub(crate) fn judged_hull(&self) -> Interval {
        self.judged.hull().unwrap_or(self.span)
    }

    /// Whether the user asked about a part of the recording.
    pub(crate) fn asks_for_part(&self) -> bool {
        self.asked.is_some()
    }

    /// Whether only some requests are judged, such as those of a statement.
    pub(crate) fn judges_part(&self) -> bool {
        self.selection.is_some()
    }

    /// The user's choice of requests, as the rest of a sentence.
    pub(crate) fn chosen_words(&self) -> Option<&str> {
        self.selection.as_ref().map(|selection| selection.words.as_str())
    }

    /// The interval that the user asked about, or all that was recorded.
    pub(crate) fn asked_or_recorded(&self) -> Interval {
        self.asked.map_or(self.recorded, |asked| asked.clip(self.recorded))
    }

    /// Whether a time is in the interval that the user asked about.
    pub(crate) fn is_asked(&self, time_ns: i64) -> bool {
        self.asked.is_none_or(|asked| asked.contains(time_ns))
    }

    pub(crate) fn cause(&self, kind: CauseKind) -> Option<&Cause> {
        self.causes.iter().find(|cause| cause.kind == kind)
    }

    /// The statement text of an operation; None if the recording does not have the workload.
    pub(crate) fn statement(&self, operation: &str) -> Option<&str> {
        self.statements.get(operation).map(String::as_str)
    }

    /// A query about the slow requests of the judged time, as a user can paste it.
    pub(crate) fn ask(&self, query: &Query) -> String {
        self.ask_with(query, &[])
    }

    pub(crate) fn ask_with(&self, query: &Query, more: &[(&str, Value<'_>)]) -> String {
        let sql = self.filled(query, more);
        match &self.selection {
            Some(selection) => selection.of_query(&sql),
            None => sql,
        }
    }

    /// A query about the requests of all clients, whatever the user chose.
    pub(crate) fn ask_about_all(&self, query: &Query) -> String {
        self.filled(query, &[])
    }

    fn filled(&self, query: &Query, more: &[(&str, Value<'_>)]) -> String {
        let (hull, due) = (self.judged_hull(), self.judged.due());
        let mut values = more.to_vec();
        values.extend([
            ("judged", Value::Condition(&due)),
            ("threshold_ns", Value::Integer(self.judged.threshold_ns)),
            ("start_ns", Value::Integer(hull.start)),
            ("end_ns", Value::Integer(hull.end)),
        ]);
        query.fill(&values)
    }
}

/// The measured phases that kept up; if none did, all measured phases; without phases, the whole time.
fn judged_windows(phases: &[Phase]) -> (Vec<Interval>, bool) {
    let windows = |wanted: &dyn Fn(&Phase) -> bool| -> Vec<Interval> {
        let mut windows: Vec<Interval> =
            phases.iter().filter(|phase| wanted(phase) && phase.requests > 0).map(Phase::window).collect();
        windows.sort_unstable();
        // Phases follow each other. If some overlap (several recordings at once), they are merged into one stretch.
        if windows.windows(2).any(|pair| pair[1].start < pair[0].end) { merge(windows) } else { windows }
    };
    let kept_up = windows(&|phase| phase.measured && !phase.overloaded);
    if !kept_up.is_empty() {
        return (kept_up, false);
    }
    let measured = windows(&|phase| phase.measured);
    if !measured.is_empty() {
        return (measured, true);
    }
    (windows(&|_| true), phases.iter().any(|phase| phase.overloaded))
}

/// When threads of the nodes or of the load driver waited for CPUs while the CPUs were nearly all busy or partly used
/// by other processes.
fn busy(machine: &Machine, shortage: &Shortage, judged: &Judged) -> Vec<Interval> {
    let windows: Vec<Interval> = judged.stretches.iter().map(|stretch| stretch.window).collect();
    let others: f64 = shortage.others(&windows).iter().map(|other| other.cpus).sum();
    let mut busy = machine.busy();
    if others >= WORTH_NAMING_CPUS {
        busy.extend(shortage.contended(|window| machine.holds_up(window)));
    }
    merge(busy)
}

fn interval((start, end): (i64, i64)) -> Interval {
    Interval { start, end }
}

fn responses(requests: &Requests, windows: &[Interval]) -> Vec<i64> {
    let due = windows.iter().flat_map(|window| requests.due_in(*window));
    due.filter(|request| requests.is_timed(request)).map(Request::response_ns).collect()
}

/// Judges the requests that were due in `windows`. The threshold for slow is taken from the requests that were due in
/// `bounded_by`.
fn judge(requests: &Rc<Requests>, windows: &[Interval], bounded_by: &[Interval], threshold: &SlowThreshold) -> Judged {
    let mut responses = responses(requests, bounded_by);
    responses.sort_unstable();
    let median_ns = quantile_of_sorted(&responses, 0.5).unwrap_or_default();
    let threshold_ns = match threshold {
        SlowThreshold::Quantile(quantile) => quantile_of_sorted(&responses, *quantile).unwrap_or_default(),
        SlowThreshold::Time(ns) => *ns,
    };
    Judged::new(requests, windows, threshold_ns, median_ns)
}

/// Sets for each slow request the place where most of its excess over the median was spent, if the wire shows it.
fn tell_places(engine: &Engine, judged: &mut Judged, hull: Interval) -> Result<(), Error> {
    let seen = origin::times_of_slow(engine, judged, hull)?;
    judged.tell_places(|due, answered, excess_ns| {
        let times = seen.get(&(due, answered))?;
        if times.in_node_ns.saturating_mul(2) >= excess_ns {
            Some(Place::Node)
        } else {
            (times.between_ns.saturating_mul(2) >= excess_ns).then_some(Place::Between)
        }
    });
    Ok(())
}

/// The runs of the baseline variant of an experiment; None for recordings without variants.
fn baseline_runs(engine: &Engine) -> Result<Option<Vec<Interval>>, Error> {
    let rows = engine.sql(&query::VARIANT_RUNS.fill(&[]))?;
    let (kinds, names) = (rows.texts("kind")?, rows.texts("name")?);
    let (starts, ends) = (rows.integers("start_ns")?, rows.integers("end_ns")?);
    let Some(baseline) = (0..rows.rows()).find(|row| kinds[*row] == "baseline") else { return Ok(None) };
    let is_of_it = |row: &usize| kinds[*row] == "variant" && names[*row] == names[baseline];
    Ok(Some((0..rows.rows()).filter(is_of_it).map(|row| Interval { start: starts[row], end: ends[row] }).collect()))
}

fn of_manifests(engine: &Engine) -> Interval {
    let start = engine.manifests().iter().map(|manifest| manifest.created_ns).min().unwrap_or_default();
    let end = engine.manifests().iter().filter_map(helenus_recording::Manifest::end_ns).max().unwrap_or(start);
    Interval { start, end: end.max(start + 1) }
}
