import { describe, expect, it } from "vitest";
import { meansOf, mergeFor } from "./merge";

describe("merged bins", () => {
  it("are wide enough to be seen, and are single ones in a short window", () => {
    const merge = (length: number) => mergeFor({ start: 7, end: 7 + length }, 0.1, 1000);
    expect(merge(1)).toBe(1);
    expect(merge(100)).toBe(10);
    expect(merge(180)).toBe(20);
    for (const length of [0.001, 3, 17, 90, 180, 4000])
      expect((merge(length) * 0.1 * 1000) / length).toBeGreaterThanOrEqual(5.999);
    expect(mergeFor({ start: 0, end: 1 }, 0, 1000)).toBe(1);
  });
  it("hold means of what is known, the last of fewer", () => {
    expect(meansOf([1, 3, null, 4, null, null, 6], 2)).toEqual([2, 4, null, 6]);
    const values = [1, null];
    expect(meansOf(values, 1)).toBe(values);
  });
});
