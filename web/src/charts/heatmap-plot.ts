import { h } from "../dom";
import { count, digits3, plural } from "../format";
import type { Pause } from "../model";
import { drawPauseBands } from "./bands";
import { AXIS_FONT, CanvasPlot, timeText, writeEmpty } from "./canvas-plot";
import type { HeatGrid, MergedCells } from "./heat-grid";
import { shadeOf, shades } from "./palette";
import { GUTTER_LEFT, type LatencyRange, type Plot, plotWidth, timeAt, type View, xOf } from "./plot";
import { logTicks } from "./ticks";
import { placeTip } from "./tip";

/** The height of a heatmap without another one, in CSS pixels. */
const HEIGHT = 240;

/** Time by latency, with the count as colour. */
export class HeatmapPlot implements Plot {
  readonly root: HTMLElement;
  readonly over: HTMLElement;
  readonly #canvas: CanvasPlot;
  readonly #height: number;
  readonly #image = document.createElement("canvas");
  readonly #tip = h("div", { class: "tip", hidden: true });
  readonly #frame = h("div", { class: "cell-frame", hidden: true });
  readonly #low: number;
  readonly #high: number;

  constructor(
    private readonly grid: HeatGrid,
    private readonly pauses: readonly Pause[],
    private readonly drawn: (cells: MergedCells, view: View) => void,
    height = HEIGHT,
  ) {
    this.#height = height;
    this.#canvas = new CanvasPlot(height, true);
    const { low, high } = grid.shownRows();
    this.#low = low;
    this.#high = high;
    this.over = this.#canvas.over;
    this.over.append(this.#frame);
    this.#canvas.root.append(this.#tip);
    this.root = h("div", { class: "plot" }, this.#canvas.root);
  }

  draw(view: View): void {
    const context = this.#canvas.begin(view);
    if (!context) return;
    this.hover(null, view);
    this.#drawAxis(context, view);
    context.save();
    context.beginPath();
    context.rect(GUTTER_LEFT, 0, plotWidth(view), this.#height);
    context.clip();
    // Drawn behind the cells, so that their colours are exactly those of the scale.
    drawPauseBands(context, this.pauses, view, { left: GUTTER_LEFT, top: 0, height: this.#height, ratio: 1 });
    const cells = this.#cells(view);
    this.#drawCells(context, cells, view);
    context.restore();
    writeEmpty(context, view, 0, this.#height);
    this.drawn(cells, view);
  }

  readout(): void {}

  hover(at: { x: number; y: number } | null, view: View): void {
    const cells = this.#cells(view);
    const column = at ? this.#columnAt(at.x, cells, view) : -1;
    const row = at ? this.#rowAt(at.y) : -1;
    const cell = this.grid.find(cells, column, row);
    this.#tip.hidden = this.#frame.hidden = cell < 0;
    if (cell < 0 || !at) return;
    const { low_ms, high_ms, bin_s } = this.grid.heatmap;
    const start = this.grid.startOf(column, cells.merge);
    const width = bin_s * cells.merge;
    const unit = view.writeTime ? "UTC" : "s";
    const first = cells.first[column] ?? 0;
    const last = cells.first[column + 1] ?? 0;
    let inColumn = 0;
    for (let i = first; i < last; i += 1) inColumn += cells.count[i] ?? 0;
    this.#tip.replaceChildren(
      h("strong", {}, plural(cells.count[cell] ?? 0, "request")),
      h("div", {}, `${digits3(low_ms[row] ?? 0)} – ${digits3(high_ms[row] ?? 0)} ms`),
      h("div", {}, `${timeText(start, width, view)} – ${timeText(start + width, width, view)} ${unit}`),
      h("div", { class: "quiet" }, `of ${count(inColumn)} in this time`),
    );
    this.#place(at, { start, end: start + width, row }, view);
  }

  latencies(top: number, bottom: number): LatencyRange {
    const { rows, highestRow, lowestRow } = this.grid;
    const { low_ms, high_ms } = this.grid.heatmap;
    const row = (y: number): number => Math.min(rows - 1, Math.max(0, this.#rowAt(y)));
    const [lowest, highest] = [row(bottom), row(top)];
    return {
      from_ms: lowest <= lowestRow ? 0 : (low_ms[lowest] ?? 0),
      below_ms: highest >= highestRow ? null : (high_ms[highest] ?? null),
    };
  }

  #place(at: { x: number; y: number }, cell: { start: number; end: number; row: number }, view: View): void {
    const left = Math.max(0, xOf(cell.start, view));
    const right = Math.min(plotWidth(view), xOf(cell.end, view));
    const frame = this.#frame.style;
    frame.left = `${left}px`;
    frame.width = `${right - left}px`;
    frame.top = `${this.#yOf(cell.row + 1)}px`;
    frame.height = `${this.#height / (this.#high - this.#low)}px`;
    placeTip(this.#tip, { x: GUTTER_LEFT + at.x, y: Math.min(at.y, this.#height - 84) }, view.width);
  }

  #cells(view: View): MergedCells {
    return this.grid.merged(this.grid.mergeFor(view.window, plotWidth(view)));
  }

  #drawCells(context: CanvasRenderingContext2D, cells: MergedCells, view: View): void {
    const { from, to } = this.grid.columnsIn(view.window, cells.merge);
    const rows = this.#high - this.#low;
    if (to <= from || rows <= 0) return;
    const pixels = new ImageData(to - from, rows);
    const words = new Uint32Array(pixels.data.buffer);
    const table = shades(view.theme.dark).map(
      ([red, green, blue]) => (255 << 24) | (blue << 16) | (green << 8) | red,
    );
    for (let i = cells.first[from] ?? 0; i < (cells.first[to] ?? 0); i += 1) {
      const y = this.#high - 1 - (cells.row[i] ?? 0);
      const x = (cells.column[i] ?? 0) - from;
      words[y * (to - from) + x] = table[shadeOf(cells.count[i] ?? 0, cells.most)] ?? 0;
    }
    this.#image.width = to - from;
    this.#image.height = rows;
    this.#image.getContext("2d")?.putImageData(pixels, 0, 0);
    const left = xOf(this.grid.startOf(from, cells.merge), view);
    const right = xOf(this.grid.startOf(to, cells.merge), view);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.#image, GUTTER_LEFT + left, 0, right - left, this.#height);
  }

  #drawAxis(context: CanvasRenderingContext2D, view: View): void {
    context.font = AXIS_FONT;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of logTicks(
      this.grid.latencyAt(this.#low),
      this.grid.latencyAt(this.#high),
      this.#height / 26,
    )) {
      const y = Math.round(this.#yOf(this.grid.placeOf(tick)));
      context.fillStyle = view.theme.colour("grid");
      context.fillRect(GUTTER_LEFT, y, plotWidth(view), 1);
      context.fillStyle = view.theme.colour("muted");
      context.fillText(digits3(tick), GUTTER_LEFT - 6, Math.min(this.#height - 6, Math.max(6, y)));
    }
  }

  #yOf(place: number): number {
    return ((this.#high - place) / (this.#high - this.#low)) * this.#height;
  }

  #rowAt(y: number): number {
    return Math.floor(this.#high - (y / this.#height) * (this.#high - this.#low));
  }

  #columnAt(x: number, cells: MergedCells, view: View): number {
    const { start_s, bin_s } = this.grid.heatmap;
    return Math.floor((timeAt(x, view) - start_s) / (bin_s * cells.merge));
  }
}
