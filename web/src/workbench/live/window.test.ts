import { expect, test } from "vitest";
import { lengthOf, untilOf } from "./window";

test("a length is in whole seconds, from five to a day", () => {
  expect(["5", "60", "86400"].map(lengthOf)).toEqual([5, 60, 86_400]);
  for (const text of ["", "0", "4", "-5", "60.5", "86401", "1e99", "NaN", "a minute"])
    expect(lengthOf(text), text).toBeNull();
});

test("a window ends at a moment that has a date", () => {
  expect(untilOf("1795810507.25")).toBe(1795810507.25);
  for (const text of ["", "0", "-1", "1e13", "1e400", "NaN", "now"]) expect(untilOf(text), text).toBeNull();
});
