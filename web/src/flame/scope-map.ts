import { SHADES, shadeOf, shades } from "../charts/palette";
import { timeTicks } from "../charts/ticks";
import { h, setText } from "../dom";
import { count, plural } from "../format";
import type { Theme } from "../theme";
import { type ScopeGrid, type Stretch, writeSeconds } from "./scope";

const LEFT = 52;
const TOP = 4;
const BOTTOM = 20;
const HEIGHT = 250;
const NARROWEST = 4;
const WIDEST = 26;

/**
 * The map of samples: dragging over it, or clicking on the first and last cell, selects a stretch of time.
 */
export class ScopeMap {
  readonly root: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #said = h("p", { class: "said", role: "status" });
  #chosen: Stretch | null = null;
  /** The cell of the keyboard cursor. */
  #cursor = 0;
  #hasFocus = false;
  /** The first cell of an unfinished selection. */
  #begun: number | null = null;
  /** The last cell that the unfinished selection would have. */
  #upTo: number | null = null;
  #column_px = NARROWEST;

  constructor(
    readonly grid: ScopeGrid,
    private readonly theme: Theme,
    private readonly choose: (stretch: Stretch | null) => void,
  ) {
    const cell = grid.cell * grid.step_s * 1000;
    this.#canvas = h("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label":
        `Map of samples: ${plural(grid.columns, "column")} of ${grid.column_s} s, each with ` +
        `${plural(grid.rows, "row")} of ${cell} ms. Arrow keys move, Enter marks the begin and then the end of a ` +
        `stretch, Shift with arrow keys extends one, Escape goes back to the whole run.`,
    });
    this.root = h("div", { class: "map" }, h("div", { class: "scrolled" }, this.#canvas), this.#said);
    this.#cursor = Math.max(0, grid.cellOf(grid.data.first));
    this.#listen();
    theme.subscribe(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  show(chosen: Stretch | null): void {
    this.#chosen = chosen;
    this.#begun = this.#upTo = null;
    this.draw();
  }

  /** Cancels an unfinished selection; returns whether there was one. */
  giveUp(): boolean {
    const begun = this.#begun !== null;
    this.#begun = this.#upTo = null;
    if (begun) {
      setText(this.#said, "");
      this.draw();
    }
    return begun;
  }

  draw(): void {
    const { grid, theme } = this;
    const room = this.root.clientWidth;
    if (room === 0) return;
    this.#column_px = Math.min(WIDEST, Math.max(NARROWEST, Math.floor((room - LEFT - 2) / grid.columns)));
    const width = LEFT + grid.columns * this.#column_px + 2;
    const ratio = devicePixelRatio || 1;
    const canvas = this.#canvas;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round((TOP + HEIGHT + BOTTOM) * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${TOP + HEIGHT + BOTTOM}px`;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.scale(ratio, ratio);
    context.clearRect(0, 0, width, TOP + HEIGHT + BOTTOM);
    this.#drawAxes(context);
    const table = shades(theme.dark).map(([red, green, blue]) => `rgb(${red} ${green} ${blue})`);
    const gap = this.#column_px > 6 ? 1 : 0;
    for (let column = 0; column < grid.columns; column += 1) {
      const x = LEFT + column * this.#column_px;
      // Draw the background of each column, so that a column without samples is visible.
      context.fillStyle = theme.colour("grid");
      context.fillRect(x, TOP, this.#column_px - gap, HEIGHT);
      let idle = true;
      for (let row = 0; row < grid.rows; row += 1) {
        const number = grid.counts[column * grid.rows + row] ?? 0;
        if (number === 0) continue;
        idle = false;
        context.fillStyle = table[shadeOf(number, grid.most)] ?? "";
        const y = this.#yOf(row);
        context.fillRect(x, y, this.#column_px - gap, this.#yOf(row + 1) - y);
      }
      if (idle) {
        context.fillStyle = theme.colour("muted");
        context.fillRect(x, TOP + HEIGHT - 2, this.#column_px - gap, 2);
      }
    }
    const begun = this.#begun === null ? null : grid.between(this.#begun, this.#upTo ?? this.#begun);
    const shown = begun ?? this.#chosen;
    if (shown) this.#frame(context, shown);
    if (this.#hasFocus) {
      const { x, y } = this.#placeOf(this.#cursor);
      context.strokeStyle = theme.colour("ink");
      context.lineWidth = 2;
      context.strokeRect(x - 1, y - 1, this.#column_px + 1, HEIGHT / grid.rows + 2);
    }
  }

  #yOf(row: number): number {
    return TOP + Math.round((row * HEIGHT) / this.grid.rows);
  }

  #placeOf(cell: number): { x: number; y: number } {
    const column = Math.floor(cell / this.grid.rows);
    return { x: LEFT + column * this.#column_px, y: this.#yOf(cell - column * this.grid.rows) };
  }

  #drawAxes(context: CanvasRenderingContext2D): void {
    const { grid, theme } = this;
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = theme.colour("muted");
    context.textAlign = "right";
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const offset = share * grid.column_s;
      const text = grid.column_s <= 1 ? `${Math.round(offset * 1000)} ms` : `${offset} s`;
      context.textBaseline = share === 0 ? "top" : share === 1 ? "bottom" : "middle";
      context.fillText(text, LEFT - 6, TOP + share * HEIGHT);
    }
    context.textAlign = "left";
    context.textBaseline = "top";
    const start = grid.secondsOf(grid.start);
    const end = start + grid.columns * grid.column_s;
    for (const tick of timeTicks(start, end, (grid.columns * this.#column_px) / 60).ticks) {
      const column = Math.round((tick - start) / grid.column_s);
      if (column >= grid.columns || Math.abs(start + column * grid.column_s - tick) > 1e-6) continue;
      const x = LEFT + column * this.#column_px;
      context.fillRect(x, TOP + HEIGHT, 1, 4);
      // The last label may not fit, and would be cut off.
      const text = `${tick} s`;
      if (x + 3 + context.measureText(text).width <= this.#canvas.clientWidth)
        context.fillText(text, x + 3, TOP + HEIGHT + 4);
    }
  }

  /** Unselected cells fade; the selected ones have an outline around each of their columns. */
  #frame(context: CanvasRenderingContext2D, stretch: Stretch): void {
    const { grid, theme } = this;
    const { first, last } = grid.touched(stretch);
    context.globalAlpha = 0.62;
    context.fillStyle = theme.colour("panel");
    if (last <= first) {
      // The whole stretch is before the first sample, or after the last.
      context.fillRect(LEFT, TOP, grid.columns * this.#column_px, HEIGHT);
      context.globalAlpha = 1;
      return;
    }
    const column_px = this.#column_px;
    const edge = (cell: number, before: boolean) => {
      const column = Math.floor(cell / grid.rows);
      const x = LEFT + column * column_px;
      const y = this.#yOf(cell - column * grid.rows);
      if (before) {
        context.fillRect(LEFT, TOP, x - LEFT, HEIGHT);
        context.fillRect(x, TOP, column_px, y - TOP);
      } else {
        context.fillRect(x, y, column_px, TOP + HEIGHT - y);
        const next = x + column_px;
        context.fillRect(next, TOP, LEFT + grid.columns * column_px - next, HEIGHT);
      }
    };
    edge(first, true);
    if (last < grid.cells) edge(last, false);
    context.globalAlpha = 1;
    context.strokeStyle = theme.colour("accent");
    context.lineWidth = 2;
    context.stroke(this.#outline(first, last));
  }

  #outline(first: number, last: number): Path2D {
    const { rows } = this.grid;
    const path = new Path2D();
    const [from, to] = [Math.floor(first / rows), Math.floor((last - 1) / rows)];
    const left = (column: number) => LEFT + column * this.#column_px;
    const top = this.#yOf(first - from * rows);
    const bottom = this.#yOf(last - to * rows);
    if (from === to) {
      path.rect(left(from), top, this.#column_px, bottom - top);
      return path;
    }
    // Down the first column, over the whole ones, and up to where the last one ends.
    const points: [number, number][] = [
      [left(from), top],
      [left(from + 1), top],
      [left(from + 1), TOP],
      [left(to + 1), TOP],
      [left(to + 1), bottom],
      [left(to), bottom],
      [left(to), TOP + HEIGHT],
      [left(from), TOP + HEIGHT],
    ];
    for (const [x, y] of points) path.lineTo(x, y);
    path.closePath();
    return path;
  }

  #cellAt(event: PointerEvent): number {
    const { grid } = this;
    const box = this.#canvas.getBoundingClientRect();
    const within = (value: number, last: number) => Math.min(last, Math.max(0, Math.floor(value)));
    const column = within((event.clientX - box.left - LEFT) / this.#column_px, grid.columns - 1);
    const row = within(((event.clientY - box.top - TOP) / HEIGHT) * grid.rows, grid.rows - 1);
    return column * grid.rows + row;
  }

  #describe(cell: number): void {
    const { grid } = this;
    const { from, to } = grid.between(cell, cell);
    const write = (step: number) => writeSeconds(step, grid.step_s);
    const place = `${write(from)} – ${write(to)} s: ${plural(grid.counts[cell] ?? 0, "sample")}`;
    const begun = this.#begun === null ? null : grid.between(this.#begun, this.#upTo ?? cell);
    setText(
      this.#said,
      begun ? `${place} · choosing ${write(begun.from)} – ${write(begun.to)} s, now click its end` : place,
    );
  }

  #listen(): void {
    const canvas = this.#canvas;
    let pressed: number | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pressed = this.#cellAt(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const cell = this.#cellAt(event);
      if (pressed !== null && cell !== pressed) this.#begun = pressed;
      if (this.#begun !== null && this.#upTo !== cell) {
        this.#upTo = cell;
        this.draw();
      }
      this.#describe(cell);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (pressed === null) return;
      const cell = this.#cellAt(event);
      const dragged = cell !== pressed;
      pressed = null;
      this.#cursor = cell;
      if (dragged || this.#begun !== null) this.#finish(cell);
      else this.#begin(cell);
    });
    canvas.addEventListener("pointercancel", () => {
      pressed = null;
      this.giveUp();
    });
    canvas.addEventListener("pointerleave", () => {
      if (this.#begun === null) setText(this.#said, "");
    });
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

  #begin(cell: number): void {
    this.#begun = this.#upTo = cell;
    this.#describe(cell);
    this.draw();
  }

  #finish(cell: number): void {
    const begun = this.#begun ?? cell;
    this.#begun = this.#upTo = null;
    setText(this.#said, "");
    this.choose(this.grid.between(begun, cell));
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { rows, cells } = this.grid;
    const steps: Record<string, number> = {
      ArrowLeft: -rows,
      ArrowRight: rows,
      ArrowUp: -1,
      ArrowDown: 1,
      PageUp: -10 * rows,
      PageDown: 10 * rows,
      Home: -cells,
      End: cells,
    };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      this.#hasFocus = true;
      if (event.shiftKey && this.#begun === null) this.#begun = this.#cursor;
      this.#cursor = Math.min(cells - 1, Math.max(0, this.#cursor + step));
      if (this.#begun !== null) this.#upTo = this.#cursor;
      this.#describe(this.#cursor);
      this.#reveal();
      this.draw();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#hasFocus = true;
      if (this.#begun === null) this.#begin(this.#cursor);
      else this.#finish(this.#cursor);
    }
  }

  #reveal(): void {
    const scrolled = this.#canvas.parentElement;
    if (!scrolled) return;
    const { x } = this.#placeOf(this.#cursor);
    if (x < scrolled.scrollLeft + LEFT) scrolled.scrollLeft = x - LEFT;
    else if (x + this.#column_px > scrolled.scrollLeft + scrolled.clientWidth)
      scrolled.scrollLeft = x + this.#column_px - scrolled.clientWidth;
  }
}

/** A legend of colours and numbers of samples. */
export function scopeLegend(grid: ScopeGrid, theme: Theme): HTMLElement {
  const canvas = h("canvas", { width: SHADES, height: 1, "aria-hidden": "true" });
  const paint = () => {
    const pixels = new ImageData(SHADES, 1);
    shades(theme.dark).forEach(([red, green, blue], index) => {
      pixels.data.set([red, green, blue, 255], index * 4);
    });
    canvas.getContext("2d")?.putImageData(pixels, 0, 0);
  };
  paint();
  theme.subscribe(paint);
  const idle = h("span", { class: "swatch idle" });
  return h(
    "p",
    { class: "scope-legend" },
    "samples in a cell: 1 ",
    canvas,
    ` ${count(Math.max(1, grid.most))}`,
    idle,
    "none; a line below: none in the whole column",
  );
}
