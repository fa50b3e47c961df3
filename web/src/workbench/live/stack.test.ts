import { expect, test } from "vitest";
import { lastKnown, stackOf } from "./stack";

test("each layer lies on those below it", () => {
  expect(
    stackOf(
      [
        [0.25, 0.5],
        [0.5, 0.125],
        [0.25, 0.375],
      ],
      1,
    ),
  ).toEqual([
    [0.25, 0.5],
    [0.75, 0.625],
    [1, 1],
  ]);
});

test("a bin without a reading has the next one, over at most five seconds", () => {
  expect(stackOf([[0.5, null, 0.25, null]], 1)).toEqual([[0.5, 0.25, 0.25, null]]);
  const far = [0.5, null, null, null, null, null, null, 0.25];
  expect(stackOf([far], 1)).toEqual([[0.5, null, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25]]);
  expect(stackOf([[0.5, null, 0.25]], 15)).toEqual([[0.5, null, 0.25]]);
});

test("the newest value is that of the newest bin with a reading", () => {
  expect(lastKnown([0.5, 0.25, null])).toBe(0.25);
  expect(lastKnown([null])).toBeNull();
});
