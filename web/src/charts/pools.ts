import { count } from "../format";
import type { Pool, Report } from "../model";
import { LinePlot } from "./line-plot";
import { ORIGINS, whyMissing } from "./missing";
import type { PanelBody } from "./panel";
import { groupedRows } from "./rows";
import { binsIn, binWidth } from "./window";

/** Pools that were used, those with the longest queue first. */
export function busyPools(pools: readonly Pool[]): Pool[] {
  return pools
    .filter((pool) => peak(pool.active) + peak(pool.pending) + peak(pool.blocked) > 0)
    .sort((a, b) => peak(b.pending) - peak(a.pending) || peak(b.active) - peak(a.active));
}

function peak(values: readonly number[]): number {
  return values.reduce((high, value) => Math.max(high, value), 0);
}

/** The number of pools that are drawn; the others are in the table behind the chart. */
const MOST_DRAWN = 16;

export function poolsPanel(report: Report): PanelBody {
  const busy = busyPools(report.pools);
  const drawn = busy.slice(0, MOST_DRAWN);
  const idle = report.pools.length - busy.length;
  const many = new Set(busy.map(({ node }) => node)).size > 1;
  return {
    note: [
      "tasks running and waiting",
      drawn.length < busy.length &&
        `the ${drawn.length} with the longest queues of ${count(busy.length)} are drawn, all are in the table`,
      idle > 0 && `${count(idle)} more did nothing at any reading`,
    ]
      .filter(Boolean)
      .join("; "),
    plots: drawn.map((pool, index) => plotOf(pool, many, index === drawn.length - 1)),
    missing:
      busy.length === 0
        ? whyMissing(report, ORIGINS.pools, "No thread pool did anything at any reading.")
        : null,
    summary: ({ window }) =>
      busy
        .map((pool) => {
          const { from, to } = binsIn(pool.time_s, window);
          return `${pool.pool}: at most ${count(peak(pool.active.slice(from, to)))} active, ${count(peak(pool.pending.slice(from, to)))} pending.`;
        })
        .join(" "),
    rows: ({ window }) =>
      groupedRows(
        busy,
        window,
        [
          { name: "node", of: ({ node }) => node },
          { name: "pool", of: ({ pool }) => pool },
        ],
        [
          { name: "active", unit: "tasks", of: ({ active }) => active },
          { name: "pending", unit: "tasks", of: ({ pending }) => pending },
          { name: "blocked", unit: "tasks", of: ({ blocked }) => blocked },
        ],
      ),
  };
}

function plotOf(pool: Pool, many: boolean, axis: boolean): LinePlot {
  const blocked = peak(pool.blocked) > 0;
  return new LinePlot({
    title: many ? `${pool.pool} ${pool.node}` : pool.pool,
    height: 52,
    time_s: pool.time_s,
    bin_s: binWidth(pool.time_s),
    axis,
    write: count,
    series: [
      { label: "active", colour: "ok", mark: "area", values: () => pool.active },
      { label: "pending", colour: "failed", mark: "dashed", values: () => pool.pending },
      ...(blocked
        ? [{ label: "blocked", colour: "critical", mark: "line", values: () => pool.blocked } as const]
        : []),
    ],
  });
}
