import uPlot from "uplot";
import { h } from "../dom";
import { clock, orNothing } from "../format";
import type { Pause } from "../model";
import type { ColourName } from "../theme";
import { drawPauseBands } from "./bands";
import { AXIS_FONT, AXIS_HEIGHT, drawTimeGrid, ticksFor } from "./canvas-plot";
import { Legend, type Mark } from "./legend";
import { meansOf, mergeFor } from "./merge";
import { GUTTER_LEFT, GUTTER_RIGHT, type Plot, plotWidth, type View } from "./plot";
import { linearTicks, logLimits, logTicks } from "./ticks";
import { binAt } from "./window";

export type Values = readonly (number | null)[];

export interface LineSeries {
  label: string;
  colour: ColourName;
  mark: Mark;
  width?: number;
  /** One value per bin; for latencies, one list per kind. */
  values(view: View): Values;
  /** The values to draw, if they are not all. */
  drawn?(values: Values): Values;
}

export interface LinePlotOptions {
  /** Title before the legend; null if the panel's heading has it. */
  title: string | null;
  height: number;
  /** Starts of the bins. */
  time_s: readonly number[];
  bin_s: number;
  /**
   * The series, in the order of the legend. Lines are drawn from the first to the last, dots over them; in a
   * stack the first is on top.
   */
  series: LineSeries[];
  /** Whether the series are stacked. */
  stacked?: boolean;
  log?: boolean;
  /** Whether to draw steps from bin to bin instead of a line through the bins' middles. */
  stepped?: boolean;
  /**
   * Whether bins that are too narrow to see may be drawn as means of several: for rates, never for
   * percentiles.
   */
  merged?: boolean;
  /** The highest possible value, such as 1 for shares; without it the axis follows the data. */
  ceiling?: number;
  /** Whether to write times under the plot. */
  axis: boolean;
  write(value: number): string;
  /** How values are written on the axis, if shorter than `write`. */
  tick?(value: number): string;
  /** Pauses, drawn behind as faint bands. */
  pauses?: readonly Pause[];
  /** A dashed level with a name. */
  level?: { value: number; label: string };
}

/** Lines, areas or a stack over time, drawn by uPlot; cursor, brush and zoom belong to the whole report. */
export class LinePlot implements Plot {
  readonly root: HTMLElement;
  over: HTMLElement;
  readonly #options: LinePlotOptions;
  readonly #legend: Legend;
  /** The series from back to front. */
  readonly #drawn: LineSeries[];
  readonly #chart: uPlot;
  readonly #shape: string;
  #view: View | null = null;
  #shown = "";

  constructor(options: LinePlotOptions) {
    this.#options = options;
    const dots = ({ mark }: LineSeries): number => Number(mark === "dots");
    this.#drawn = [...options.series].sort((a, b) => dots(a) - dots(b));
    this.#legend = new Legend(options.series, options.title);
    const body = h("div", { class: "line-plot" });
    this.root = h("div", { class: "plot" }, this.#legend.root, body);
    this.#chart = new uPlot(
      this.#settings(),
      [[0], ...options.series.map(() => [null])] as uPlot.AlignedData,
      body,
    );
    this.over = this.#chart.over;
    this.#shape = options.stacked ? "stack" : "lines";
  }

