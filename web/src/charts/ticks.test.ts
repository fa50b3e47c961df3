import { describe, expect, it } from "vitest";
import { linearTicks, logLimits, logTicks, niceAbove, niceBelow, timeTicks } from "./ticks";

describe("ticks", () => {
  it("of time are decimal below a minute and clock-like above", () => {
    expect(timeTicks(0, 90, 10).ticks).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(timeTicks(0, 600, 10).step).toBe(60);
    expect(timeTicks(0, 3600, 8).step).toBe(600);
    expect(timeTicks(12.5, 13.1, 6).ticks.map((tick) => tick.toFixed(1))).toEqual([
      "12.5",
      "12.6",
      "12.7",
      "12.8",
      "12.9",
      "13.0",
      "13.1",
    ]);
    expect(timeTicks(5, 5, 6).ticks).toEqual([]);
  });
  it("of values have one above 0 at least", () => {
    for (const max of [0.004, 1.06, 4.24, 37, 6200]) expect(linearTicks(max, 2).at(-1)).toBeGreaterThan(0);
    expect(linearTicks(6200, 5)).toEqual([0, 2000, 4000, 6000]);
    expect(linearTicks(0, 5)).toEqual([0]);
  });
  it("of latencies are decades, with 2 and 5 where there is room", () => {
    expect(logTicks(0.1, 1000, 6)).toEqual([0.1, 1, 10, 100, 1000].map((tick) => expect.closeTo(tick, 6)));
    expect(logTicks(1, 20, 6)).toEqual([1, 2, 5, 10, 20]);
  });
  it("of a log axis are none where its limits are none", () => {
    for (const [min, max] of [
      [0, 10],
      [-1, 1],
      [Number.NaN, 1],
      [1, Number.POSITIVE_INFINITY],
    ] as const)
      expect(logTicks(min, max, 6)).toEqual([]);
  });
  it("of a log axis lie between limits that are positive and a decade apart, whatever is shown", () => {
    const values = [
      null,
      Number.NaN,
      -3,
      0,
      5e-324,
      1e-9,
      0.001,
      0.97,
      1,
      1.0001,
      740,
      1e9,
      1e308,
      Number.POSITIVE_INFINITY,
    ];
    for (const low of values) {
      for (const high of values) {
        const [bottom, top] = logLimits(low, high);
        expect(bottom, `${low} to ${high}`).toBeGreaterThan(0);
        expect(top / bottom, `${low} to ${high}`).toBeGreaterThan(9.99);
        expect(logTicks(bottom, top, 6).length, `${low} to ${high}`).toBeGreaterThan(0);
      }
    }
    expect(logLimits(0.3, 740)).toEqual([expect.closeTo(0.2, 9), 1000]);
    expect(logLimits(1, 1)).toEqual([expect.closeTo(0.2, 9), 2]);
    expect(logLimits(null, null)).toEqual([0.1, 10]);
  });
  it("end an axis at round numbers", () => {
    expect([1, 1.1, 2.1, 740].map(niceAbove)).toEqual([1, 2, 5, 1000]);
    expect([1, 1.9, 4.9, 740].map(niceBelow)).toEqual([1, 1, 2, 500]);
  });
});
