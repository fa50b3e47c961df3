import type { LatencyKind } from "../../src/charts/plot";
import type { Heatmap, Latency, LatencySeries, Percentiles, Phase, Throughput } from "../../src/model";
import type { Run } from "./run";

const QUANTILES: [keyof Percentiles, number][] = [
  ["p50", 0.5],
  ["p95", 0.95],
  ["p99", 0.99],
  ["p999", 0.999],
  ["max", 1],
];

/** Nearest rank on sorted values. */
export function percentiles(sorted: ArrayLike<number>): Percentiles {
  const found: Percentiles = { p50: null, p95: null, p99: null, p999: null, max: null };
  for (const [name, quantile] of QUANTILES)
    if (sorted.length > 0) found[name] = sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)] ?? null;
  return found;
}

function latency_ms(run: Run, kind: LatencyKind, request: number): number {
  const from = kind === "response" ? run.intended : run.started;
  return ((run.ended[request] ?? 0) - (from[request] ?? 0)) * 1000;
}

/** Times of the bins that cover a run. */
export function binStarts(duration_s: number, bin_s: number): number[] {
  return Array.from({ length: Math.ceil(duration_s / bin_s - 1e-9) }, (_, index) => index * bin_s);
}

export function throughputOf(run: Run, bin_s: number): Throughput {
  const time_s = binStarts(run.duration_s, bin_s);
  const intended = new Array<number>(time_s.length).fill(0);
  const ok = new Array<number>(time_s.length).fill(0);
  const failed = new Array<number>(time_s.length).fill(0);
  const add = (bins: number[], time: number): void => {
    const bin = Math.floor(time / bin_s);
    if (bin < bins.length) bins[bin] = (bins[bin] ?? 0) + 1 / bin_s;
  };
  run.intended.forEach((time, request) => {
    add(intended, time);
    add(run.failed[request] ? failed : ok, run.ended[request] ?? 0);
  });
  return { bin_s, time_s, intended_per_s: intended, ok_per_s: ok, failed_per_s: failed };
}

export function latencyOf(run: Run, bin_s: number): Latency {
  const time_s = binStarts(run.duration_s, bin_s);
  const series = (kind: LatencyKind): LatencySeries => {
    const bins: number[][] = time_s.map(() => []);
    run.ended.forEach((end, request) => {
      bins[Math.floor(end / bin_s)]?.push(latency_ms(run, kind, request));
    });
    const found = bins.map((bin) => percentiles(Float64Array.from(bin).sort()));
    return {
      p50_ms: found.map(({ p50 }) => p50),
      p95_ms: found.map(({ p95 }) => p95),
      p99_ms: found.map(({ p99 }) => p99),
      p999_ms: found.map(({ p999 }) => p999),
      max_ms: found.map(({ max }) => max),
    };
  };
  return { bin_s, time_s, response: series("response"), service: series("service") };
}

const ROWS = 100;
const LOWEST_MS = 0.05;
const HIGHEST_MS = 20000;

export function heatmapOf(run: Run, columns: number): Heatmap {
  const bin_s = run.duration_s / columns;
  const step = Math.log(HIGHEST_MS / LOWEST_MS) / ROWS;
  const low_ms = Array.from({ length: ROWS }, (_, row) => LOWEST_MS * Math.exp(step * row));
  const high_ms = Array.from({ length: ROWS }, (_, row) => LOWEST_MS * Math.exp(step * (row + 1)));
  const counts = new Uint32Array(columns * ROWS);
  run.ended.forEach((end, request) => {
    const column = Math.floor(end / bin_s);
    if (column >= columns) return;
    const row = Math.floor(Math.log(latency_ms(run, "response", request) / LOWEST_MS) / step);
    const cell = column * ROWS + Math.min(ROWS - 1, Math.max(0, row));
    counts[cell] = (counts[cell] ?? 0) + 1;
  });
  const cells: Heatmap["cells"] = [];
  counts.forEach((count, cell) => {
    if (count > 0) cells.push([Math.floor(cell / ROWS), cell % ROWS, count]);
  });
  return { bin_s, start_s: 0, columns, low_ms, high_ms, cells };
}

export function phasesOf(run: Run): Phase[] {
  let start_s = 0;
  let first = 0;
  return run.steps.map((step) => {
    const end_s = start_s + step.seconds;
    const last = first + Math.round(step.seconds * step.rate_per_s);
    const requests = Math.max(0, Math.min(last, run.intended.length) - first);
    const sorted = (kind: LatencyKind) =>
      Float64Array.from({ length: requests }, (_, index) => latency_ms(run, kind, first + index)).sort();
    const ended = run.ended.filter(
      (end, request) => end >= start_s && end < end_s && !run.failed[request],
    ).length;
    const phase: Phase = {
      name: step.name,
      run: null,
      start_s,
      end_s,
      rate_per_s: step.rate_per_s,
      end_rate_per_s: null,
      in_flight: null,
      marked: true,
      measured: step.measured,
      requests,
      errors: run.failed.slice(first, first + requests).reduce((sum, one) => sum + one, 0),
      throughput_per_s: ended / step.seconds,
      service_ms: percentiles(sorted("service")),
      response_ms: percentiles(sorted("response")),
    };
    start_s = end_s;
    first = last;
    return phase;
  });
}

export function responseTimes(run: Run): Float64Array {
  return Float64Array.from({ length: run.intended.length }, (_, request) =>
    latency_ms(run, "response", request),
  );
}
