import { h } from "../dom";
import { clock, digits3, milliseconds, orNothing } from "../format";
import type { LatencySeries, Report } from "../model";
import type { Store } from "../state";
import type { ColourName } from "../theme";
import type { Mark } from "./legend";
import { LinePlot } from "./line-plot";
import { whyNoLatency } from "./missing";
import type { PanelBody } from "./panel";
import type { LatencyKind, View } from "./plot";
import { binRows } from "./rows";
import { binsIn } from "./window";

/**
 * The maxima of neighbouring bins are independent of each other, so they are drawn as dots, which also hide
 * no line.
 */
const LINES: {
  field: keyof LatencySeries;
  label: string;
  colour: ColourName;
  width: number;
  mark?: Mark;
}[] = [
  { field: "max_ms", label: "max", colour: "max", width: 1, mark: "dots" },
  { field: "p999_ms", label: "p99.9", colour: "p999", width: 1.5 },
  { field: "p99_ms", label: "p99", colour: "p99", width: 2 },
  { field: "p95_ms", label: "p95", colour: "p95", width: 1.5 },
  { field: "p50_ms", label: "p50", colour: "p50", width: 1.5 },
];

export function latencyPanel(report: Report, store: Store): PanelBody {
  const { latency } = report;
  const threshold = report.slow_threshold_ms;
  const plot = new LinePlot({
    title: null,
    height: 220,
    time_s: latency.time_s,
    bin_s: latency.bin_s,
    log: true,
    axis: true,
    write: milliseconds,
    tick: digits3,
    pauses: report.pauses,
    ...(threshold > 0
      ? {
          level: {
            value: threshold,
            label: `slow: response above ${report.slow_threshold_name}, ${milliseconds(threshold)}`,
          },
        }
      : {}),
    series: LINES.map(({ field, label, colour, width, mark = "line" }) => {
      const positive = {
        response: drawable(latency.response[field]),
        service: drawable(latency.service[field]),
      };
      return { label, colour, mark, width, values: (view: View) => positive[view.latency] };
    }),
  });
  return {
    note: "ms, log scale; pauses behind",
    plots: [plot],
    missing: latency.response.max_ms.every((max) => max === null) ? whyNoLatency(report) : null,
    tools: kindSwitch(store),
    summary: (view) => summary(report, view),
    rows: ({ window, latency: kind }) =>
      binRows(
        latency.time_s,
        window,
        [...LINES]
          .reverse()
          .map(({ field, label }) => ({ name: label, unit: "ms", values: latency[kind][field] })),
      ),
  };
}

/** A log scale has no zero: times below a microsecond are drawn at a microsecond. */
function drawable(values: readonly (number | null)[]): (number | null)[] {
  return values.map((value) => (value === null ? null : Math.max(value, 1e-3)));
}

function kindSwitch(store: Store): HTMLElement {
  const kinds: { kind: LatencyKind; title: string }[] = [
    { kind: "response", title: "From the intended start: what a user waits, the time in the queue included" },
    { kind: "service", title: "From the actual start: what the server and the wire take" },
  ];
  const buttons = kinds.map(({ kind, title }) =>
    h("button", { type: "button", title, onclick: () => store.change({ latency: kind }) }, kind),
  );
  const mark = (): void => {
    buttons.forEach((button, index) => {
      button.setAttribute("aria-pressed", String(kinds[index]?.kind === store.selection.latency));
    });
  };
  store.subscribe(mark);
  mark();
  return h("span", { class: "switch", role: "group", "aria-label": "Kind of latency" }, ...buttons);
}

function summary(report: Report, { window, latency: kind, duration_s }: View): string {
  const { time_s, [kind]: series } = report.latency;
  const { from, to } = binsIn(time_s, window);
  let worst = -1;
  for (let bin = from; bin < to; bin += 1)
    if ((series.max_ms[bin] ?? -1) > (series.max_ms[worst] ?? -1)) worst = bin;
  if (worst < 0) return `No request ended in this window.`;
  const p99 = series.p99_ms.slice(from, to).filter((value) => value !== null);
  return `${kind} time in this window: p99 per bin between ${orNothing(least(p99), milliseconds)} and ${orNothing(most(p99), milliseconds)}; the slowest request took ${orNothing(series.max_ms[worst], milliseconds)} at ${clock(time_s[worst] ?? 0, 0.1, duration_s)} s.`;
}

function least(values: number[]): number | null {
  return values.reduce<number | null>((low, value) => (low === null || value < low ? value : low), null);
}

function most(values: number[]): number | null {
  return values.reduce<number | null>((high, value) => (high === null || value > high ? value : high), null);
}
