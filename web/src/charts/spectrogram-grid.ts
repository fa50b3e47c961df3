import type { Spectrogram, Syscall } from "../model";
import type { Area, Selection } from "../state";
import type { Window } from "./window";

/** The three names by which calls are filtered and added up. */
export const NAMES = ["call", "group", "file"] as const;
export type Name = (typeof NAMES)[number];
export type Filter = Pick<Selection, Name>;

/**
 * The value in a link for calls without a number of their own; no call, thread group or file has this name.
 */
export const OTHERS = "…";

/** Ranges of rows and columns; `to` is excluded. */
export interface Cells {
  rowFrom: number;
  rowTo: number;
  columnFrom: number;
  columnTo: number;
}

export interface Total {
  name: string;
  events: number;
  total_ns: number;
  bytes: number;
  errors: number;
}

const DECADES = 10;

/** A spectrogram in arrays, with the arithmetic of its two axes, its filters and its rectangles. */
export class SpectrogramGrid {
  readonly columns: number;

  constructor(readonly data: Spectrogram) {
    this.columns = data.edges_ns.length - 1;
  }

  names(name: Name): { names: string[]; others: number } {
    const { data } = this;
    if (name === "call") return { names: data.calls, others: data.other_calls };
    if (name === "group") return { names: data.groups, others: data.other_groups };
    return { names: data.files, others: data.other_files };
  }

  /** The position of a column on the axis, from 0 for 1 ns to 1 for 10 s. */
  placeOf(column: number): number {
    // Bounds are whole nanoseconds, which near 1 ns would shift the columns; those of a summary are powers of two.
    if (this.data.of === "syscalls") return column / this.columns;
    return Math.min(1, Math.log10(this.data.edges_ns[column] ?? 1) / DECADES);
  }

  /** The column at a position of the axis. */
  columnAt(place: number): number {
    let column = 0;
    while (column + 1 < this.columns && this.placeOf(column + 1) <= place) column += 1;
    return column;
  }

  /** Rows that a window overlaps. */
  rowsIn(window: Window): { from: number; to: number } {
    const { bin_s, rows } = this.data;
    const from = Math.min(rows - 1, Math.max(0, Math.floor(window.start / bin_s + 1e-9)));
    return { from, to: Math.min(rows, Math.max(from + 1, Math.ceil(window.end / bin_s - 1e-9))) };
  }

