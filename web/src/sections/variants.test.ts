import { expect, test } from "vitest";
import { placeOf } from "./variants";

test("ratios lie evenly in the logarithm, and 1 in the middle", () => {
  expect(placeOf(1)).toBe(0.5);
  expect(placeOf(4)).toBe(1);
  expect(placeOf(0.25)).toBe(0);
  expect(placeOf(2) - placeOf(1)).toBeCloseTo(placeOf(1) - placeOf(0.5));
  expect(placeOf(100)).toBe(1);
  expect(placeOf(0)).toBe(0);
});
