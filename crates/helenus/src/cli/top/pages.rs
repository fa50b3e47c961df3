//! The pages, and the lists that they show.

use super::app::{App, Below};
use super::listing::{Column, Line, ListState, Listing, column, extra, line, maybe, node_column, number, rest, text};
use crate::terminal::{self, millis};
use helenus_explain::{LiveBy, LiveSlow, LiveTrafficRow, LiveWindow};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Page {
    Overview,
    Statements,
    Clients,
    Threads,
    Pools,
    Tables,
    Files,
    Pauses,
    Findings,
    Slowest,
    Spectrogram,
}

/// The pages, each with its key, its name, and its name on a narrow terminal.
pub(super) const PAGES: [(Page, char, &str, &str); 11] = [
    (Page::Overview, '1', "overview", "main"),
    (Page::Statements, '2', "statements", "stmts"),
    (Page::Clients, '3', "clients", "clients"),
    (Page::Threads, '4', "threads", "threads"),
    (Page::Pools, '5', "pools", "pools"),
    (Page::Tables, '6', "tables", "tables"),
    (Page::Files, '7', "files", "files"),
    (Page::Pauses, '8', "pauses", "pauses"),
    (Page::Findings, '9', "findings", "finds"),
    (Page::Slowest, '0', "slowest", "slow"),
    (Page::Spectrogram, 's', "spectrogram", "spec"),
];

/// The number of requests in the list of the slowest.
const MOST_SLOW: usize = 100;
/// How long after a stretch of time the requests that overlapped it are searched for.
const LONGEST_AFTER_S: f64 = 30.0;

impl Page {
    pub(super) fn of_key(key: char) -> Option<Page> {
        PAGES.iter().find(|(_, own, _, _)| *own == key).map(|(page, ..)| *page)
    }

    pub(super) fn next(self, by: isize) -> Page {
        let now = PAGES.iter().position(|(page, ..)| *page == self).unwrap_or(0);
        let next = (now + PAGES.len()).saturating_add_signed(by) % PAGES.len();
        PAGES[next].0
    }

    /// The column that the list is sorted by at first.
    pub(super) fn default_state(self) -> ListState {
        let sort = match self {
            Page::Statements | Page::Clients => Some(2),
            Page::Threads => Some(1),
            Page::Pauses => Some(1),
            Page::Slowest => Some(1),
            _ => None,
        };
        ListState { sort, ..ListState::default() }
    }
}

/// The list of the page, or of the opened line.
pub(super) fn listing(app: &App) -> Option<Listing> {
    let window = app.window()?;
    match app.below.last() {
        Some(Below::Statement(name)) => Some(slowest(app, window, Some((LiveBy::Statement, name.as_str())))),
        Some(Below::Client(name)) => Some(slowest(app, window, Some((LiveBy::Client, name.as_str())))),
        Some(Below::Stretch(_, from_s, to_s)) => Some(met(app, *from_s, *to_s)),
        Some(Below::Slow(slow)) => Some(overlaps(app, slow)),
        Some(Below::Finding(_)) => None,
        None => match app.page {
            Page::Overview | Page::Spectrogram => None,
            Page::Statements => Some(statements(app, window)),
            Page::Clients => Some(clients(app, window)),
            Page::Threads => Some(threads(app, window)),
            Page::Pools => Some(pools(app, window)),
            Page::Tables => Some(tables(app, window)),
            Page::Files => Some(files(app, window)),
            Page::Pauses => Some(pauses(app, window)),
            Page::Findings => Some(findings(app)),
            Page::Slowest => Some(slowest(app, window, None)),
        },
    }
}

const NO_REQUESTS: &str = "No request was recorded in this window. Requests are recorded as root, or with the agent in the node; \
                           + makes the window longer.";

/// The columns of requests, from the second one on.
fn of_requests(first: Column) -> Vec<Column> {
    vec![
        first,
        column("calls/s", 8),
        column("time %", 6),
        column("p50 ms", 7),
        column("p99 ms", 7),
        column("max ms", 7),
        column("errors", 6),
        extra("p99.9 ms", 8),
        extra("in flight", 9),
        extra("rows", 6),
        extra("answer", 9),
        extra("calls", 9),
    ]
}

