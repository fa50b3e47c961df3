import { count, digits3, milliseconds, perSecond, plural } from "../format";
import type { Report, Valve } from "../model";
import { LinePlot } from "./line-plot";
import type { PanelBody } from "./panel";
import { groupedRows } from "./rows";
import { mean } from "./throughput";
import { aligned, binsIn, binWidth } from "./window";

/** If a valve has no rows for more bins than this, it did not exist in that time. */
const GAP_BINS = 5;

export function valvesPanel({ valves }: Report): PanelBody {
  const many = new Set(valves.map(({ node }) => node)).size > 1;
  const told = valves.map((valve) => ({ ...valve, said: decisionsByBin(valve) }));
  const leftOut = valves.reduce((sum, { decisions_left_out }) => sum + decisions_left_out, 0);
  return {
    note: `how many were inside at once and waited, and the limit; no limit where a valve was open${
      leftOut > 0 ? `; ${plural(leftOut, "earlier decision")} not in the table` : ""
    }`,
    plots: valves.map((valve, index) => plotOf(valve, many, index === valves.length - 1)),
    missing: null,
    summary: ({ window }) =>
      valves
        .map((valve) => {
          const { time_s, decisions } = valve;
          const { from, to } = binsIn(time_s, window);
          const decided = decisions.filter((one) => one.time_s >= window.start && one.time_s <= window.end);
          return `${valve.valve}: ${limits(valve.limit.slice(from, to))}, on average ${digits3(mean(valve.in_flight, time_s, window))} inside and ${digits3(mean(valve.waiting, time_s, window))} waiting, ${plural(decided.length, "decision")}.`;
        })
        .join(" "),
    rows: ({ window }) =>
      groupedRows(
        told,
        window,
        [
          { name: "node", of: ({ node }) => node },
          { name: "valve", of: ({ valve }) => valve },
        ],
        [
          { name: "limit", unit: "count", write: count, of: ({ limit }) => limit },
          { name: "inside", unit: "count", of: ({ in_flight }) => in_flight },
          { name: "waiting", unit: "count", of: ({ waiting }) => waiting },
          { name: "completed", unit: "1/s", write: perSecond, of: (valve) => valve.completed_per_s },
          { name: "wait", unit: "ms", write: milliseconds, of: ({ wait_ms }) => wait_ms },
          { name: "decision", unit: "", of: ({ said }) => said },
        ],
      ),
  };
}

function limits(values: readonly (number | null)[]): string {
  const set = values.filter((value) => value !== null);
  if (set.length === 0) return "no limit";
  const [low, high] = [Math.min(...set), Math.max(...set)];
  return low === high ? `limit ${count(low)}` : `limit ${count(low)} to ${count(high)}`;
}

/** The decisions of each bin with their reasons; null if there was none. */
export function decisionsByBin({ time_s, decisions }: Valve): (string | null)[] {
  const said: (string | null)[] = time_s.map(() => null);
  const write = (limit: number | null): string => (limit === null ? "open" : count(limit));
  for (const { time_s: time, limit, next_limit, law, reason } of decisions) {
    // A decision falls at the end of its window, which may be past the start of the last bin.
    const bin = Math.max(
      0,
      time_s.findLastIndex((start) => start <= time),
    );
    const one = `${write(limit)} → ${write(next_limit)} (${law}): ${reason}`;
    const before = said[bin] ?? null;
    said[bin] = before === null ? one : `${before}; ${one}`;
  }
  return said;
}

/** With an empty bin at the start of each gap, so that no line is drawn over it. */
export function withGaps(time_s: readonly number[], bin_s: number): number[] {
  return time_s.flatMap((start, index) => {
    const next = time_s[index + 1];
    return next !== undefined && next - start > GAP_BINS * bin_s ? [start, start + bin_s] : [start];
  });
}

function plotOf(valve: Valve, many: boolean, axis: boolean): LinePlot {
  const bin_s = binWidth(valve.time_s);
  const time_s = withGaps(valve.time_s, bin_s);
  const on = (values: readonly (number | null)[]) => {
    const shown = aligned(valve.time_s, values, time_s, null);
    return () => shown;
  };
  return new LinePlot({
    title: many ? `${valve.valve} ${valve.node}` : valve.valve,
    height: 64,
    time_s,
    bin_s,
    axis,
    // A limit is written as a whole number, a mean with decimals.
    write: (value) => (Number.isInteger(value) ? count(value) : digits3(value)),
    series: [
      { label: "inside", colour: "ok", mark: "area", values: on(valve.in_flight) },
      { label: "waiting", colour: "failed", mark: "dashed", values: on(valve.waiting) },
      { label: "limit", colour: "accent", mark: "line", values: on(valve.limit) },
    ],
  });
}
