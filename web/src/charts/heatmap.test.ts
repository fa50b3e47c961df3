import { expect, test } from "vitest";
import { scaleTicks } from "./heatmap";

test("the ticks of the colour scale don't lie over each other", () => {
  expect(scaleTicks(1)).toEqual([1]);
  expect(scaleTicks(412)).toEqual([1, 10, 100, 412]);
  expect(scaleTicks(20_640)).toEqual([1, 10, 100, 1000, 20_640]);
  expect(scaleTicks(1000)).toEqual([1, 10, 100, 1000]);
});
