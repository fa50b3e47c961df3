import { expect, test } from "vitest";
import type { FlameTree } from "../model";
import { hottest, matchedWeight, matcher, place } from "./tree";

/** all 10: Read 7 (run 7 (read 4, run 2)), Write 3 (run 3). */
const data: FlameTree = {
  event: "cpu",
  title: "t",
  against: "",
  samples: 10,
  other_samples: 0,
  names: ["all", "Read", "Write", "run", "read"],
  nodes: {
    depth: [0, 1, 2, 3, 3, 1, 2],
    name: [0, 1, 3, 4, 3, 2, 3],
    kind: "agjjjgj",
    weight: [10, 7, 7, 4, 2, 3, 3],
    other: [],
  },
};

test("each node lies within its parent, after its elder siblings", () => {
  const placed = place(data);
  expect(placed.map(({ start }) => start)).toEqual([0, 0, 0, 0, 4, 7, 7]);
  expect(placed.map(({ parent }) => parent)).toEqual([-1, 0, 1, 2, 2, 0, 5]);
  expect(placed.map(({ end }) => end)).toEqual([7, 5, 5, 4, 5, 7, 7]);
  expect(placed.map(({ self }) => self)).toEqual([0, 0, 1, 4, 2, 0, 3]);
});

test("what matches below what matches counts once", () => {
  const weight = (search: string) => {
    const matches = matcher(search);
    return matches === null ? null : matchedWeight(place(data), matches);
  };
  expect(weight("RUN")).toBe(10);
  expect(weight("read")).toBe(7);
  expect(weight("nothing")).toBe(0);
  expect(weight("  ")).toBeNull();
});

test("a frame that calls itself is not heavier for it", () => {
  expect(hottest(place(data), 2)).toEqual([
    { text: "run", kind: "j", self: 6, total: 10 },
    { text: "read", kind: "j", self: 4, total: 4 },
  ]);
});
