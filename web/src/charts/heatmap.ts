import { h } from "../dom";
import { count, digits3, milliseconds, span } from "../format";
import type { Report } from "../model";
import { HeatGrid, type MergedCells } from "./heat-grid";
import { HeatmapPlot } from "./heatmap-plot";
import { whyNoLatency } from "./missing";
import { SHADES, shadeOf, shades } from "./palette";
import type { PanelBody } from "./panel";
import type { View } from "./plot";
import { type Rows, TIME } from "./rows";

export function heatmapPanel(report: Report): PanelBody {
  const grid = new HeatGrid(report.heatmap);
  const scale = new ColourScale();
  const plot = new HeatmapPlot(grid, report.pauses, (cells, view) => scale.draw(cells, grid, view));
  return {
    note: "response time in ms, log scale; colour is the number of requests",
    plots: [plot],
    missing: grid.empty ? whyNoLatency(report) : null,
    foot: scale.root,
    summary: (view) => summary(grid, view),
    rows: (view) => rows(grid, view),
  };
}

/** All single cells in the window, never the merged ones. */
function rows(grid: HeatGrid, { window }: View): Rows {
  const cells = grid.merged(1);
  const { from, to } = grid.columnsIn(window, 1);
  const first = cells.first[from] ?? 0;
  const { low_ms, high_ms, bin_s } = grid.heatmap;
  return {
    columns: [
      { ...TIME, name: "from" },
      { ...TIME, name: "to" },
      { name: "at least", unit: "ms", write: digits3 },
      { name: "below", unit: "ms", write: digits3 },
      { name: "requests", unit: "count", write: count },
    ],
    total: Math.max(0, (cells.first[to] ?? 0) - first),
    row: (index) => {
      const cell = first + index;
      const start = grid.startOf(cells.column[cell] ?? 0, 1);
      const row = cells.row[cell] ?? 0;
      return [start, start + bin_s, low_ms[row] ?? null, high_ms[row] ?? null, cells.count[cell] ?? null];
    },
  };
}

function summary(grid: HeatGrid, { window }: View): string {
  const cells = grid.merged(1);
  const { from, to } = grid.columnsIn(window, 1);
  const perRow = new Map<number, number>();
  let total = 0;
  for (let cell = cells.first[from] ?? 0; cell < (cells.first[to] ?? 0); cell += 1) {
    const row = cells.row[cell] ?? 0;
    perRow.set(row, (perRow.get(row) ?? 0) + (cells.count[cell] ?? 0));
    total += cells.count[cell] ?? 0;
  }
  if (total === 0) return "No request in this window.";
  const busiest = [...perRow].reduce((best, one) => (one[1] > best[1] ? one : best));
  const slowest = Math.max(...perRow.keys());
  const { low_ms, high_ms } = grid.heatmap;
  return `${count(total)} requests in this window; most of them (${count(busiest[1])}) between ${milliseconds(low_ms[busiest[0]] ?? 0)} and ${milliseconds(high_ms[busiest[0]] ?? 0)}; the slowest ${count(perRow.get(slowest) ?? 0)} between ${milliseconds(low_ms[slowest] ?? 0)} and ${milliseconds(high_ms[slowest] ?? 0)}.`;
}

const WIDTH = 220;
const HEIGHT = 10;

const placeOf = (tick: number, most: number): number => (shadeOf(tick, most) / (SHADES - 1)) * WIDTH;

/** About the width of a label in px, with space around it. */
const widthOf = (tick: number): number => 7 * count(tick).length + 8;

/** Powers of ten and the maximum, without powers whose labels would overlap that of the maximum. */
export function scaleTicks(most: number): number[] {
  const ticks: number[] = [];
  for (let tick = 1; tick < most; tick *= 10) {
    const room = placeOf(most, most) - placeOf(tick, most);
    if (room >= (widthOf(tick) + widthOf(most)) / 2) ticks.push(tick);
  }
  return [...ticks, most];
}

/** Maps counts of requests to colours. */
export class ColourScale {
  readonly root: HTMLElement;
  readonly #canvas = h("canvas", { width: SHADES, height: 1, "aria-hidden": "true" });
  readonly #ticks = h("span", { class: "scale-ticks" });
  readonly #cell = h("span", { class: "note" });
  #drawn = "";

  /** `isBrief` leaves out what a cell is. */
  constructor(isBrief = false) {
    this.#cell.hidden = isBrief;
    this.#canvas.style.cssText = `width:${WIDTH}px;height:${HEIGHT}px`;
    this.root = h(
      "div",
      { class: "scale" },
      h("span", {}, "requests per cell"),
      h("span", { class: "scale-bar" }, this.#canvas, this.#ticks),
      this.#cell,
    );
  }

  draw(cells: MergedCells, grid: HeatGrid, view: View): void {
    const key = `${cells.merge} ${cells.most} ${view.theme.dark}`;
    if (key === this.#drawn) return;
    this.#drawn = key;
    const pixels = new ImageData(SHADES, 1);
    shades(view.theme.dark).forEach(([red, green, blue], index) => {
      pixels.data.set([red, green, blue, 255], index * 4);
    });
    this.#canvas.getContext("2d")?.putImageData(pixels, 0, 0);
    this.#ticks.replaceChildren(
      ...scaleTicks(cells.most).map((tick) => {
        const label = h("span", {}, count(tick));
        label.style.left = `${placeOf(tick, cells.most)}px`;
        return label;
      }),
    );
    this.#cell.textContent = `a cell is ${span(grid.heatmap.bin_s * cells.merge)} wide; an empty one holds no request`;
  }
}
