//! Growing recordings: a thread follows each of them, and keeps the figures of the last minutes.

use crate::search::{Pause, Search};
use anyhow::{Context, Result, bail};
use helenus_explain::{Live, LiveBy, LiveFindings, LiveView, LiveWindow};
use helenus_recording::Tail;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often new rows are read.
const EACH: Duration = Duration::from_millis(250);
/// A recording that no page has requested in this time is not followed any more.
const IDLE: Duration = Duration::from_secs(120);
/// The most recordings that are followed at the same time.
const MOST: usize = 16;
/// The last 15 minutes of a recording are kept in memory; following begins with them.
const KEPT_NS: i64 = 900_000_000_000;
const SLOWEST: usize = 100;
const BINS: usize = 300;
/// The findings are those of this many seconds.
const FOUND_S: u32 = 60;
/// The next search comes soon if the p99 has changed by this factor.
const OTHER_TIMES: f64 = 2.0;
/// The newest second of a recording that is read up to now is younger than this.
const BEHIND_NS: i64 = 5_000_000_000;
const BETWEEN_SEARCHES: Pause = Pause { least: Duration::from_secs(10), times: 99, most: Duration::from_secs(120) };

/// The recordings that are followed, by name.
#[derive(Debug, Default)]
pub(super) struct Followed(Mutex<HashMap<String, Arc<Follower>>>);

#[derive(Debug)]
pub(super) struct Follower {
    path: PathBuf,
    live: Mutex<Live>,
    searched: Mutex<Searched>,
    is_growing: AtomicBool,
    asked: Mutex<Instant>,
    /// Why it is not followed any more.
    failed: Mutex<Option<String>>,
}

/// The part that a page asks for: the last `seconds` until `until_s`, by default until the newest row. `node` and `of` limit it to
/// a node, and to the requests of a statement or client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) seconds: u32,
    pub(super) until_s: Option<f64>,
    pub(super) node: Option<&'a str>,
    pub(super) of: Option<(LiveBy, &'a str)>,
}

impl Part<'_> {
    fn last(seconds: u32) -> Part<'static> {
        Part { seconds, until_s: None, node: None, of: None }
    }
}

/// The search for findings, which all pages share.
#[derive(Debug, Default)]
struct Searched {
    search: Search,
    found: Option<LiveFindings>,
    /// The p99 when the last search began, in ms.
    p99_ms: Option<f64>,
}

fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

impl Followed {
    /// Returns the follower of a recording; starts one if there is none.
    pub(super) fn of(&self, name: &str, path: &Path) -> Result<Arc<Follower>> {
        let mut known = open(&self.0);
        known.retain(|_, follower| open(&follower.asked).elapsed() < IDLE);
        if let Some(follower) = known.get(name) {
            *open(&follower.asked) = Instant::now();
            return Ok(Arc::clone(follower));
        }
        if known.len() >= MOST {
            bail!("{MOST} recordings are followed already; close the pages of some");
        }
        let tail = Tail::open(path, now_ns().saturating_sub(KEPT_NS))?;
        let follower = Arc::new(Follower {
            path: path.to_path_buf(),
            live: Mutex::default(),
            searched: Mutex::default(),
            is_growing: AtomicBool::new(tail.is_growing()),
            asked: Mutex::new(Instant::now()),
            failed: Mutex::default(),
        });
        let of_thread = Arc::clone(&follower);
        let thread = std::thread::Builder::new().name("follower".into()).spawn(move || of_thread.follow(tail));
        thread.context("cannot start the thread that follows a recording")?;
        known.insert(name.to_string(), Arc::clone(&follower));
        Ok(follower)
    }
}

impl Follower {
    /// Reads until the recorder has ended or no page has asked for a while.
    fn follow(&self, mut tail: Tail) {
        while open(&self.asked).elapsed() < IDLE {
            // Checked before reading the rows, so that the last rows are read.
            let is_growing = tail.is_growing();
            if let Err(error) = self.read(&mut tail) {
                *open(&self.failed) = Some(error.to_string());
                return;
            }
            if !is_growing {
                open(&self.live).end();
                self.is_growing.store(false, Ordering::Relaxed);
                return;
            }
            std::thread::sleep(EACH);
        }
    }

    fn read(&self, tail: &mut Tail) -> Result<()> {
        // The figures are free for pages between two batches.
        Ok(tail.follow(Live::TABLES, |table, batch| open(&self.live).take(table, batch))?)
    }

