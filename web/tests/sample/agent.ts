import type { Probe, Valve } from "../../src/model";

/**
 * A valve that is added at 20 s, halves its limit twice, is open for four seconds, and is removed at 80 s.
 */
export function valveOf(): Valve {
  const time_s = Array.from({ length: 60 }, (_, index) => 20 + index);
  const limit = time_s.map((time) => {
    if (time >= 60 && time < 64) return null;
    return time < 30 ? 128 : time < 45 ? 64 : 32;
  });
  const wanted = time_s.map((time) => 50 + 30 * Math.sin(time / 5) + time / 2);
  const decision = (time: number, before: number | null, after: number | null, reason: string) => ({
    time_s: time,
    limit: before,
    next_limit: after,
    law: "throughput",
    reason,
  });
  return {
    node: "127.0.0.1",
    valve: "writes",
    time_s,
    limit,
    in_flight: wanted.map((one, index) => Math.min(one, limit[index] ?? one)),
    waiting: wanted.map((one, index) => Math.max(0, one - (limit[index] ?? one))),
    completed_per_s: time_s.map((time) => 2000 + 40 * time),
    wait_ms: time_s.map((time) => (time < 22 ? null : time / 8)),
    decisions: [
      decision(30, 128, 64, "64 do as much as 128"),
      decision(45.25, 64, 32, "32 do 1.08 of what 64 did"),
      decision(60, 32, null, "the lease was not renewed"),
      decision(64, null, 32, "set anew"),
    ],
    decisions_left_out: 0,
  };
}

function probeOf(name: string, calls: number, mean_us: number, own_mean_us: number): Probe {
  return {
    probe: name,
    variant: null,
    calls,
    failed: 0,
    calls_per_s: calls / 90,
    total_s: (calls * mean_us) / 1e6,
    own_s: (calls * own_mean_us) / 1e6,
    mean_us,
    own_mean_us,
    max_ms: (mean_us * 40) / 1e3,
    off_reason: null,
  };
}

const COST = "all probes cost 2.4 % of all CPUs, more than 2 %, and this had the least own time for its cost";

/** A write from the transport down to the memtable. */
export function probesOf(): Probe[] {
  return [
    { ...probeOf("commitlog.add", 350_000, 40, 36), failed: 12 },
    probeOf("memtable.put", 350_000, 18, 18),
    probeOf("storage-proxy.mutate", 350_000, 95, 12.5),
    { ...probeOf("partition-key.hash", 90_000, 0.4, 0.4), off_reason: COST },
  ];
}

/** Probes of a baseline and of a variant that waits less for the commit log and lacks one probe. */
export function probesByVariant(): Probe[] {
  const [none, valve] = ["none", "throughput valve"];
  return [
    { ...probeOf("commitlog.add", 180_000, 40, 36), variant: none },
    { ...probeOf("commitlog.add", 198_000, 30, 27), variant: valve },
    { ...probeOf("memtable.put", 180_000, 18, 18), variant: none },
    { ...probeOf("memtable.put", 198_000, 18, 18), variant: valve },
    { ...probeOf("partition-key.hash", 90_000, 0.4, 0.4), variant: none, off_reason: COST },
  ];
}
