import { describe, expect, it } from "vitest";
import type { Phase } from "../model";
import { achievedShare, asked } from "./phases";

describe("a phase", () => {
  const phase = (rate_per_s: number | null, end_rate_per_s: number | null, in_flight: number | null) =>
    ({ rate_per_s, end_rate_per_s, in_flight, throughput_per_s: 900 }) as Phase;
  it("says what was asked of it", () => {
    expect(asked(phase(2000, null, null))).toBe("2,000/s");
    expect(asked(phase(2000, 8000, null))).toBe("2,000 → 8,000/s");
    expect(asked(phase(null, null, 32))).toBe("32 in flight");
    expect(asked(phase(null, null, null))).toBe("–");
  });
  it("is measured against the mean of a ramp, and against nothing in closed loop", () => {
    expect(achievedShare(phase(1000, null, null))).toBe(0.9);
    expect(achievedShare(phase(600, 1200, null))).toBe(1);
    expect(achievedShare(phase(null, null, 32))).toBeNull();
  });
});
