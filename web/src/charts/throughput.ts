import { perSecond } from "../format";
import type { Report } from "../model";
import { LinePlot, type Values } from "./line-plot";
import { ORIGINS, whyMissing } from "./missing";
import type { PanelBody } from "./panel";
import { binRows } from "./rows";
import { binsIn, type Window } from "./window";

export function throughputPanel(report: Report): PanelBody {
  const { time_s, bin_s, intended_per_s, ok_per_s, failed_per_s } = report.throughput;
  const none = report.requests === 0;
  // In a closed loop, and on the wire, there is no intended rate.
  const hasIntended = intended_per_s.some((value) => value !== null);
  const plot = new LinePlot({
    title: null,
    height: 150,
    time_s,
    bin_s,
    stepped: true,
    merged: true,
    axis: true,
    write: perSecond,
    series: [
      { label: "achieved", colour: "ok", mark: "area", width: 1.5, values: () => ok_per_s },
      ...(hasIntended
        ? [{ label: "intended", colour: "intended", mark: "dashed", values: () => intended_per_s } as const]
        : []),
      {
        label: "failed",
        colour: "failed",
        mark: "line",
        width: 2,
        values: () => failed_per_s,
        drawn: withoutRest,
      },
    ],
  });
  return {
    note: `requests per second: ${hasIntended ? "asked for, " : ""}answered well, failed`,
    plots: [plot],
    missing: none ? whyMissing(report, ORIGINS.requests, "No request was sent in this recording.") : null,
    summary: ({ window }) =>
      `Achieved ${perSecond(mean(ok_per_s, time_s, window))} on average in this window, failed ${perSecond(mean(failed_per_s, time_s, window))}${hasIntended ? `, intended ${perSecond(mean(intended_per_s, time_s, window))}` : ""}.`,
    rows: ({ window }) =>
      binRows(time_s, window, [
        ...(hasIntended ? [{ name: "intended", unit: "1/s", values: intended_per_s }] : []),
        { name: "achieved", unit: "1/s", values: ok_per_s },
        { name: "failed", unit: "1/s", values: failed_per_s },
      ]),
  };
}

/** Drops zeros next to other zeros, because a red line along the whole axis would look like a problem. */
export function withoutRest(values: Values): Values {
  const some = (index: number): boolean => (values[index] ?? 0) > 0;
  return values.map((value, index) => (some(index - 1) || some(index) || some(index + 1) ? value : null));
}

/** Mean over the non-empty bins in a window; bins are equally wide. */
export function mean(values: readonly (number | null)[], time_s: readonly number[], window: Window): number {
  const { from, to } = binsIn(time_s, window);
  let sum = 0;
  let bins = 0;
  for (let i = from; i < to; i += 1) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    sum += value;
    bins += 1;
  }
  return bins === 0 ? 0 : sum / bins;
}
