import { describe, expect, it } from "vitest";
import { aligned, binAt, binsIn, fitInto, pan, withRoom, zoom } from "./window";

const whole = { start: 0, end: 90 };

describe("a window", () => {
  it("keeps its length when it is pushed over the edge", () => {
    expect(pan({ start: 80, end: 90 }, 0.5, whole)).toEqual({ start: 80, end: 90 });
    expect(pan({ start: 5, end: 15 }, -2, whole)).toEqual({ start: 0, end: 10 });
  });
  it("keeps what is under the pointer where it is", () => {
    const zoomed = zoom({ start: 20, end: 40 }, 0.5, whole, 25);
    expect(zoomed).toEqual({ start: 22.5, end: 32.5 });
  });
  it("never leaves the run and never shrinks to nothing", () => {
    expect(zoom({ start: 20, end: 40 }, 100, whole)).toEqual(whole);
    const least = zoom({ start: 20, end: 20.001 }, 1e-6, whole);
    expect(least.end - least.start).toBeCloseTo(0.001);
    expect(fitInto({ start: -10, end: 500 }, whole)).toEqual(whole);
  });
  it("gets room on both sides, as far as the run goes", () => {
    expect(withRoom({ start: 40, end: 50 }, whole)).toEqual({ start: 39.5, end: 50.5 });
    expect(withRoom({ start: 0, end: 90 }, whole)).toEqual(whole);
  });
});

describe("bins", () => {
  const starts = [0, 1, 2, 3, 4];
  it("in a window are those that touch it", () => {
    expect(binsIn(starts, { start: 1.5, end: 3 })).toEqual({ from: 1, to: 3 });
    expect(binsIn(starts, { start: 1, end: 2 })).toEqual({ from: 1, to: 2 });
    expect(binsIn(starts, whole)).toEqual({ from: 0, to: 5 });
    expect(binsIn([], whole)).toEqual({ from: 0, to: 0 });
  });
  it("are found by a time in them", () => {
    expect([0, 0.99, 1, 4.2].map((time) => binAt(starts, 1, time))).toEqual([0, 0, 1, 4]);
    expect(binAt(starts, 1, 20)).toBe(-1);
    expect(binAt(starts, 1, -0.1)).toBe(-1);
  });
  it("are laid onto other bins by their start", () => {
    expect(aligned([1, 3], [10, 30], starts, 0)).toEqual([0, 10, 0, 30, 0]);
    expect(aligned([1, 2], [10, 20], [1, 2], 0)).toEqual([10, 20]);
  });
});
