import { expect, test } from "vitest";
import { edges, spectrogramOf } from "../../tests/sample/syscalls";
import type { Spectrogram } from "../model";
import { type Cells, type Filter, OTHERS, SpectrogramGrid } from "./spectrogram-grid";

const ALL: Filter = { call: null, group: null, file: null };
/** Two rows of half a second, columns of a decade. */
const data: Spectrogram = {
  of: "syscalls",
  bin_s: 0.5,
  rows: 2,
  edges_ns: edges(10),
  calls: ["read", "it's"],
  groups: ["g"],
  files: ["", "/data/a"],
  other_calls: 0,
  other_groups: 0,
  other_files: 3,
  cells: {
    row: [0, 0, 1, 1],
    column: [3, 3, 6, 9],
    call: [0, 0, 0, 1],
    group: [0, 0, 0, 0],
    file: [1, 2, 1, 0],
    events: [10, 5, 2, 1],
    total_ns: [20_000, 9000, 6e6, 30e9],
    bytes: [100, 50, 20, 0],
    errors: [0, 1, 0, 0],
  },
  longest: [
    {
      start_s: 0.1,
      duration_ns: 3000,
      group: "g",
      tid: 1,
      call: "read",
      file: "/data/a",
      bytes: 10,
      error: null,
    },
    {
      start_s: 0.2,
      duration_ns: 2000,
      group: "g",
      tid: 1,
      call: "read",
      file: "/data/z",
      bytes: 10,
      error: null,
    },
    {
      start_s: 0.5,
      duration_ns: 4e6,
      group: "g",
      tid: 1,
      call: "read",
      file: "/data/a",
      bytes: 10,
      error: null,
    },
    { start_s: 0.6, duration_ns: 30e9, group: "g", tid: 2, call: "it's", file: "", bytes: null, error: null },
  ],
  complete: false,
  events: 18,
  lost: [],
};
const grid = new SpectrogramGrid(data);
const WHOLE: Cells = { rowFrom: 0, rowTo: 2, columnFrom: 0, columnTo: 10 };

test("cells add up over what the filter lets through", () => {
  const at = (filter: Filter, row: number, column: number) => grid.counts(filter).counts[row * 10 + column];
  expect([at(ALL, 0, 3), at(ALL, 1, 6), at(ALL, 0, 6)]).toEqual([15, 2, 0]);
  expect(at({ ...ALL, file: "/data/a" }, 0, 3)).toBe(10);
  expect(at({ ...ALL, file: OTHERS }, 0, 3)).toBe(5);
  expect(grid.counts({ ...ALL, call: "nothing of that name" }).most).toBe(0);
});

test("totals of a rectangle are those of its cells, the longest together first", () => {
  expect(grid.totals("file", ALL, WHOLE).map(({ name, events }) => [name, events])).toEqual([
    ["", 1],
    ["/data/a", 12],
    ["3 others", 5],
  ]);
  const one = { rowFrom: 0, rowTo: 1, columnFrom: 3, columnTo: 4 };
  expect(grid.totals("call", ALL, one)).toEqual([
    { name: "read", events: 15, total_ns: 29_000, bytes: 150, errors: 1 },
  ]);
});

test("the area of cells is those cells again, and the outermost columns have no end", () => {
  for (let columnFrom = 0; columnFrom < 10; columnFrom += 1)
    for (let columnTo = columnFrom + 1; columnTo <= 10; columnTo += 1) {
      const cells = { rowFrom: 1, rowTo: 2, columnFrom, columnTo };
      expect(grid.cellsOf(grid.areaOf(cells))).toEqual(cells);
    }
  expect(grid.areaOf(WHOLE)).toEqual({ from_s: 0, to_s: 1, low_ns: 0, high_ns: null });
  const fine = new SpectrogramGrid(spectrogramOf(90));
  const cells = { rowFrom: 7, rowTo: 9, columnFrom: 33, columnTo: 34 };
  expect(fine.cellsOf(fine.areaOf(cells))).toEqual(cells);
});

test("events of an area are those in its bounds, the longest first", () => {
  const durations = (filter: Filter, cells: Cells) =>
    grid.events(filter, grid.areaOf(cells)).map((event) => event.duration_ns);
  expect(durations(ALL, WHOLE)).toEqual([30e9, 4e6, 3000, 2000]);
  expect(durations(ALL, { rowFrom: 1, rowTo: 2, columnFrom: 6, columnTo: 7 })).toEqual([4e6]);
  expect(durations({ ...ALL, file: OTHERS }, WHOLE)).toEqual([2000]);
});

test("the command asks for exactly that", () => {
  const cells = { rowFrom: 1, rowTo: 2, columnFrom: 6, columnTo: 10 };
  expect(grid.command({ ...ALL, call: "it's" }, grid.areaOf(cells), 3)).toBe(
    "helenus spectrogram RECORDING --from 0.5s --to 1s --select 1000000ns.. --limit 3 --call '=it'\\''s'",
  );
  expect(
    grid.command({ ...ALL, file: OTHERS }, grid.areaOf({ ...cells, columnFrom: 0, columnTo: 3 }), 5),
  ).toBe(
    "helenus spectrogram RECORDING --from 0.5s --to 1s --select ..1000ns --limit 5 --file '!=' --file '!=/data/a'",
  );
  const summary = new SpectrogramGrid({ ...data, of: "summary" });
  expect(summary.command(ALL, summary.areaOf(WHOLE), 9)).toContain("--select .. --of summary");
});

test("a window shows the rows that it touches, and columns lie evenly", () => {
  expect(grid.rowsIn({ start: 0.1, end: 0.2 })).toEqual({ from: 0, to: 1 });
  expect(grid.rowsIn({ start: 0.5, end: 1 })).toEqual({ from: 1, to: 2 });
  expect([grid.columnAt(-1), grid.columnAt(0.35), grid.columnAt(2)]).toEqual([0, 3, 9]);
  const powers = Array.from({ length: 35 }, (_, power) => 2 ** power);
  const summary = new SpectrogramGrid({ ...data, of: "summary", edges_ns: powers });
  expect(summary.placeOf(10)).toBeCloseTo(0.301, 3);
  expect(summary.placeOf(34)).toBe(1);
});
