import { binsIn, type Range, type Window } from "./window";

export type Cell = string | number | null;

export interface Column {
  name: string;
  /** The unit; empty for texts. */
  unit: string;
  /** How a value is written for people; a file has the plain value. */
  write?: (value: number) => string;
}

/** The figures behind a chart, computed row by row only when they are needed. */
export interface Rows {
  columns: Column[];
  total: number;
  row(index: number): Cell[];
}

/** Rows of columnar bins: their start, then one value per column, for the bins in a window. */
export function binRows(
  time_s: readonly number[],
  window: Window,
  columns: (Column & { values: readonly (number | null)[] })[],
): Rows {
  const { from, to } = binsIn(time_s, window);
  return {
    columns: [TIME, ...columns],
    total: to - from,
    row: (index) => [
      time_s[from + index] ?? null,
      ...columns.map(({ values }) => values[from + index] ?? null),
    ],
  };
}

export const TIME: Column = { name: "time", unit: "s from start", write: (value) => value.toFixed(3) };

/** Rows of things with bins: the time, then the name of the thing. */
export function groupedRows<T extends { time_s: readonly number[] }>(
  things: readonly T[],
  window: Window,
  names: { name: string; of: (thing: T) => string }[],
  columns: (Column & { of: (thing: T) => readonly Cell[] })[],
): Rows {
  const ranges: { thing: T; range: Range; before: number }[] = [];
  let total = 0;
  for (const thing of things) {
    const range = binsIn(thing.time_s, window);
    ranges.push({ thing, range, before: total });
    total += range.to - range.from;
  }
  return {
    columns: [...names.map(({ name }) => ({ name, unit: "" })), TIME, ...columns],
    total,
    row: (index) => {
      const place = ranges.findLast(({ before }) => before <= index);
      if (!place) return [];
      const bin = place.range.from + index - place.before;
      return [
        ...names.map(({ of }) => of(place.thing)),
        place.thing.time_s[bin] ?? null,
        ...columns.map(({ of }) => of(place.thing)[bin] ?? null),
      ];
    },
  };
}

/** RFC 4180, with a head of names and units; numbers as they are. */
export function toCsv(rows: Rows): string {
  const lines = [
    rows.columns.map(({ name, unit }) => quoted(unit === "" ? name : `${name} (${unit})`)).join(","),
  ];
  for (let index = 0; index < rows.total; index += 1) lines.push(rows.row(index).map(quoted).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function quoted(cell: Cell): string {
  if (cell === null) return "";
  const text = String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
