import type { Heatmap } from "../model";
import type { Window } from "./window";

/** Cells of a heatmap as sums over `merge` time columns each, so that no cell is lost between two pixels. */
export interface MergedCells {
  readonly merge: number;
  readonly columns: number;
  /** Cells sorted by column, then row; three arrays of one length. */
  readonly column: Int32Array;
  readonly row: Int32Array;
  readonly count: Float64Array;
  /** `first[c]` is the first cell of column c, `first[columns]` the number of cells. */
  readonly first: Int32Array;
  readonly most: number;
}

/** A heatmap in arrays, at any coarseness, with the arithmetic of its two axes. */
export class HeatGrid {
  readonly rows: number;
  /** Lowest and highest non-empty row. */
  readonly lowestRow: number;
  readonly highestRow: number;
  readonly total: number;
  readonly #lowest_ms: number;
  /** Logarithm of how much higher a row is than the one below it. */
  readonly #rowHeight: number;
  #merged = new Map<number, MergedCells>();

  constructor(readonly heatmap: Heatmap) {
    this.rows = heatmap.low_ms.length;
    let lowest = this.rows;
    let highest = -1;
    let total = 0;
    for (const [, row, count] of heatmap.cells) {
      lowest = Math.min(lowest, row);
      highest = Math.max(highest, row);
      total += count;
    }
    this.lowestRow = Math.min(lowest, Math.max(0, highest));
    this.highestRow = Math.max(highest, 0);
    this.total = total;
    const [bottom, top] = [heatmap.low_ms[0] ?? 1, heatmap.high_ms.at(-1) ?? 10];
    this.#lowest_ms = bottom;
    this.#rowHeight = Math.log(top / bottom) / Math.max(1, this.rows);
  }

  get empty(): boolean {
    return this.heatmap.cells.length === 0;
  }

  startOf(column: number, merge: number): number {
    return this.heatmap.start_s + column * merge * this.heatmap.bin_s;
  }

  /** How many columns to merge so that one is at least a pixel wide: a power of two, to cache few of them. */
  mergeFor(window: Window, pixels: number): number {
    const shown = (window.end - window.start) / this.heatmap.bin_s;
    let merge = 1;
    while (shown / merge > pixels) merge *= 2;
    return merge;
  }

  /** Columns that touch a window, as a half-open range. */
  columnsIn(window: Window, merge: number): { from: number; to: number } {
    const { start_s, bin_s } = this.heatmap;
    const columns = Math.ceil(this.heatmap.columns / merge);
    const width = bin_s * merge;
    const from = Math.min(columns, Math.max(0, Math.floor((window.start - start_s) / width + 1e-9)));
    const to = Math.max(from, Math.min(columns, Math.ceil((window.end - start_s) / width - 1e-9)));
    return { from, to };
  }

  /** Cell index of (column, row), or -1. */
  find(cells: MergedCells, column: number, row: number): number {
    if (column < 0 || column >= cells.columns) return -1;
    const to = cells.first[column + 1] ?? 0;
    for (let i = cells.first[column] ?? 0; i < to; i += 1) if (cells.row[i] === row) return i;
    return -1;
  }

  /**
   * Position of a latency on the row axis: 2.5 is the middle of row 2. The scale continues evenly beyond the
   * first and last row.
   */
  placeOf(latency_ms: number): number {
    return Math.log(latency_ms / this.#lowest_ms) / this.#rowHeight;
  }

  /** The latency at a position of the row axis. */
  latencyAt(place: number): number {
    return this.#lowest_ms * Math.exp(place * this.#rowHeight);
  }

  /**
   * Rows to draw, as a half-open range: the non-empty ones, one more at each edge, and at least a factor of
   * ten.
   */
  shownRows(): { low: number; high: number } {
    const [low, high] = [this.lowestRow - 1, this.highestRow + 2];
    const missing = Math.max(0, Math.ceil(Math.LN10 / this.#rowHeight - 1e-6) - (high - low));
    return { low: low - Math.floor(missing / 2), high: high + Math.ceil(missing / 2) };
  }

  merged(merge: number): MergedCells {
    const known = this.#merged.get(merge);
    if (known) return known;
    const cells = this.#build(merge);
    this.#merged.set(merge, cells);
    return cells;
  }

  #build(merge: number): MergedCells {
    const columns = Math.ceil(this.heatmap.columns / merge);
    const sums = new Map<number, number>();
    for (const [column, row, count] of this.heatmap.cells) {
      const key = Math.floor(column / merge) * this.rows + row;
      sums.set(key, (sums.get(key) ?? 0) + count);
    }
    const keys = Float64Array.from(sums.keys()).sort();
    const column = new Int32Array(keys.length);
    const row = new Int32Array(keys.length);
    const count = new Float64Array(keys.length);
    const first = new Int32Array(columns + 1);
    let most = 0;
    keys.forEach((key, index) => {
      column[index] = Math.floor(key / this.rows);
      row[index] = key % this.rows;
      const sum = sums.get(key) ?? 0;
      count[index] = sum;
      most = Math.max(most, sum);
      first[(column[index] ?? 0) + 1] = index + 1;
    });
    // A column without cells begins where the previous one ended.
    for (let c = 1; c <= columns; c += 1) first[c] = Math.max(first[c] ?? 0, first[c - 1] ?? 0);
    return { merge, columns, column, row, count, first, most };
  }
}
