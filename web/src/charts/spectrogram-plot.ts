import { h, setText } from "../dom";
import { clock, milliseconds, plural, span } from "../format";
import type { Theme } from "../theme";
import { AXIS_FONT } from "./canvas-plot";
import { shadeOf, shades } from "./palette";
import type { Cells, SpectrogramGrid } from "./spectrogram-grid";
import { timeTicks } from "./ticks";
import type { Window } from "./window";

const LEFT = 64;
const RIGHT = 16;
const TOP = 22;
const HEIGHT = 420;
const DECADES = [
  "1 ns",
  "10 ns",
  "100 ns",
  "1 µs",
  "10 µs",
  "100 µs",
  "1 ms",
  "10 ms",
  "100 ms",
  "1 s",
  "10 s",
];

/** What the picture currently shows. */
export interface Shown {
  counts: Float64Array;
  most: number;
  window: Window;
  duration_s: number;
  chosen: Cells | null;
}

/** Durations across, time downward, with the count as colour. Dragging selects a rectangle. */
export class SpectrogramPlot {
  readonly root: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #said = h("p", { class: "said", role: "status" });
  #shown: Shown | null = null;
  #begun: { row: number; column: number } | null = null;
  #cursor = { row: 0, column: 0 };
  #hasFocus = false;
  /** The rectangle while it is dragged, or extended by keys. */
  #choosing: Cells | null = null;

