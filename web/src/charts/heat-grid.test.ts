import { describe, expect, it } from "vitest";
import type { Heatmap } from "../model";
import { HeatGrid } from "./heat-grid";

const heatmap: Heatmap = {
  bin_s: 0.5,
  start_s: 1,
  columns: 5,
  low_ms: [1, 10, 100],
  high_ms: [10, 100, 1000],
  cells: [
    [0, 0, 3],
    [1, 0, 4],
    [1, 2, 1],
    [4, 1, 2],
  ],
};

describe("a heat grid", () => {
  const grid = new HeatGrid(heatmap);
  it("knows what it holds", () => {
    expect(grid).toMatchObject({ empty: false, total: 10, lowestRow: 0, highestRow: 2 });
    expect(new HeatGrid({ ...heatmap, cells: [] }).empty).toBe(true);
  });
  it("loses no request when columns are merged", () => {
    for (const merge of [1, 2, 4, 8])
      expect(grid.merged(merge).count.reduce((sum, count) => sum + count, 0)).toBe(grid.total);
  });
  it("adds up the cells of merged columns", () => {
    const cells = grid.merged(2);
    expect([...cells.column]).toEqual([0, 0, 2]);
    expect([...cells.row]).toEqual([0, 2, 1]);
    expect([...cells.count]).toEqual([7, 1, 2]);
    expect([...cells.first]).toEqual([0, 2, 2, 3]);
    expect(cells.most).toBe(7);
  });
  it("merges until a column is at least a pixel wide", () => {
    expect(grid.mergeFor({ start: 0, end: 1000 }, 2000)).toBe(1);
    expect(grid.mergeFor({ start: 0, end: 1000 }, 500)).toBe(4);
  });
  it("finds cells by column and row", () => {
    const cells = grid.merged(1);
    expect(cells.count[grid.find(cells, 1, 2)]).toBe(1);
    expect(grid.find(cells, 2, 0)).toBe(-1);
    expect(grid.find(cells, -1, 0)).toBe(-1);
  });
  it("finds the columns that touch a window", () => {
    expect(grid.columnsIn({ start: 1.6, end: 2.6 }, 1)).toEqual({ from: 1, to: 4 });
    expect(grid.columnsIn({ start: 0, end: 100 }, 1)).toEqual({ from: 0, to: 5 });
    expect(grid.columnsIn({ start: 50, end: 100 }, 1)).toEqual({ from: 5, to: 5 });
  });
  it("places latencies between the bounds of a row on a log scale", () => {
    expect(grid.placeOf(1)).toBe(0);
    expect(grid.placeOf(Math.sqrt(1000))).toBeCloseTo(1.5);
    expect(grid.placeOf(10_000)).toBeCloseTo(4);
    expect(grid.latencyAt(1.5)).toBeCloseTo(Math.sqrt(1000));
    expect(grid.latencyAt(-1)).toBeCloseTo(0.1);
  });
  it("shows an empty row at each edge, and a factor of ten also where all requests took the same", () => {
    expect(grid.shownRows()).toEqual({ low: -1, high: 4 });
    const one = { ...heatmap, low_ms: [1], high_ms: [10 ** (1 / 12)], cells: [[0, 0, 9]] } as Heatmap;
    const { low, high } = new HeatGrid(one).shownRows();
    expect(new HeatGrid(one).latencyAt(high) / new HeatGrid(one).latencyAt(low)).toBeGreaterThan(9.99);
    expect([low, high]).toEqual([-5, 7]);
  });
});