  /** Numbers of the names that a filter selects; null for all. */
  #number(name: Name, filter: Filter): number | null {
    const wanted = filter[name];
    if (wanted === null) return null;
    const { names } = this.names(name);
    const known = names.indexOf(wanted);
    if (known >= 0) return known;
    return wanted === OTHERS ? names.length : -1;
  }

  /** Calls `take` for each selected cell among the given ones. */
  #each(filter: Filter, within: Cells | null, take: (cell: number) => void): void {
    const { cells } = this.data;
    const wanted = NAMES.map((name) => this.#number(name, filter));
    const [call, group, file] = wanted;
    for (let cell = 0; cell < cells.row.length; cell += 1) {
      if (call !== null && cells.call[cell] !== call) continue;
      if (group !== null && cells.group[cell] !== group) continue;
      if (file !== null && cells.file[cell] !== file) continue;
      if (within !== null && !this.#holds(within, cells.row[cell] ?? 0, cells.column[cell] ?? 0)) continue;
      take(cell);
    }
  }

  #holds(cells: Cells, row: number, column: number): boolean {
    return row >= cells.rowFrom && row < cells.rowTo && column >= cells.columnFrom && column < cells.columnTo;
  }

  /** The count of each cell of the picture, row by row, and the largest count. */
  counts(filter: Filter): { counts: Float64Array; most: number } {
    const counts = new Float64Array(this.data.rows * this.columns);
    const { row, column, events } = this.data.cells;
    let most = 0;
    this.#each(filter, null, (cell) => {
      const at = (row[cell] ?? 0) * this.columns + (column[cell] ?? 0);
      const sum = (counts[at] ?? 0) + (events[cell] ?? 0);
      counts[at] = sum;
      most = Math.max(most, sum);
    });
    return { counts, most };
  }

  /** Totals of cells by one of the names, by time, the largest first. */
  totals(name: Name, filter: Filter, within: Cells): Total[] {
    const { cells } = this.data;
    const { names, others } = this.names(name);
    const totals = new Map<number, Total>();
    this.#each(filter, within, (cell) => {
      const number = cells[name][cell] ?? 0;
      const known = totals.get(number) ?? {
        name: names[number] ?? `${others} others`,
        events: 0,
        total_ns: 0,
        bytes: 0,
        errors: 0,
      };
      known.events += cells.events[cell] ?? 0;
      known.total_ns += cells.total_ns[cell] ?? 0;
      known.bytes += cells.bytes[cell] ?? 0;
      known.errors += cells.errors[cell] ?? 0;
      totals.set(number, known);
    });
    return [...totals.values()].sort((a, b) => b.total_ns - a.total_ns);
  }

  /** Single calls of an area that the page has, the longest first. */
  events(filter: Filter, area: Area): Syscall[] {
    const lets = (name: Name, value: string): boolean => {
      const wanted = filter[name];
      if (wanted === null || wanted === value) return true;
      return wanted === OTHERS && !this.names(name).names.includes(value);
    };
    return this.data.longest
      .filter(
        ({ start_s, duration_ns, call, group, file }) =>
          start_s >= area.from_s - 1e-9 &&
          start_s < area.to_s - 1e-9 &&
          duration_ns >= area.low_ns &&
          (area.high_ns === null || duration_ns < area.high_ns) &&
          lets("call", call) &&
          lets("group", group) &&
          lets("file", file),
      )
      .sort((a, b) => b.duration_ns - a.duration_ns);
  }

  /** The area of some cells. Values beyond the ends of the axis belong to the outermost columns. */
  areaOf({ rowFrom, rowTo, columnFrom, columnTo }: Cells): Area {
    const { bin_s, edges_ns } = this.data;
    const exact = (row: number): number => Number((row * bin_s).toFixed(6));
    return {
      from_s: exact(rowFrom),
      to_s: exact(rowTo),
      low_ns: columnFrom === 0 ? 0 : (edges_ns[columnFrom] ?? 0),
      high_ns: columnTo >= this.columns ? null : (edges_ns[columnTo] ?? 0),
    };
  }

  /** The cells that an area overlaps; for an area of areaOf exactly its cells. */
  cellsOf(area: Area): Cells {
    const { bin_s, rows, edges_ns } = this.data;
    const columnFrom = Math.max(
      0,
      edges_ns.findLastIndex((edge) => edge <= area.low_ns),
    );
    const end = area.high_ns === null ? -1 : edges_ns.findIndex((edge) => edge >= (area.high_ns ?? 0));
    return {
      rowFrom: Math.min(rows - 1, Math.max(0, Math.floor(area.from_s / bin_s + 1e-6))),
      rowTo: Math.min(rows, Math.max(1, Math.ceil(area.to_s / bin_s - 1e-6))),
      columnFrom: Math.min(columnFrom, this.columns - 1),
      columnTo: end < 0 ? this.columns : Math.max(end, columnFrom + 1),
    };
  }

  /** The command that lists exactly the calls of an area, however many they are, from the recording itself. */
  command(filter: Filter, area: Area, calls: number): string {
    const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
    const names = NAMES.flatMap((name) => {
      const wanted = filter[name];
      if (wanted === null) return [];
      if (wanted !== OTHERS) return [`--${name} ${quoted(`=${wanted}`)}`];
      return this.names(name).names.map((one) => `--${name} ${quoted(`!=${one}`)}`);
    });
    const low = area.low_ns === 0 ? "" : `${area.low_ns}ns`;
    const high = area.high_ns === null ? "" : `${area.high_ns}ns`;
    const of = this.data.of === "summary" ? ["--of summary"] : [`--limit ${calls}`];
    return [
      `helenus spectrogram RECORDING --from ${area.from_s}s --to ${area.to_s}s --select ${low}..${high}`,
      ...of,
      ...names,
    ].join(" ");
  }
}
