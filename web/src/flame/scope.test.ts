import { expect, test } from "vitest";
import { encode, flameOfMinute, type Sampled } from "../../tests/sample/flame";
import type { FlameScope, FlameTree } from "../model";
import { formatStretch, parseStretch, readTimes, ScopeGrid, within } from "./scope";

const SAMPLED: Sampled[] = [
  { node: 2, step: 3, weight: 1, count: 1 },
  { node: 2, step: 1999, weight: 300, count: 3 },
  { node: 4, step: 20, weight: 2, count: 2 },
  { node: 4, step: 1000, weight: 2, count: 1 },
];
const scope: FlameScope = {
  first: 3,
  end: 2000,
  step_ns: 1e6,
  binned: false,
  unit: 10,
  times: encode(SAMPLED, 3),
};
/** all: Read (run (read)), Write; stacks end at run and at Write. */
const data: FlameTree = {
  event: "cpu",
  title: "t",
  against: "",
  samples: 7,
  other_samples: 0,
  names: ["all", "Read", "run", "none", "Write"],
  nodes: { depth: [0, 1, 2, 3, 1], name: [0, 1, 2, 3, 4], kind: "agjjg", weight: [], other: [] },
  scope,
};

test("times are read as they were written", () => {
  const { node, step, weight, count } = readTimes(scope);
  const read = [...node].map((one, entry) => ({
    node: one,
    step: step[entry],
    weight: (weight[entry] ?? 0) / 10,
    count: count[entry],
  }));
  expect(read).toEqual(SAMPLED);
});

test("times that are cut off are refused, wherever they are", () => {
  const bytes = atob(scope.times);
  // Between two stacks nothing is missing that could be known.
  const whole = new Set([0, bytes.length]);
  for (let length = 0; length < bytes.length; length += 1) {
    const cut = { ...scope, times: btoa(bytes.slice(0, length)) };
    if (whole.has(length)) expect(readTimes(cut).node).toHaveLength(0);
    else if (readTimesOrNull(cut) !== null) expect(readTimes(cut).node).toHaveLength(2);
  }
  expect(readTimesOrNull({ ...scope, times: btoa(bytes.slice(0, 5)) })).toBeNull();
});

function readTimesOrNull(cut: FlameScope) {
  try {
    return readTimes(cut);
  } catch {
    return null;
  }
}

test("a stretch has the weights of its samples, up to the root", () => {
  const samples = readTimes(scope);
  const weights = (from: number, to: number) => within(data, samples, { from, to }).nodes.weight;
  expect(weights(0, 2000)).toEqual([3050, 3010, 3010, 0, 40]);
  expect(weights(20, 1000)).toEqual([20, 0, 0, 0, 20]);
  expect(weights(20, 1001)).toEqual([40, 0, 0, 0, 40]);
  expect(within(data, samples, { from: 1999, to: 2000 }).samples).toBe(3);
  expect(weights(4, 20)).toEqual([0, 0, 0, 0, 0]);
});

test("all stretches together are the whole", () => {
  const minute = flameOfMinute();
  const samples = readTimes(minute.scope as FlameScope);
  const edges = [0, 1, 777, 5300, 40_000, 60_000];
  const parts = edges
    .slice(1)
    .map((to, index) => within(minute, samples, { from: edges[index] as number, to }));
  expect(parts.reduce((sum, part) => sum + part.samples, 0)).toBe(minute.samples);
  minute.nodes.weight.forEach((weight, node) => {
    expect(parts.reduce((sum, part) => sum + (part.nodes.weight[node] ?? 0), 0)).toBe(weight);
  });
});

test("the map has a column a second and a row each 20 ms, idle ones too", () => {
  const grid = new ScopeGrid(scope, readTimes(scope));
  expect([grid.columns, grid.rows, grid.cell, grid.most]).toEqual([2, 50, 20, 3]);
  expect([grid.counts[0], grid.counts[1], grid.counts[50], grid.counts[99]]).toEqual([1, 2, 1, 3]);
  expect(grid.between(60, 1)).toEqual({ from: 20, to: 1220 });
  expect(grid.touched({ from: 25, to: 41 })).toEqual({ first: 1, last: 3 });
  const minute = flameOfMinute().scope as FlameScope;
  const idle = new ScopeGrid(minute, readTimes(minute));
  expect(idle.columns).toBe(60);
  expect([39, 40, 42, 43].map((column) => idle.samplesIn(column) > 0)).toEqual([true, false, false, true]);
});

test("coarse times have fewer rows, and long runs wider columns", () => {
  const of = (step_ns: number, first: number, end: number) => {
    const data = { ...scope, step_ns, first, end, times: "" };
    const { rows, cell, columns, column_s, start } = new ScopeGrid(data, readTimes(data));
    return { rows, cell, columns, column_s, start };
  };
  expect(of(50e6, 0, 60)).toMatchObject({ rows: 20, cell: 1, columns: 3, column_s: 1 });
  expect(of(2e9, 0, 60)).toMatchObject({ rows: 1, cell: 1, columns: 60, column_s: 2 });
  expect(of(1e6, 0, 7_200_000)).toMatchObject({ rows: 50, cell: 200, columns: 720, column_s: 10 });
  expect(of(1e6, 20_500, 30_000)).toMatchObject({ start: 20_000, columns: 10 });
});

test("a link holds a stretch, and only one that is there", () => {
  expect(formatStretch({ from: 12, to: 1220 }, scope)).toBe("#t=0.012-1.22");
  expect(formatStretch(null, scope)).toBe("");
  expect(parseStretch("#t=0.012-1.22", scope)).toEqual({ from: 12, to: 1220 });
  for (const wrong of ["", "#t=1-1", "#t=2-1", "#t=a-b", "#t=5-6", "#t=0-0.003", "#x=1-2"])
    expect(parseStretch(wrong, scope)).toBeNull();
});
