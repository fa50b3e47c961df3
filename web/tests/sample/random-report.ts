import type { Latency, LatencySeries, Report } from "../../src/model";
import { valveOf } from "./agent";
import { Random } from "./random";
import { emptyReport } from "./reports";
import { cpuOf, groupsOf, poolsOf, tablesOf } from "./server";

/** Longer recordings have wider bins, as in the binary. */
const MOST_BINS = 1800;
const ROWS_PER_DECADE = 12;

type Shape = (random: Random) => number;

/** Possible response times in ms, including unusual ones. */
const SHAPES: Shape[] = [
  (random) => Math.exp(1.2 * random.normal()),
  () => 1,
  () => 0.97,
  () => 0,
  (random) => 0.0001 * random.next(),
  (random) => 10 ** random.between(-3, 5),
  (random) => 12_000 + random.next(),
  (random) => (random.next() < 0.02 ? 4000 : 0.3 + 0.01 * random.next()),
];

/**
 * A random recording: long or short, dense or nearly empty, with any response times. The same seed gives the
 * same recording.
 */
export function randomReport(seed: number): Report {
  const random = new Random(seed);
  const duration_s = 10 ** random.between(-2, 4);
  const shape = SHAPES[seed % SHAPES.length] ?? SHAPES[0];
  const filled = random.next() < 0.3 ? 0.03 : random.next();
  const bin_s = Math.max(0.1, duration_s / MOST_BINS);
  const bins = Math.max(1, Math.ceil(duration_s / bin_s));
  const time_s = Array.from({ length: bins }, (_, bin) => bin * bin_s);
  // At least one bin has data.
  const kept = Math.floor(random.next() * bins);
  const full = time_s.map((_, bin) => bin === kept || random.next() < filled);
  const series = (): LatencySeries => {
    const sorted = full.map((holds) =>
      holds ? Array.from({ length: 5 }, () => shape?.(random) ?? 1).sort((a, b) => a - b) : null,
    );
    const at = (place: number) => sorted.map((values) => values?.[place] ?? null);
    return { p50_ms: at(0), p95_ms: at(1), p99_ms: at(2), p999_ms: at(3), max_ms: at(4) };
  };
  const latency: Latency = { bin_s, time_s, response: series(), service: series() };
  const rate = 10 ** random.between(0, 5);
  const failing = random.next() < 0.5 ? 0 : random.next();
  const per_s = (share: number) => full.map((holds) => (holds ? rate * share * random.next() : 0));
  const strain = () => random.next();
  const phases = Array.from({ length: Math.floor(random.next() * 8) }, (_, index) => ({
    name: `phase ${index + 1}`,
    run: null,
    start_s: (index * duration_s) / 8,
    end_s: ((index + 1) * duration_s) / 8,
    rate_per_s: random.next() < 0.5 ? null : rate,
    end_rate_per_s: null,
    in_flight: 16,
    marked: true,
    measured: index > 0,
    requests: 1,
    errors: 0,
    throughput_per_s: rate,
    service_ms: { p50: 1, p95: 1, p99: 1, p999: 1, max: 1 },
    response_ms: { p50: 1, p95: 1, p99: 1, p999: 1, max: 1 },
  }));
  const sides = [
    ["server", "gc"],
    ["server", "safepoint"],
    ["load", "stall"],
  ] as const;
  return {
    ...emptyReport(),
    title: `Random recording ${seed}`,
    duration_s,
    requests: 1 + Math.floor(rate * duration_s),
    slow_threshold_ms: random.next() < 0.3 ? 0 : (latency.response.p99_ms[kept] ?? 0),
    phases,
    throughput: {
      bin_s,
      time_s,
      intended_per_s: full.map(() => (random.next() < 0.5 ? null : rate)),
      ok_per_s: per_s(1 - failing),
      failed_per_s: per_s(failing),
    },
    latency,
    heatmap: heatmapOf(latency, random),
    cpu: [cpuOf(Math.min(duration_s, 100), strain, random)],
    groups: groupsOf(Math.min(duration_s, 100), strain, random, 2),
    pauses: Array.from({ length: Math.floor(random.next() * 40) }, () => {
      const [side, kind] = sides[Math.floor(random.next() * sides.length)] ?? sides[0];
      const duration_ms = random.next() < 0.1 ? 0 : 10 ** random.between(-2, 4);
      return { start_s: random.next() * duration_s, duration_ms, side, kind, node: "127.0.0.1", label: "" };
    }).sort((a, b) => a.start_s - b.start_s),
    pools: poolsOf(Math.min(duration_s, 100), strain, random),
    valves: [valveOf()],
    tables: tablesOf(phases, Math.min(duration_s, 100), random),
  };
}

/** The rows reach from the lowest response time to the highest, those below 10 µs together. */
function heatmapOf({ bin_s, time_s, response }: Latency, random: Random): Report["heatmap"] {
  const rowOf = (ms: number): number => Math.floor(Math.log10(Math.max(ms, 0.01)) * ROWS_PER_DECADE);
  const rows = Object.values(response).map((values: (number | null)[]) =>
    values.map((ms) => (ms === null ? null : rowOf(ms))),
  );
  const all = rows.flat().filter((row) => row !== null);
  const lowest = all.reduce((low, row) => Math.min(low, row), Number.POSITIVE_INFINITY);
  const highest = all.reduce((high, row) => Math.max(high, row), Number.NEGATIVE_INFINITY);
  const edge = (row: number): number => 10 ** ((lowest + row) / ROWS_PER_DECADE);
  const counts = new Map<string, number>();
  for (const values of rows)
    values.forEach((row, column) => {
      if (row === null) return;
      const key = `${column} ${row - lowest}`;
      counts.set(key, (counts.get(key) ?? 0) + Math.ceil(10 ** random.between(0, 4)));
    });
  const length = highest - lowest + 1;
  return {
    bin_s,
    start_s: 0,
    columns: time_s.length,
    low_ms: Array.from({ length }, (_, row) => edge(row)),
    high_ms: Array.from({ length }, (_, row) => edge(row + 1)),
    cells: [...counts].map(([key, count]) => {
      const [column = 0, row = 0] = key.split(" ").map(Number);
      return [column, row, count];
    }),
  };
}

/** Random windows from a millisecond to the whole time, ends included, as parts of a link. */
export function randomWindows(seed: number, duration_s: number, number: number): string[] {
  const random = new Random(seed);
  const windows = new Set<string>();
  while (windows.size < number) {
    const length = Math.min(duration_s, 10 ** random.between(-3, Math.max(-2, Math.log10(duration_s))));
    const start = Math.max(0, Math.min(duration_s - length, random.between(-0.2, 1.2) * duration_s));
    const kind = random.next() < 0.3 ? "&latency=service" : "";
    windows.add(`#t=${start.toFixed(6)}-${(start + length).toFixed(6)}${kind}`);
  }
  return [...windows];
}
