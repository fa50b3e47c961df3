//! The first page: request rate, response times, and what the node and the machine are short of.

use super::app::App;
use super::chart::{bars, largest};
use super::listing::{fitted, put};
use super::pages::{clock, per_s};
use crate::terminal::{self, millis};
use helenus_explain::{LiveBy, LiveSeries, LiveWindow};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Widths of a line's name and figure, in columns.
const NAME: u16 = 15;
const FIGURE: u16 = 10;

struct Row {
    name: &'static str,
    figure: String,
    values: Vec<Option<f64>>,
    /// The value of a full bar; None for the largest of the values.
    most: Option<f64>,
    style: Style,
}

pub(super) fn draw(app: &App, window: LiveWindow, area: Rect, buffer: &mut Buffer) {
    let totals = app.live.totals(window);
    let room = area.width.saturating_sub(NAME + FIGURE + 2);
    let series = app.live.series(shown(app, window, room), usize::from(room), None);
    let below = words(app, window);
    let rows = rows(app, &totals, &series);
    let lines = u16::try_from(rows.len()).unwrap_or(0);
    let for_words = u16::try_from(below.len()).unwrap_or(0) + 1;
    let each = (area.height.saturating_sub(for_words + 1) / lines.max(1)).clamp(1, 3);
    let span = series.bin_s * series.requests_per_s.len() as f64;
    let heading = format!("the last {} s to the right, {} s a column", span.round(), series.bin_s);
    put(buffer, area.x, area.y, &fitted(&heading, area.width, true), app.paint.dim());
    let mut y = area.y + 1;
    for row in rows {
        if y + each > area.bottom() {
            break;
        }
        let text_y = y + each - 1;
        put(buffer, area.x, text_y, &fitted(row.name, NAME, false), app.paint.bold());
        put(buffer, area.x + NAME, text_y, &fitted(&row.figure, FIGURE, true), Style::new());
        let chart = Rect { x: area.x + NAME + FIGURE + 2, y, width: room, height: each };
        bars(buffer, chart, &row.values, row.most.unwrap_or_else(|| largest(&row.values)), row.style);
        y += each;
    }
    y = y.max(area.bottom().saturating_sub(for_words - 1));
    for (text, style) in below {
        put(buffer, area.x, y, &fitted(&text, area.width, false), style);
        y += 1;
    }
}

/// The window, and as much time before it as fits into the chart.
fn shown(app: &App, window: LiveWindow, room: u16) -> LiveWindow {
    let bins = (app.live.bin_s() * 1e9) as i64 * i64::from(room.saturating_sub(1).max(1));
    LiveWindow { from_ns: window.from_ns.min(window.to_ns.saturating_sub(bins)), ..window }
}

fn rows(app: &App, totals: &helenus_explain::LiveTotals, series: &LiveSeries) -> Vec<Row> {
    let paint = app.paint;
    let known = |values: &[f64]| values.iter().map(|value| Some(*value)).collect::<Vec<_>>();
    let busy = |cpu: &helenus_explain::LiveCpu| 1.0 - cpu.idle - cpu.iowait;
    let latency = totals.latency_ms;
    let last = |values: &[f64]| values.last().copied().unwrap_or_default();
    let row = |name, figure, values| Row { name, figure, values, most: None, style: paint.chart() };
    // A source that did not record has no zeros.
    let of_source = |source: &str, name, figure: String, values: &[f64]| {
        let is_recorded = totals.sources.iter().any(|one| one.source == source);
        let figure = if is_recorded { figure } else { "–".to_string() };
        Row { style: paint.warning(), ..row(name, figure, known(values)) }
    };
    let disk = |value: &dyn Fn(&helenus_explain::LiveDisk) -> f64| {
        format!("{}/s", terminal::bytes(totals.disks.iter().map(value).sum::<f64>() as u64))
    };
    vec![
        row("requests/s", per_s(totals.requests_per_s), known(&series.requests_per_s)),
        Row { style: paint.bad(), ..row("errors/s", per_s(totals.errors_per_s), known(&series.errors_per_s)) },
        row("p50 ms", millis(latency.p50), series.p50_ms.clone()),
        row("p99 ms", millis(latency.p99), series.p99_ms.clone()),
        row("max ms", millis(latency.max), series.max_ms.clone()),
        Row {
            most: Some(1.0),
            ..row(
                "CPU % busy",
                totals.cpu.map_or("–".to_string(), |cpu| format!("{:.0}", busy(&cpu) * 100.0)),
                series.cpu.iter().map(|cpu| cpu.as_ref().map(busy)).collect(),
            )
        },
        of_source("pauses", "GC ms/s", millis(Some(totals.gc_share * 1e3)), &series.gc_ms_per_s),
        of_source("pauses", "stopped ms/s", millis(Some(totals.safepoint_share * 1e3)), &series.safepoint_ms_per_s),
        of_source("pools", "pending tasks", format!("{:.0}", last(&series.pending)), &series.pending),
        row("disk read", disk(&|disk| disk.read_bytes_per_s), known(&series.read_bytes_per_s)),
        row("disk written", disk(&|disk| disk.written_bytes_per_s), known(&series.written_bytes_per_s)),
    ]
}

/// Text lines below the charts.
fn words(app: &App, window: LiveWindow) -> Vec<(String, Style)> {
    let totals = app.live.totals(window);
    let mut lines = Vec::new();
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    if let Some(cpu) = totals.cpu {
        lines.push((
            format!(
                "CPU      user {}  system {}  iowait {}  interrupts {}  steal {}  idle {}",
                percent(cpu.user),
                percent(cpu.system),
                percent(cpu.iowait),
                percent(cpu.irq),
                percent(cpu.steal),
                percent(cpu.idle)
            ),
            Style::new(),
        ));
    }
    let waits = totals.pressure.iter().map(|one| format!("{} {}", one.resource, percent(one.some_share)));
    let waits: Vec<String> = waits.collect();
    if !waits.is_empty() {
        let disk =
            totals.disks.first().map(|disk| format!("   disk {} {} busy", disk.device, percent(disk.busy_share)));
        lines.push((format!("waits    {}{}", waits.join("  "), disk.unwrap_or_default()), Style::new()));
    }
    if let Some(busiest) = app.live.traffic(window, LiveBy::Statement).rows.first() {
        let share = percent(busiest.time_share);
        lines.push((format!("most time {share} in {}", terminal::one_line(&busiest.name)), Style::new()));
    }
    if let Some(event) = totals.events.last() {
        let time = clock(event.time_s, "%H:%M:%S");
        lines.push((format!("log      {time} {}", terminal::one_line(&event.what)), Style::new()));
    }
    let lost: Vec<String> = totals
        .sources
        .iter()
        .filter(|source| source.lost > 0.0)
        .map(|source| format!("{} of {}", terminal::count(source.lost as u64), source.source))
        .collect();
    if !lost.is_empty() {
        lines.push((format!("lost     {}", lost.join(", ")), app.paint.warning()));
    }
    if totals.weight > 1.005 {
        let text = format!("sampled  each recorded request stands for {:.1}", totals.weight);
        lines.push((text, app.paint.warning()));
    }
    if let Some(found) = app.findings.found()
        && let Some(first) = found.findings.first()
    {
        let (mark, style) = app.paint.severity(first.severity.name());
        lines.push((format!("{mark} found  {} (9 shows all)", terminal::one_line(&first.title)), style));
    }
    lines
}
