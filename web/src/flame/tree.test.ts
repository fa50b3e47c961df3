import { expect, test } from "vitest";
import { type FlameData, hottest, matchedWeight, matcher, place } from "./tree";

const node = (depth: number, name: number, weight: number, kind = "j") => ({
  depth,
  name,
  kind,
  weight,
  other: 0,
});

/** all 10: Read 7 (run 7 (read 4, run 2)), Write 3 (run 3). */
const data: FlameData = {
  event: "cpu",
  title: "t",
  against: "",
  samples: 10,
  names: ["all", "Read", "Write", "run", "read"],
  nodes: [
    node(0, 0, 10, "a"),
    node(1, 1, 7, "g"),
    node(2, 3, 7),
    node(3, 4, 4),
    node(3, 3, 2),
    node(1, 2, 3, "g"),
    node(2, 3, 3),
  ],
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