  constructor(
    readonly grid: SpectrogramGrid,
    private readonly theme: Theme,
    private readonly choose: (cells: Cells) => void,
  ) {
    this.#canvas = h("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label":
        "System calls by time, downward, and duration, across from 1 ns to 10 s. Arrow keys move, Enter marks one " +
        "corner and then the other of a rectangle, Escape gives it up.",
    });
    this.root = h("div", { class: "spectrogram-plot" }, this.#canvas, this.#said);
    this.#cursor.column = grid.columnAt(0.5);
    this.#listen();
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  show(shown: Shown): void {
    this.#shown = shown;
    this.#begun = this.#choosing = null;
    this.draw();
  }

  /** Cancels an unfinished rectangle; returns whether there was one. */
  giveUp(): boolean {
    const begun = this.#begun !== null;
    this.#begun = this.#choosing = null;
    if (begun) this.draw();
    return begun;
  }

  draw(): void {
    const { grid, theme } = this;
    const shown = this.#shown;
    const width = Math.floor(this.root.clientWidth);
    if (width <= LEFT + RIGHT || !shown) return;
    const ratio = devicePixelRatio || 1;
    const canvas = this.#canvas;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round((TOP + HEIGHT + 4) * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${TOP + HEIGHT + 4}px`;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, TOP + HEIGHT + 4);
    this.#drawAxes(context, shown);
    const table = shades(theme.dark).map(([red, green, blue]) => `rgb(${red} ${green} ${blue})`);
    const { from, to } = grid.rowsIn(shown.window);
    for (let row = from; row < to; row += 1) {
      const [top, bottom] = [this.#yOf(row), this.#yOf(row + 1)];
      for (let column = 0; column < grid.columns; column += 1) {
        const count = shown.counts[row * grid.columns + column] ?? 0;
        if (count === 0) continue;
        context.fillStyle = table[shadeOf(count, shown.most)] ?? "";
        const x = this.#xOf(column);
        context.fillRect(x, top, this.#xOf(column + 1) - x, Math.max(1, bottom - top));
      }
    }
    const frame = this.#choosing ?? shown.chosen;
    if (frame) {
      context.strokeStyle = theme.colour("accent");
      context.lineWidth = 2;
      const [left, right] = [this.#xOf(frame.columnFrom), this.#xOf(frame.columnTo)];
      const [top, bottom] = [this.#yOf(frame.rowFrom), this.#yOf(frame.rowTo)];
      if (bottom >= TOP && top <= TOP + HEIGHT) {
        const y = Math.max(TOP, top);
        context.strokeRect(left, y, right - left, Math.min(TOP + HEIGHT, bottom) - y);
      }
    }
    if (this.#hasFocus) {
      const { row, column } = this.#cursor;
      context.strokeStyle = theme.colour("ink");
      context.lineWidth = 2;
      const [x, y] = [this.#xOf(column), this.#yOf(row)];
      context.strokeRect(
        x - 1,
        y - 1,
        this.#xOf(column + 1) - x + 2,
        Math.max(3, this.#yOf(row + 1) - y) + 2,
      );
    }
  }

  get #plotWidth(): number {
    return this.root.clientWidth - LEFT - RIGHT;
  }

  #xOf(column: number): number {
    return LEFT + Math.round(this.grid.placeOf(column) * this.#plotWidth);
  }

  #rows(): { from: number; to: number } {
    return this.grid.rowsIn(this.#shown?.window ?? { start: 0, end: 0 });
  }

  #yOf(row: number): number {
    const { from, to } = this.#rows();
    return TOP + Math.round(((row - from) / (to - from)) * HEIGHT);
  }

  #drawAxes(context: CanvasRenderingContext2D, { duration_s }: Shown): void {
    const { theme, grid } = this;
    context.font = AXIS_FONT;
    context.textBaseline = "middle";
    DECADES.forEach((text, decade) => {
      const x = LEFT + Math.round((decade / (DECADES.length - 1)) * this.#plotWidth);
      context.fillStyle = theme.colour("grid");
      context.fillRect(x, TOP, 1, HEIGHT);
      context.fillStyle = theme.colour("muted");
      context.textAlign = decade === 0 ? "left" : decade === DECADES.length - 1 ? "right" : "center";
      context.fillText(text, x, TOP / 2);
    });
    const { from, to } = this.#rows();
    const { bin_s } = grid.data;
    const [start, end] = [from * bin_s, to * bin_s];
    const { step, ticks } = timeTicks(start, end, HEIGHT / 40);
    context.textAlign = "right";
    context.fillText("s ↓", LEFT - 6, TOP / 2);
    for (const tick of ticks) {
      const y = TOP + ((tick - start) / (end - start)) * HEIGHT;
      context.fillStyle = theme.colour("grid");
      context.fillRect(LEFT, Math.round(y), this.#plotWidth, 1);
      context.fillStyle = theme.colour("muted");
      context.fillText(
        clock(tick, step, duration_s),
        LEFT - 6,
        Math.min(TOP + HEIGHT - 5, Math.max(TOP + 5, y)),
      );
    }
  }

  #placeAt(event: PointerEvent): { row: number; column: number } {
    const box = this.#canvas.getBoundingClientRect();
    const { from, to } = this.#rows();
    const share = (event.clientY - box.top - TOP) / HEIGHT;
    return {
      row: Math.min(to - 1, Math.max(from, from + Math.floor(share * (to - from)))),
      column: this.grid.columnAt((event.clientX - box.left - LEFT) / this.#plotWidth),
    };
  }

  #between(a: { row: number; column: number }, b: { row: number; column: number }): Cells {
    return {
      rowFrom: Math.min(a.row, b.row),
      rowTo: Math.max(a.row, b.row) + 1,
      columnFrom: Math.min(a.column, b.column),
      columnTo: Math.max(a.column, b.column) + 1,
    };
  }

  #describe({ row, column }: { row: number; column: number }): void {
    const count = this.#shown?.counts[row * this.grid.columns + column] ?? 0;
    const area = this.grid.areaOf(this.#between({ row, column }, { row, column }));
    setText(
      this.#said,
      `${plural(count, "call")} · ${durationsText(area)} · ${timesText(area, this.#shown)}`,
    );
  }

  #listen(): void {
    const canvas = this.#canvas;
    let pressed = false;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pressed = true;
      this.#begun = this.#placeAt(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const place = this.#placeAt(event);
      this.#describe(place);
      if (!pressed || !this.#begun) return;
      this.#choosing = this.#between(this.#begun, place);
      this.draw();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!pressed) return;
      pressed = false;
      this.#cursor = this.#placeAt(event);
      if (this.#begun) this.#finish();
    });
    canvas.addEventListener("pointercancel", () => {
      pressed = false;
      this.giveUp();
    });
    canvas.addEventListener("pointerleave", () => setText(this.#said, ""));
    canvas.addEventListener("focus", () => {
      this.#hasFocus = canvas.matches(":focus-visible");
      this.draw();
    });
    canvas.addEventListener("blur", () => {
      this.#hasFocus = false;
      this.draw();
    });
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  #finish(): void {
    const cells = this.#between(this.#begun ?? this.#cursor, this.#cursor);
    this.#begun = this.#choosing = null;
    this.choose(cells);
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
    };
    const step = steps[event.key];
    const { from, to } = this.#rows();
    if (step) {
      // Otherwise the wheel would move the window of the charts.
      event.preventDefault();
      this.#hasFocus = true;
      if (event.shiftKey && !this.#begun) this.#begun = this.#cursor;
      this.#cursor = {
        row: Math.min(to - 1, Math.max(from, this.#cursor.row + step[0])),
        column: Math.min(this.grid.columns - 1, Math.max(0, this.#cursor.column + step[1])),
      };
      if (this.#begun) this.#choosing = this.#between(this.#begun, this.#cursor);
      this.#describe(this.#cursor);
      this.draw();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#hasFocus = true;
      this.#cursor = { ...this.#cursor, row: Math.min(to - 1, Math.max(from, this.#cursor.row)) };
      if (this.#begun) this.#finish();
      else {
        this.#begun = this.#cursor;
        this.#choosing = this.#between(this.#cursor, this.#cursor);
        this.draw();
      }
    }
  }
}

const duration = (ns: number): string => (ns < 1000 ? `${ns}\u00a0ns` : milliseconds(ns / 1e6));

/** "10 ms – 17.8 ms", "1 s and longer". */
export function durationsText({ low_ns, high_ns }: { low_ns: number; high_ns: number | null }): string {
  if (high_ns === null) return low_ns === 0 ? "of any duration" : `${duration(low_ns)} and longer`;
  return low_ns === 0 ? `below ${duration(high_ns)}` : `${duration(low_ns)} – ${duration(high_ns)}`;
}

export function timesText({ from_s, to_s }: { from_s: number; to_s: number }, shown: Shown | null): string {
  const length = to_s - from_s;
  const write = (time: number): string => clock(time, length / 10, shown?.duration_s ?? 0);
  return `${write(from_s)} – ${write(to_s)} s (${span(length)})`;
}