fn cells(row: &LiveTrafficRow, name: String) -> Vec<super::listing::Cell> {
    let ms = |value: Option<f64>| maybe(value, |value| millis(Some(value)));
    let each = |sum: f64| Some(sum / row.requests).filter(|_| row.requests > 0.0);
    vec![
        text(name),
        number(row.requests_per_s, per_s(row.requests_per_s)),
        number(row.time_share, format!("{:.1}", row.time_share * 100.0)),
        ms(row.latency_ms.p50),
        ms(row.latency_ms.p99),
        ms(row.latency_ms.max),
        number(row.errors, if row.errors > 0.0 { terminal::count(row.errors.round() as u64) } else { "–".to_string() }),
        ms(row.latency_ms.p999),
        number(row.in_flight, format!("{:.2}", row.in_flight)),
        maybe(each(row.rows_returned), |rows| format!("{rows:.1}")),
        maybe(each(row.response_bytes), |bytes| terminal::bytes(bytes as u64)),
        number(row.requests, terminal::count(row.requests.round() as u64)),
    ]
}

fn statements(app: &App, window: LiveWindow) -> Listing {
    let rows = app.live.traffic(window, LiveBy::Statement).rows;
    let lines = rows.iter().map(|row| line(cells(row, row.name.clone()), Some(Below::Statement(row.name.clone()))));
    Listing { columns: of_requests(rest("statement")), lines: lines.collect(), nothing: NO_REQUESTS }
}

fn clients(app: &App, window: LiveWindow) -> Listing {
    let rows = app.live.traffic(window, LiveBy::Client).rows;
    let name = |row: &LiveTrafficRow| if row.name.is_empty() { "load driver".to_string() } else { row.name.clone() };
    let lines = rows.iter().map(|row| line(cells(row, name(row)), Some(Below::Client(row.name.clone()))));
    Listing { columns: of_requests(rest("client")), lines: lines.collect(), nothing: NO_REQUESTS }
}

fn threads(app: &App, window: LiveWindow) -> Listing {
    let columns = vec![
        rest("thread group"),
        column("CPU %", 7),
        column("wait %", 7),
        column("moves/s", 8),
        column("switches/s", 10),
        column("preempted/s", 11),
    ];
    let groups = app.live.groups(window);
    let lines = groups.iter().map(|group| {
        let name = if group.process == "load" { format!("{} (load)", group.group) } else { group.group.clone() };
        let cells = vec![
            text(name),
            number(group.cpus, format!("{:.1}", group.cpus * 100.0)),
            number(group.waiting_cpus, format!("{:.1}", group.waiting_cpus * 100.0)),
            number(group.migrations_per_s, per_s(group.migrations_per_s)),
            number(group.voluntary_switches_per_s, per_s(group.voluntary_switches_per_s)),
            number(group.involuntary_switches_per_s, per_s(group.involuntary_switches_per_s)),
        ];
        line(cells, None)
    });
    Listing { columns, lines: lines.collect(), nothing: "No thread was recorded in this window." }
}

fn pools(app: &App, window: LiveWindow) -> Listing {
    let columns = vec![
        rest("pool"),
        column("active", 6),
        column("of", 5),
        column("pending", 7),
        column("most pend.", 10),
        column("done/s", 9),
        column("blocked", 7),
        node_column(is_ring(app, window)),
    ];
    let dropped = app.live.dropped(window);
    let lines = app.live.pools(window).into_iter().map(|pool| {
        let mut shown = line(
            vec![
                text(pool.pool),
                whole(pool.active),
                maybe(pool.max_size.map(|size| size as f64), |size| format!("{size:.0}")),
                whole(pool.pending),
                whole(pool.most_pending),
                maybe(pool.completed_per_s, per_s),
                whole(pool.newly_blocked),
                text(pool.node),
            ],
            None,
        );
        shown.style = (pool.most_pending > 0).then(|| app.paint.warning());
        shown
    });
    let dropped = dropped.into_iter().map(|one| {
        let name = format!("dropped {}", one.message);
        let empty = || text("");
        let count = number(one.dropped as f64, terminal::count(one.dropped.unsigned_abs()));
        let cells = vec![text(name), empty(), empty(), empty(), empty(), empty(), count, text(one.node)];
        Line { style: Some(app.paint.bad()), ..line(cells, None) }
    });
    let lines = dropped.chain(lines).collect();
    Listing { columns, lines, nothing: "No thread pool was recorded in this window. The agent in the node reads them." }
}

