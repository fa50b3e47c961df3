import type { Pause } from "../../src/model";
import { Random } from "./random";

export interface Step {
  name: string;
  seconds: number;
  rate_per_s: number;
  measured: boolean;
}

export interface Run {
  steps: Step[];
  duration_s: number;
  pauses: Pause[];
  /** Columns, one entry per request, in seconds; sorted by intended start. */
  intended: Float64Array;
  started: Float64Array;
  ended: Float64Array;
  failed: Uint8Array;
}

const MOST_IN_FLIGHT = 512;
const TIMEOUT_S = 2;

/**
 * Simulates a load of fixed rates on one queue that serves `capacity_per_s` and stops during pauses of the server. The
 * driver keeps at most MOST_IN_FLIGHT requests open and stops during its own stalls.
 */
export function simulate(steps: Step[], capacity_per_s: number, seed: number): Run {
  const random = new Random(seed);
  const duration_s = steps.reduce((sum, step) => sum + step.seconds, 0);
  const pauses = pausesOf(steps, random);
  const serverStops = pauses.filter(({ side, kind }) => side === "server" && kind !== "safepoint");
  const loadStops = pauses.filter(({ side }) => side === "load");
  const total = Math.round(steps.reduce((sum, step) => sum + step.seconds * step.rate_per_s, 0));
  const intended = new Float64Array(total);
  const started = new Float64Array(total);
  const ended = new Float64Array(total);
  const failed = new Uint8Array(total);

  let request = 0;
  let phase_s = 0;
  let free_s = 0;
  let server = 0;
  let load = 0;
  for (const step of steps) {
    const requests = Math.round(step.seconds * step.rate_per_s);
    for (let i = 0; i < requests && request < total; i += 1, request += 1) {
      const wanted = phase_s + i / step.rate_per_s;
      const slot = request >= MOST_IN_FLIGHT ? (ended[request - MOST_IN_FLIGHT] ?? 0) : 0;
      let start = Math.max(wanted, slot);
      while (load < loadStops.length && endOf(loadStops[load]) < start) load += 1;
      start = afterStop(start, loadStops[load]);
      free_s = Math.max(free_s, start) + random.between(0.6, 1.4) / capacity_per_s;
      while (server < serverStops.length && endOf(serverStops[server]) < free_s) server += 1;
      free_s = afterStop(free_s, serverStops[server]);
      const queue_s = free_s - start;
      const own =
        0.5 * queue_s * random.next() +
        0.0006 * Math.exp(0.45 * random.normal()) * (random.next() < 0.002 ? random.between(4, 30) : 1);
      const end = free_s + own;
      const lost = end - start > TIMEOUT_S || random.next() < 0.00001;
      intended[request] = wanted;
      started[request] = start;
      ended[request] = lost ? Math.min(end, start + TIMEOUT_S) : end;
      failed[request] = lost ? 1 : 0;
    }
    phase_s += step.seconds;
  }
  return { steps, duration_s, pauses, intended, started, ended, failed };
}

function endOf(pause: Pause | undefined): number {
  return pause ? pause.start_s + pause.duration_ms / 1000 : Number.POSITIVE_INFINITY;
}

function afterStop(time: number, pause: Pause | undefined): number {
  return pause && time >= pause.start_s && time < endOf(pause) ? endOf(pause) : time;
}

/** Young collections that grow with the load, a full one at two thirds, safepoints, and one stall of the driver. */
function pausesOf(steps: Step[], random: Random): Pause[] {
  const pauses: Pause[] = [];
  const node = "127.0.0.1";
  const duration_s = steps.reduce((sum, step) => sum + step.seconds, 0);
  const heaviest = Math.max(...steps.map(({ rate_per_s }) => rate_per_s));
  let begin = 0;
  for (const step of steps) {
    const strain = step.rate_per_s / heaviest;
    for (let t = begin; t < begin + step.seconds; ) {
      t += random.between(0.6, 1.4) * (1.8 / Math.max(0.1, strain));
      const young_ms = random.between(6, 18) + 90 * strain ** 4 * random.next();
      const start_s = Math.min(t, begin + step.seconds);
      const before = random.between(520, 610);
      pauses.push({
        start_s,
        duration_ms: young_ms,
        side: "server",
        kind: "gc",
        node,
        label: `G1New, G1 Evacuation Pause, heap ${before.toFixed(0)} → ${random.between(180, 330).toFixed(0)} MiB`,
      });
      pauses.push({
        start_s: start_s - 0.0002,
        duration_ms: young_ms + random.between(0.2, 1.1),
        side: "server",
        kind: "safepoint",
        node,
        label: "G1CollectForAllocation, 0.2 ms to the safepoint",
      });
    }
    begin += step.seconds;
  }
  pauses.push({
    start_s: duration_s * 0.66,
    duration_ms: 740,
    side: "server",
    kind: "gc",
    node,
    label: "G1Full, Allocation Failure, heap 1,010 → 402 MiB",
  });
  pauses.push({
    start_s: duration_s * 0.43,
    duration_ms: 1000,
    side: "load",
    kind: "stall",
    node: "",
    label: "a sleeping thread woke 1,000 ms late",
  });
  pauses.push({
    start_s: duration_s * 0.431,
    duration_ms: 12,
    side: "recorder",
    kind: "stall",
    node: "",
    label: "",
  });
  return pauses.sort((a, b) => a.start_s - b.start_s);
}