  draw(view: View): void {
    const before = this.#view;
    this.#view = view;
    this.#chart.batch(() => {
      if (before?.width !== view.width) this.#chart.setSize({ width: view.width, height: this.#fullHeight });
      // Only latencies change with the kind, and merged bins with the window; everything else is set once.
      const wanted = `${this.#shape} ${view.latency} ${this.#merge(view)}`;
      if (wanted !== this.#shown) {
        this.#shown = wanted;
        this.#chart.setData(this.#columns(view), false);
      }
      this.#chart.setScale("x", { min: view.window.start, max: view.window.end });
      this.#chart.redraw(false, true);
    });
  }

  readout(time: number | null, view: View): void {
    const { series, write } = this.#options;
    const { time_s, bin_s } = this.#bins(view);
    const bin = time === null ? -1 : binAt(time_s, bin_s, time);
    this.#legend.write(
      series.map((one) => (time === null ? "" : orNothing(this.#values(one, view)[bin], write))),
    );
  }

  #merge(view: View): number {
    const { merged, bin_s } = this.#options;
    return merged ? mergeFor(view.window, bin_s, plotWidth(view)) : 1;
  }

  #bins(view: View): { time_s: readonly number[]; bin_s: number } {
    const { time_s, bin_s } = this.#options;
    const merge = this.#merge(view);
    if (merge === 1) return { time_s, bin_s };
    return { time_s: time_s.filter((_, bin) => bin % merge === 0), bin_s: bin_s * merge };
  }

  #values(one: LineSeries, view: View): Values {
    return meansOf(one.values(view), this.#merge(view));
  }

  get #fullHeight(): number {
    return this.#options.height + (this.#options.axis ? AXIS_HEIGHT : 0) + PADDING_TOP;
  }

  /** uPlot's columns: x first, then the series. */
  #columns(view: View): uPlot.AlignedData {
    const { stacked, stepped } = this.#options;
    const { time_s, bin_s } = this.#bins(view);
    const x = stepped ? [...time_s] : time_s.map((start) => start + bin_s / 2);
    if (stepped && x.length > 0) x.push((x.at(-1) ?? 0) + bin_s);
    const columns = this.#drawn.map((one) => {
      const values = this.#values(one, view);
      return [...(one.drawn?.(values) ?? values)];
    });
    if (stacked) {
      for (let index = columns.length - 2; index >= 0; index -= 1) {
        const [above, below] = [columns[index], columns[index + 1]];
        if (above && below)
          for (let i = 0; i < above.length; i += 1) above[i] = (above[i] ?? 0) + (below[i] ?? 0);
      }
    }
    // Repeat the last value, so that the last step is as wide as its bin.
    if (stepped) for (const column of columns) column.push(column.at(-1) ?? null);
    return [x, ...columns] as uPlot.AlignedData;
  }

  #settings(): uPlot.Options {
    const options = this.#options;
    return {
      width: 600,
      height: this.#fullHeight,
      padding: [PADDING_TOP, GUTTER_RIGHT, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      select: { show: false, left: 0, top: 0, width: 0, height: 0 },
      scales: {
        x: { time: false, auto: false },
        y: {
          distr: options.log ? 3 : 1,
          range: (_, min, max) => valueRange(options, min, max),
        },
      },
      axes: [this.#timeAxis(), this.#valueAxis()],
      series: [{}, ...this.#drawn.map((one) => this.#line(one))],
      hooks: {
        drawClear: [(chart) => this.#behind(chart)],
        draw: [(chart) => this.#inFront(chart)],
      },
    };
  }

  #line(one: LineSeries): uPlot.Series {
    const { stacked, stepped } = this.#options;
    const colour = (): string => this.#view?.theme.colour(one.colour) ?? "gray";
    const filled = stacked || one.mark === "area";
    return {
      stroke: colour,
      width: stacked ? 0 : (one.width ?? 1.5),
      spanGaps: false,
      ...(filled ? { fill: stacked ? colour : () => this.#fill(one.colour) } : {}),
      ...(one.mark === "dashed" ? { dash: [5, 3] } : {}),
      ...(one.mark === "dots" ? { paths: () => null } : stepped ? { paths: STEPPED } : {}),
      points: {
        show: (chart, _, from, to) =>
          one.mark === "dots" || (!stacked && !stepped && spacious(chart, from, to)),
        size: one.mark === "dots" ? 3.5 : 4,
        width: 0,
        fill: colour,
      },
    };
  }

  #fill(colour: ColourName): string {
    const theme = this.#view?.theme;
    return theme ? theme.colour(colour === "ok" ? "ok-fill" : colour) : "gray";
  }

  #timeAxis(): uPlot.Axis {
    const muted = (): string => this.#view?.theme.colour("muted") ?? "gray";
    return {
      show: this.#options.axis,
      size: AXIS_HEIGHT,
      gap: 6,
      font: AXIS_FONT,
      stroke: muted,
      grid: { show: false },
      ticks: { show: false },
      splits: () => (this.#view ? ticksFor(this.#view).ticks : []),
      values: (_, splits) => {
        const view = this.#view;
        if (!view) return [];
        const { step } = ticksFor(view);
        return splits.map((tick) => clock(tick, step, view.duration_s));
      },
    };
  }

  #valueAxis(): uPlot.Axis {
    const { height, log, write, tick } = this.#options;
    const wanted = Math.max(2, Math.floor(height / 26));
    return {
      size: GUTTER_LEFT,
      gap: 6,
      font: AXIS_FONT,
      stroke: () => this.#view?.theme.colour("muted") ?? "gray",
      grid: { stroke: () => this.#view?.theme.colour("grid") ?? "gray", width: 1 },
      ticks: { show: false },
      splits: (_, __, min, max) => (log ? logTicks(min, max, wanted) : linearTicks(max, wanted)),
      // Keep all ticks: by default uPlot drops those of a log axis that it finds too dense.
      filter: (_, splits) => splits,
      // Without times below, the lower half of a zero would not fit.
      values: (_, splits) =>
        splits.map((value) => (value === 0 && !this.#options.axis ? "" : (tick ?? write)(value))),
    };
  }

  #behind(chart: uPlot): void {
    const view = this.#view;
    if (!view) return;
    const { ctx, bbox } = chart;
    const ratio = bbox.width / plotWidth(view);
    ctx.save();
    if (this.#options.pauses)
      drawPauseBands(ctx, this.#options.pauses, view, {
        left: bbox.left,
        top: bbox.top,
        height: bbox.height,
        ratio,
      });
    ctx.scale(ratio, ratio);
    drawTimeGrid(ctx, view, bbox.top / ratio, bbox.height / ratio);
    ctx.restore();
  }

  #inFront(chart: uPlot): void {
    const { level } = this.#options;
    const view = this.#view;
    const { min, max } = chart.scales.y ?? {};
    if (!level || !view || min === undefined || max === undefined || level.value < min || level.value > max)
      return;
    const { ctx, bbox } = chart;
    const ratio = bbox.width / plotWidth(view);
    const y = Math.round(chart.valToPos(level.value, "y", true));
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = view.theme.colour("threshold");
    ctx.lineWidth = ratio;
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = "right";
    ctx.textBaseline = "bottom";
    const at = [bbox.left + bbox.width - 4 * ratio, y - 2 * ratio] as const;
    // Lines of the data would run through the text.
    ctx.setLineDash([]);
    ctx.lineWidth = 3 * ratio;
    ctx.strokeStyle = view.theme.colour("panel");
    ctx.strokeText(level.label, ...at);
    ctx.fillText(level.label, ...at);
    ctx.restore();
  }
}

const PADDING_TOP = 6;
const STEPPED = uPlot.paths.stepped?.({ align: 1 }) ?? (() => null);

/** A bin between two empty ones is a point in any case (uPlot's gap filter); with room, every bin is one. */
function spacious(chart: uPlot, from: number, to: number): boolean {
  return to > from && chart.bbox.width / devicePixelRatio / (to - from) > 14;
}

function valueRange(options: LinePlotOptions, min: number | null, max: number | null): [number, number] {
  if (options.log) return logLimits(min, max === null ? null : Math.max(max, options.level?.value ?? 0));
  if (options.ceiling !== undefined) return [0, Math.max(options.ceiling, max ?? 0)];
  return [0, max === null || max <= 0 ? 1 : max * 1.06];
}