fn tables(app: &App, window: LiveWindow) -> Listing {
    let columns = vec![
        rest("table"),
        column("reads/s", 7),
        column("writes/s", 8),
        column("read µs", 7),
        column("write µs", 8),
        column("SSTables", 8),
        column("pending", 7),
        extra("compacting", 10),
        extra("on disk", 9),
        extra("memtable", 9),
        extra("SST/read", 8),
        extra("tombst.", 8),
        node_column(is_ring(app, window)),
    ];
    let bytes =
        |value: Option<i64>| maybe(value.map(|bytes| bytes as f64), |bytes| terminal::bytes(bytes.max(0.0) as u64));
    let lines = app.live.tables(window).into_iter().map(|table| {
        let running = table.running_compactions.filter(|running| *running > 0).map(|running| running as f64);
        let cells = vec![
            text(table.table),
            maybe(table.reads_per_s, per_s),
            maybe(table.writes_per_s, per_s),
            maybe(table.local_read_us, |us| format!("{us:.0}")),
            maybe(table.local_write_us, |us| format!("{us:.0}")),
            maybe(table.sstables.map(|count| count as f64), |count| format!("{count:.0}")),
            maybe(table.pending_compactions.map(|count| count as f64), |count| format!("{count:.0}")),
            maybe(running, |running| match table.compacted_share {
                Some(share) => format!("{running:.0}, {:.0} %", share * 100.0),
                None => format!("{running:.0}"),
            }),
            bytes(table.live_disk_bytes),
            bytes(table.memtable_bytes),
            maybe(table.sstables_per_read_p95, |count| format!("{count:.1}")),
            maybe(table.tombstones_per_slice_p95, |count| format!("{count:.0}")),
            text(table.node),
        ];
        line(cells, None)
    });
    let nothing = "No table was recorded in this window. The agent in the node reads them.";
    Listing { columns, lines: lines.collect(), nothing }
}

fn files(app: &App, window: LiveWindow) -> Listing {
    let columns = vec![
        rest("file"),
        column("ms/s", 7),
        column("reads/s", 8),
        column("read/s", 9),
        column("writes/s", 8),
        column("written/s", 9),
        extra("others/s", 8),
        extra("from disk/s", 11),
        extra("faults/s", 8),
    ];
    let bytes = |value: f64| number(value, terminal::bytes(value as u64));
    let lines = app.live.files(window).into_iter().map(|file| {
        let name = if file.file.is_empty() { "(file without a name)".to_string() } else { file.file };
        let cells = vec![
            text(tail_of(&name)),
            number(file.ms_per_s, format!("{:.1}", file.ms_per_s)),
            number(file.reads_per_s, per_s(file.reads_per_s)),
            bytes(file.read_bytes_per_s),
            number(file.writes_per_s, per_s(file.writes_per_s)),
            bytes(file.written_bytes_per_s),
            number(file.others_per_s, per_s(file.others_per_s)),
            bytes(file.from_disk_bytes_per_s),
            number(file.major_faults_per_s, per_s(file.major_faults_per_s)),
        ];
        line(cells, None)
    });
    let nothing = "No file was recorded in this window. As root, helenus top --files records system calls by file; for a recording, \
                   helenus record --syscalls summary.";
    Listing { columns, lines: lines.collect(), nothing }
}

/// The last three names of a path, which are more specific than the first.
fn tail_of(path: &str) -> String {
    let mut names = path.rsplitn(4, '/');
    let last: Vec<&str> = names.by_ref().take(3).collect();
    match names.next() {
        Some(_) => format!("…/{}", last.into_iter().rev().collect::<Vec<_>>().join("/")),
        None => path.to_string(),
    }
}

fn pauses(app: &App, window: LiveWindow) -> Listing {
    let columns = vec![
        column("began", 12),
        column("ms", 8),
        column("kind", 12),
        rest("what"),
        extra("cause", 28),
        extra("heap before", 11),
        extra("after", 9),
        node_column(is_ring(app, window)),
    ];
    let bytes = |value: Option<i64>| maybe(value.map(|bytes| bytes as f64), |bytes| terminal::bytes(bytes as u64));
    let lines = app.live.pauses(window).into_iter().map(|pause| {
        let told = format!("{} {}", pause.kind, pause.what);
        let below = Below::Stretch(told, pause.start_s, pause.start_s + pause.duration_ms / 1e3);
        let cells = vec![
            number(pause.start_s, clock_ms(pause.start_s)),
            number(pause.duration_ms, millis(Some(pause.duration_ms))),
            text(pause.kind),
            text(pause.what),
            text(pause.cause),
            bytes(pause.heap_before_bytes),
            bytes(pause.heap_after_bytes),
            text(pause.node),
        ];
        line(cells, Some(below))
    });
    Listing { columns, lines: lines.collect(), nothing: "No pause was recorded in this window." }
}

