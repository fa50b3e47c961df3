import { expect, test } from "vitest";
import { rangeOf, rangeText, writtenRange } from "./filters";

test("a range of response times is written so that it can be read again", () => {
  for (const [from_ms, below_ms] of [
    [0, 5],
    [14.677992676, 17.7827941],
    [20, null],
  ] as const) {
    const read = rangeOf(writtenRange(from_ms, below_ms));
    expect(read?.from_ms).toBeCloseTo(from_ms, 3);
    if (below_ms === null) expect(read?.below_ms).toBeNull();
    else expect(read?.below_ms).toBeCloseTo(below_ms, 3);
  }
  for (const wrong of ["", "20", "-20", "80-20", "a-b", "1e3-2e3"]) expect(rangeOf(wrong), wrong).toBeNull();
});

test("a range is told with its units", () => {
  expect(rangeText("20-1500")).toBe("20.0\u00a0ms – 1.50\u00a0s");
  expect(rangeText("20-")).toBe("20.0\u00a0ms and longer");
});
