import { describe, expect, it } from "vitest";
import type { Valve } from "../model";
import { decisionsByBin, withGaps } from "./valves";

describe("valves", () => {
  const decision = (time_s: number, limit: number | null, next_limit: number | null) => ({
    time_s,
    limit,
    next_limit,
    law: "throughput",
    reason: "as much with fewer",
  });

  it("say in the bin of a decision what was decided, and why", () => {
    const valve = {
      time_s: [1, 2, 3],
      decisions: [
        decision(0.9, 1200, 32),
        decision(2.25, 32, 24),
        decision(2.5, 24, 16),
        decision(4.1, 16, null),
      ],
    } as Valve;
    expect(decisionsByBin(valve)).toEqual([
      "1,200 → 32 (throughput): as much with fewer",
      "32 → 24 (throughput): as much with fewer; 24 → 16 (throughput): as much with fewer",
      "16 → open (throughput): as much with fewer",
    ]);
    expect(decisionsByBin({ ...valve, decisions: [] })).toEqual([null, null, null]);
  });

  it("draw no line over the time in which they were not there", () => {
    expect(withGaps([0, 1, 2, 4, 20, 21], 1)).toEqual([0, 1, 2, 4, 5, 20, 21]);
    expect(withGaps([7], 0)).toEqual([7]);
    expect(withGaps([], 0)).toEqual([]);
  });
});