fn findings(app: &App) -> Listing {
    let columns = vec![column("severity", 13), rest("finding")];
    let found = app.findings.found();
    let lines = found.iter().flat_map(|found| &found.findings).map(|finding| {
        let (mark, style) = app.paint.severity(finding.severity.name());
        let cells = vec![text(format!("{mark} {}", finding.severity.name())), text(finding.title.clone())];
        Line { style: Some(style), ..line(cells, Some(Below::Finding(Box::new(finding.clone())))) }
    });
    Listing { columns, lines: lines.collect(), nothing: app.findings.nothing() }
}

fn of_slow(is_ring: bool) -> Vec<Column> {
    vec![
        column("began", 12),
        column("ms", 8),
        rest("statement"),
        column("client", 21),
        extra("outcome", 13),
        extra("rows", 6),
        extra("answer", 9),
        node_column(is_ring),
    ]
}

/// Whether there are several nodes, whose lines have to be told apart.
fn is_ring(app: &App, window: LiveWindow) -> bool {
    app.live.node_names(window).len() > 1
}

fn slowest(app: &App, window: LiveWindow, of: Option<(LiveBy, &str)>) -> Listing {
    listed(app, app.live.slowest(window, of, MOST_SLOW), is_ring(app, window), NO_REQUESTS)
}

/// The slowest requests that were under way in a stretch of time. Each is kept with the bin in which it was answered.
fn met(app: &App, from_s: f64, to_s: f64) -> Listing {
    let edge = |second: f64| (second * 1e9) as i64;
    let bin_s = app.live.bin_s();
    let window = LiveWindow::of_all(edge((from_s / bin_s).floor() * bin_s), edge(to_s + LONGEST_AFTER_S));
    let met = |slow: &LiveSlow| slow.start_s <= to_s && slow.start_s + slow.duration_ms / 1e3 >= from_s;
    let mut requests = app.live.slowest(window, None, usize::MAX);
    requests.retain(met);
    requests.truncate(MOST_SLOW);
    listed(app, requests, is_ring(app, window), "No request that is kept was under way.")
}

fn listed(app: &App, requests: Vec<LiveSlow>, is_ring: bool, nothing: &'static str) -> Listing {
    let lines = requests.into_iter().map(|slow| {
        let cells = vec![
            number(slow.start_s, clock_ms(slow.start_s)),
            number(slow.duration_ms, millis(Some(slow.duration_ms))),
            text(slow.statement.clone()),
            text(client_of(&slow)),
            text(slow.outcome.clone()),
            maybe(slow.rows_returned.map(|rows| rows as f64), |rows| format!("{rows:.0}")),
            maybe(slow.response_bytes.map(|bytes| bytes as f64), |bytes| terminal::bytes(bytes as u64)),
            text(slow.node.clone()),
        ];
        let style = (slow.outcome != "ok").then(|| app.paint.bad());
        Line { style, ..line(cells, Some(Below::Slow(slow))) }
    });
    Listing { columns: of_slow(is_ring), lines: lines.collect(), nothing }
}

pub(super) fn client_of(slow: &LiveSlow) -> String {
    if slow.client.is_empty() { "load driver".to_string() } else { format!("{}:{}", slow.client, slow.client_port) }
}

fn overlaps(app: &App, slow: &LiveSlow) -> Listing {
    let columns =
        vec![column("overlap ms", 10), column("began", 12), column("lasted ms", 9), rest("what went on meanwhile")];
    let lines = app.live.overlaps(slow).into_iter().map(|overlap| {
        let is_moment = overlap.duration_ms == 0.0;
        let ms = |value: f64| maybe(Some(value).filter(|_| !is_moment), |value| millis(Some(value)));
        let cells = vec![
            ms(overlap.overlap_ms),
            number(overlap.start_s, clock_ms(overlap.start_s)),
            ms(overlap.duration_ms),
            text(overlap.what),
        ];
        line(cells, None)
    });
    let nothing = "Nothing that is kept overlapped it: no pause, stall, full CPU, busy disk, waiting pool, compaction or event of the log.";
    Listing { columns, lines: lines.collect(), nothing }
}

fn whole(value: i64) -> super::listing::Cell {
    number(value as f64, terminal::count(value.unsigned_abs()))
}

/// A rate with a sensible number of digits.
pub(super) fn per_s(rate: f64) -> String {
    match rate {
        0.0 => "0".to_string(),
        rate if rate < 9.95 => format!("{rate:.1}"),
        rate => terminal::count(rate.round() as u64),
    }
}

/// The time of day.
pub(super) fn clock(second: f64, format: &str) -> String {
    let time = chrono::DateTime::from_timestamp_nanos((second * 1e9) as i64).with_timezone(&chrono::Local);
    time.format(format).to_string()
}

fn clock_ms(second: f64) -> String {
    clock(second, "%H:%M:%S%.3f")
}
