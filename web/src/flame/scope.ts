import type { FlameScope, FlameTree } from "../model";

/** A stretch of time in steps, the last one not included. */
export interface Stretch {
  from: number;
  to: number;
}

/** Samples in columns, stack by stack; entry i of each array belongs to sample i. */
export interface Samples {
  node: Int32Array;
  step: Float64Array;
  weight: Float64Array;
  count: Float64Array;
}

/** Reads the times. Throws where they are cut off. */
export function readTimes(data: FlameScope): Samples {
  const text = atob(data.times);
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = text.charCodeAt(at);
      if (Number.isNaN(byte)) throw new Error("the times of the samples are cut off");
      at += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  const columns: { [K in keyof Samples]: number[] } = { node: [], step: [], weight: [], count: [] };
  let node = 0;
  while (at < text.length) {
    node += number();
    let step = data.first;
    for (let entries = number(); entries > 0; entries -= 1) {
      step += number();
      columns.node.push(node);
      columns.step.push(step);
      columns.weight.push(number() * data.unit);
      columns.count.push(number());
    }
  }
  return {
    node: Int32Array.from(columns.node),
    step: Float64Array.from(columns.step),
    weight: Float64Array.from(columns.weight),
    count: Float64Array.from(columns.count),
  };
}

/** The same graph limited to the samples of a stretch: the same nodes with other weights, many of them 0. */
export function within(data: FlameTree, samples: Samples, { from, to }: Stretch): FlameTree {
  const { depth } = data.nodes;
  const weight = new Array<number>(depth.length).fill(0);
  let taken = 0;
  samples.step.forEach((step, entry) => {
    if (step < from || step >= to) return;
    const node = samples.node[entry] ?? 0;
    weight[node] = (weight[node] ?? 0) + (samples.weight[entry] ?? 0);
    taken += samples.count[entry] ?? 0;
  });
  // In depth-first order parents come before children. Going backwards, a child is complete when it is added
  // to its parent.
  const parent = new Int32Array(depth.length);
  const open: number[] = [];
  depth.forEach((own, node) => {
    open[own] = node;
    parent[node] = own > 0 ? (open[own - 1] ?? 0) : -1;
  });
  for (let node = depth.length - 1; node > 0; node -= 1) {
    const above = parent[node] ?? -1;
    if (above >= 0) weight[above] = (weight[above] ?? 0) + (weight[node] ?? 0);
  }
  const { counted_ns: ofTheWhole, ...rest } = data;
  return { ...rest, samples: taken, nodes: { ...data.nodes, weight } };
}

const ROWS = 50;
/** With more columns, each covers more than a second. */
const MOST_COLUMNS = 3600;

/** The map: a column for each second, a row for each part of it, and the number of samples in each cell. */
export class ScopeGrid {
  /** Steps per cell, and rows per column. */
  readonly cell: number;
  readonly rows: number;
  readonly columns: number;
  /** Step at which the first column begins. */
  readonly start: number;
  readonly counts: Float64Array;
  readonly most: number;
  readonly step_s: number;

  constructor(
    readonly data: FlameScope,
    samples: Samples,
  ) {
    this.step_s = data.step_ns / 1e9;
    const seconds = (data.end - data.first) * this.step_s;
    let column_s = Math.max(1, this.step_s);
    while (seconds / column_s > MOST_COLUMNS) column_s *= 10;
    // Both are 1, 2 or 5 times a power of ten, and 50 rows of a second are 20 ms: a cell is whole steps.
    const perColumn = Math.round(column_s / this.step_s);
    this.rows = perColumn % ROWS === 0 ? ROWS : divisorBelow(perColumn, ROWS);
    this.cell = perColumn / this.rows;
    this.start = Math.floor(data.first / perColumn) * perColumn;
    this.columns = Math.max(1, Math.ceil((data.end - this.start) / perColumn));
    this.counts = new Float64Array(this.columns * this.rows);
    samples.step.forEach((step, entry) => {
      const cell = this.cellOf(step);
      this.counts[cell] = (this.counts[cell] ?? 0) + (samples.count[entry] ?? 0);
    });
    this.most = this.counts.reduce((most, count) => Math.max(most, count), 0);
  }

  /** Cells are numbered down the columns, in the order of time. */
  cellOf(step: number): number {
    return Math.floor((step - this.start) / this.cell);
  }

  get cells(): number {
    return this.counts.length;
  }

  get column_s(): number {
    return this.rows * this.cell * this.step_s;
  }

  secondsOf(step: number): number {
    return step * this.step_s;
  }

  /** The stretch between two cells, both included, in any order. */
  between(a: number, b: number): Stretch {
    return {
      from: this.start + Math.min(a, b) * this.cell,
      to: this.start + (Math.max(a, b) + 1) * this.cell,
    };
  }

  /** Cells that a stretch overlaps; the last one is excluded. */
  touched({ from, to }: Stretch): { first: number; last: number } {
    const first = Math.max(0, this.cellOf(from));
    return { first, last: Math.min(this.cells, Math.ceil((to - this.start) / this.cell)) };
  }

  samplesIn(column: number): number {
    let sum = 0;
    for (let row = 0; row < this.rows; row += 1) sum += this.counts[column * this.rows + row] ?? 0;
    return sum;
  }
}

function divisorBelow(number: number, most: number): number {
  for (let divisor = Math.min(most, number); divisor > 1; divisor -= 1)
    if (number % divisor === 0) return divisor;
  return 1;
}

/** Formats seconds with as few digits as are exact. */
export function writeSeconds(step: number, step_s: number): string {
  return String(Number((step * step_s).toFixed(Math.max(0, Math.ceil(-Math.log10(step_s) - 1e-9)))));
}

/** Reads `#t=12.5-13`, seconds since the recording's first sample; null if it is missing or outside of the samples. */
export function parseStretch(hash: string, data: FlameScope): Stretch | null {
  const times = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(
    new URLSearchParams(hash.replace(/^#/, "")).get("t") ?? "",
  );
  if (!times) return null;
  const step = (text: string | undefined): number => Math.round((Number(text) * 1e9) / data.step_ns);
  const [from, to] = [step(times[1]), step(times[2])];
  return from < to && to > data.first && from < data.end ? { from, to } : null;
}

export function formatStretch(stretch: Stretch | null, data: FlameScope): string {
  const step_s = data.step_ns / 1e9;
  return stretch === null
    ? ""
    : `#t=${writeSeconds(stretch.from, step_s)}-${writeSeconds(stretch.to, step_s)}`;
}
