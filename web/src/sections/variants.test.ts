import { expect, test } from "vitest";
import type { Ratio } from "../model";
import { placeOf, widestOf } from "./variants";

test("ratios lie evenly in the logarithm, and 1 in the middle", () => {
  expect(placeOf(1, 2)).toBe(0.5);
  expect(placeOf(2, 2)).toBe(1);
  expect(placeOf(0.5, 2)).toBe(0);
  expect(placeOf(10, 100)).toBeCloseTo(0.75);
  expect(placeOf(2, 5) - placeOf(1, 5)).toBeCloseTo(placeOf(1, 5) - placeOf(0.5, 5));
  expect(placeOf(100, 2)).toBe(1);
  expect(placeOf(0, 2)).toBe(0);
});

test("bars reach as far as the ratios and their intervals", () => {
  const of = (...ratios: Partial<Ratio>[]) => [
    { metrics: ratios.map((ratio) => ({ ratio: null, low: null, high: null, ...ratio }) as Ratio) },
  ];
  expect(widestOf([])).toBe(2);
  expect(widestOf(of({ ratio: 1.1, low: 0.9, high: 1.3 }))).toBe(2);
  expect(widestOf(of({ ratio: 1.1 }, { ratio: 0.25, low: 0.21, high: 0.4 }))).toBe(5);
  expect(widestOf([...of({ ratio: 1.1 }), ...of({ ratio: 8 })])).toBe(10);
  const unsure = { ratio: 1.1, low: 0.5, high: 30, verdict: "not-enough" } as const;
  expect(widestOf(of(unsure))).toBe(2);
  // A ratio of 0, and an interval without an end, do not fit on any bar.
  expect(widestOf(of({ ratio: 0, low: 0, high: null }))).toBe(2);
  expect(widestOf(of({ ratio: 1e6 }))).toBe(1000);
});
