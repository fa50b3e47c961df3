import { h, jumpTo } from "../dom";
import { clock, count, digits3, NOTHING, orNothing, percent, perSecond } from "../format";
import type { Percentiles, Phase, Report } from "../model";
import type { Store } from "../state";

const PERCENTILES: { field: keyof Percentiles; label: string }[] = [
  { field: "p50", label: "p50" },
  { field: "p95", label: "p95" },
  { field: "p99", label: "p99" },
  { field: "p999", label: "p99.9" },
  { field: "max", label: "max" },
];

/**
 * A table with at most this many phases shows all of them, because the last one is often the most important.
 */
const MOST_IN_SIGHT = 60;

/** Below this share of the requested rate a phase did not keep up. */
const KEPT_UP = 0.98;

/** A row for each phase: the requested and the achieved load. */
export function phaseTable(report: Report, store: Store): HTMLElement {
  const section = h(
    "section",
    { "aria-labelledby": "phases-title" },
    h("h2", { id: "phases-title" }, "Phases"),
  );
  if (report.phases.length === 0) {
    section.append(
      h("p", { class: "missing" }, "No phases: no load with named phases ran inside of this recording."),
    );
    return section;
  }
  const group = (title: string) =>
    h("th", { scope: "colgroup", colspan: PERCENTILES.length, class: "group" }, title);
  const column = (name: string, number = true) =>
    h("th", { scope: "col", rowspan: 2, class: number ? "number" : null }, name);
  const hasRuns = report.phases.some(({ run }) => run !== null);
  const table = h(
    "table",
    { class: "phase-table" },
    h("caption", { class: "visually-hidden" }, "Figures of each phase"),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        column("Phase", false),
        hasRuns && column("Run", false),
        column("Time, s"),
        column("Asked"),
        column("Achieved"),
        column("Requests"),
        column("Errors"),
        group("Response, ms"),
        group("Service, ms"),
      ),
      h(
        "tr",
        {},
        ...[...PERCENTILES, ...PERCENTILES].map(({ label }, index) =>
          h(
            "th",
            { scope: "col", class: index % PERCENTILES.length === 0 ? "number group" : "number" },
            label,
          ),
        ),
      ),
    ),
    h("tbody", {}, ...report.phases.map((phase) => row(phase, hasRuns, report, store))),
  );
  section.append(
    h(
      "div",
      {
        class: report.phases.length > MOST_IN_SIGHT ? "scroll" : "scroll whole",
        tabindex: 0,
        role: "region",
        "aria-label": "Phases as a table",
      },
      table,
    ),
  );
  return section;
}

function row(phase: Phase, hasRuns: boolean, report: Report, store: Store): HTMLElement {
  const write = (time: number): string => clock(time, 0.1, report.duration_s);
  const zoom = h(
    "button",
    {
      type: "button",
      class: "as-link",
      title: "Zoom the charts to this phase",
      onclick: () => {
        store.change({ window: { start: phase.start_s, end: phase.end_s }, finding: null });
        jumpTo("charts");
      },
    },
    phase.name,
  );
  const behind = achievedShare(phase);
  return h(
    "tr",
    { class: phase.measured ? null : "unmeasured" },
    h("th", { scope: "row" }, zoom, !phase.measured && h("span", { class: "quiet" }, ", not judged")),
    hasRuns && h("td", {}, phase.run ?? NOTHING),
    number(`${write(phase.start_s)} – ${write(phase.end_s)}`),
    number(asked(phase)),
    h(
      "td",
      { class: "number" },
      perSecond(phase.throughput_per_s),
      behind !== null && behind < KEPT_UP && h("span", { class: "behind-asked" }, ` ▼ ${percent(behind)}`),
    ),
    number(count(phase.requests)),
    h(
      "td",
      { class: phase.errors > 0 ? "number bad" : "number" },
      phase.errors === 0
        ? "0"
        : `${count(phase.errors)} (${percent(phase.errors / Math.max(1, phase.requests))})`,
    ),
    ...latencies(phase.response_ms),
    ...latencies(phase.service_ms),
  );
}

/** "2,000/s", "2,000 → 8,000/s" for a ramp, "32 in flight". */
export function asked({ rate_per_s, end_rate_per_s, in_flight }: Phase): string {
  if (rate_per_s !== null && end_rate_per_s !== null && end_rate_per_s !== rate_per_s)
    return `${count(rate_per_s)} → ${perSecond(end_rate_per_s)}`;
  if (rate_per_s !== null) return perSecond(rate_per_s);
  return in_flight === null ? NOTHING : `${count(in_flight)} in flight`;
}

/** Achieved throughput as a share of the requested rate; null without a requested rate. */
export function achievedShare({ rate_per_s, end_rate_per_s, throughput_per_s }: Phase): number | null {
  if (rate_per_s === null) return null;
  const wanted = (rate_per_s + (end_rate_per_s ?? rate_per_s)) / 2;
  return wanted > 0 ? throughput_per_s / wanted : null;
}

function latencies(percentiles: Percentiles): HTMLElement[] {
  return PERCENTILES.map(({ field }, index) =>
    h("td", { class: index === 0 ? "number group" : "number" }, orNothing(percentiles[field], digits3)),
  );
}

function number(text: string): HTMLElement {
  return h("td", { class: "number" }, text);
}