    /// The part that was asked for, within what is kept in memory. None if nothing was recorded yet: figures come with the
    /// second second.
    fn window(&self, live: &Live, part: &Part<'_>) -> Result<Option<LiveWindow>> {
        if let Some(why) = &*open(&self.failed) {
            bail!("the recording cannot be followed: {why}");
        }
        let Some(kept) = live.kept() else { return Ok(None) };
        let to_ns = part.until_s.map_or(kept.to_ns, |until| (until * 1e9) as i64).clamp(kept.from_ns + 1, kept.to_ns);
        let from_ns = to_ns.saturating_sub(i64::from(part.seconds) * 1_000_000_000).max(kept.from_ns);
        let all = LiveWindow::of_all(from_ns, to_ns);
        let Some(node) = part.node else { return Ok(Some(all)) };
        match live.of_node(all, node) {
            Some(of_node) => Ok(Some(of_node)),
            None => bail!("nothing was recorded of a node {node} in the last minutes"),
        }
    }

    /// The figures of a window; None if nothing was recorded yet.
    pub(super) fn view(&self, part: &Part<'_>) -> Result<Option<LiveView>> {
        let live = open(&self.live);
        let Some(window) = self.window(&live, part)? else { return Ok(None) };
        let kept = live.kept().unwrap_or(window);
        Ok(Some(LiveView {
            kept_from_s: kept.from_s(),
            kept_to_s: kept.to_s(),
            is_growing: self.is_growing.load(Ordering::Relaxed),
            behind_s: now_ns().saturating_sub(kept.to_ns) as f64 / 1e9,
            totals: live.totals_of(window, part.of),
            series: live.series(window, BINS, part.of),
            heat: live.heat(window, BINS, part.of),
        }))
    }

    /// The latest findings; None before the first search has ended. Begins the next search if it is due.
    pub(super) fn findings(&self) -> Result<Option<LiveFindings>> {
        let live = open(&self.live);
        let Some(window) = self.window(&live, &Part::last(FOUND_S))? else { return Ok(None) };
        let p99_ms = live.totals(window).latency_ms.p99;
        drop(live);
        let mut searched = open(&self.searched);
        match searched.search.result() {
            Some(Ok(found)) => searched.found = Some(found),
            Some(Err(error)) => {
                let found = searched.found.get_or_insert_with(|| LiveFindings::nothing(window));
                found.error = format!("{error:#}");
            }
            None => {}
        }
        let is_new = |found: &LiveFindings| found.to_s < window.to_s();
        // The first findings may be those of a few seconds.
        let is_longer = |found: &LiveFindings| window.to_s() - window.from_s() >= 2.0 * (found.to_s - found.from_s);
        let is_other = match (searched.p99_ms, p99_ms) {
            (Some(before), Some(now)) => now >= OTHER_TIMES * before || before >= OTHER_TIMES * now,
            (before, now) => before.is_some() != now.is_some(),
        };
        let pause = match is_other || searched.found.as_ref().is_some_and(is_longer) {
            true => Pause { times: 0, ..BETWEEN_SEARCHES },
            false => BETWEEN_SEARCHES,
        };
        // Until the rows of the last minutes are read, the newest of them are old.
        let is_read = now_ns().saturating_sub(window.to_ns) < BEHIND_NS || !self.is_growing.load(Ordering::Relaxed);
        if is_read && searched.search.is_due(pause) && searched.found.as_ref().is_none_or(is_new) {
            searched.p99_ms = p99_ms;
            searched.search.begin(self.path.clone(), window);
        }
        Ok(searched.found.clone())
    }

    /// A table of figures as JSON; null if nothing was recorded yet.
    pub(super) fn table(&self, of: &str, part: &Part<'_>) -> Result<String> {
        let live = open(&self.live);
        // A page of one node lists the others too.
        let part = &Part { node: part.node.filter(|_| of != "nodes"), ..*part };
        let Some(window) = self.window(&live, part)? else { return Ok("null".to_string()) };
        let json = match of {
            "statements" => serde_json::to_string(&live.traffic(window, LiveBy::Statement)),
            "clients" => serde_json::to_string(&live.traffic(window, LiveBy::Client)),
            "nodes" => serde_json::to_string(&live.nodes(window)),
            "slowest" => serde_json::to_string(&live.slowest(window, part.of, SLOWEST)),
            "groups" => serde_json::to_string(&live.groups(window)),
            "pools" => serde_json::to_string(&live.pools(window)),
            "tables" => serde_json::to_string(&live.tables(window)),
            "files" => serde_json::to_string(&live.files(window)),
            "pauses" => serde_json::to_string(&live.pauses(window)),
            "valves" => serde_json::to_string(&live.valves(window)),
            other => bail!("there is no live table `{other}`"),
        };
        Ok(json?)
    }
}
