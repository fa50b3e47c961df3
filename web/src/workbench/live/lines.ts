import uPlot from "uplot";
import { AXIS_FONT, AXIS_HEIGHT, drawTimeAxis, drawTimeGrid, writeEmpty } from "../../charts/canvas-plot";
import { GUTTER_LEFT, GUTTER_RIGHT, plotWidth, type View } from "../../charts/plot";
import { h, setText } from "../../dom";
import { orNothing } from "../../format";
import type { LiveSeries, LiveTotals } from "../../model";
import type { ColourName, Theme } from "../../theme";
import { LiveBrush } from "./brush";
import { lastKnown, stackOf, type Values } from "./stack";

export interface LiveLine {
  /** If it depends on the figures, it is empty for a line that is not there. */
  label: string | ((series: LiveSeries) => string);
  colour: ColourName;
  of(series: LiveSeries): Values;
}

export interface LiveLinesOptions {
  id: string;
  title: string;
  note: string;
  lines: readonly LiveLine[];
  write(value: number): string;
  log?: boolean;
  /** Whether the lines are stacked, the first at the bottom. */
  stacked?: boolean;
  /** The highest possible value. */
  ceiling?: number;
  /** The source of the figures, and what to say if it is not recorded: zeros would look like figures. */
  source?: { name: string; missing: string };
}

/** Whether a source recorded in the window. */
export function isRecorded({ sources }: LiveTotals, name: string): boolean {
  return sources.some(({ source }) => source === name);
}

const HEIGHT = 170;
const PADDING_TOP = 6;
const LEGEND_PX = 18;
/** The height of the heatmap's scale, which is there instead of a legend. */
const SCALE_PX = 38;
/** The height of the heatmap that makes its panel as high as the others. */
export const HEAT_HEIGHT = HEIGHT + LEGEND_PX - SCALE_PX - AXIS_HEIGHT;

/** A window in seconds since the Unix epoch, and when the first figures are from. */
export interface LiveSpan {
  from_s: number;
  to_s: number;
  kept_from_s: number;
}

/** A window as all charts of the live page draw it: in seconds since the Unix epoch, with the time of day. */
export function liveView(window: LiveSpan, width: number, theme: Theme): View {
  return {
    window: { start: window.from_s, end: window.to_s },
    latency: "response",
    width,
    theme,
    duration_s: window.to_s - window.from_s,
    phaseEdges: [],
    writeTime: utc,
    figuresFrom: window.kept_from_s,
  };
}

/** One chart of the live page. Its data are replaced every second. */
export class LiveLines {
  readonly root: HTMLElement;
  readonly #body = h("div", { class: "live-plot" });
  readonly #missing: HTMLElement;
  readonly #legend: HTMLElement;
  readonly #values: HTMLElement[];
  readonly #labels: HTMLElement[];
  readonly #brush: LiveBrush;
  #chart: uPlot | null = null;
  #view: View | null = null;
  #made = "";

  constructor(
    private readonly options: LiveLinesOptions,
    private readonly theme: Theme,
    choose: (from: number, to: number) => void,
  ) {
    this.#brush = new LiveBrush(this.#body, choose);
    this.#values = options.lines.map(() => h("span", { class: "value" }));
    this.#labels = options.lines.map(({ label }) => h("span", {}, typeof label === "string" ? label : ""));
    const items = options.lines.map(({ colour }, place) => {
      const swatch = h("span", { class: options.stacked ? "swatch area" : "swatch", "aria-hidden": "true" });
      swatch.style.setProperty("--swatch", `var(--${colour})`);
      return h("li", {}, swatch, this.#labels[place], this.#values[place]);
    });
    this.#legend = h("div", { class: "legend" }, h("ul", {}, ...items));
    this.#missing = h("p", { class: "missing", hidden: true }, options.source?.missing ?? "");
    this.root = h(
      "figure",
      { class: "panel", "aria-labelledby": `live-${options.id}` },
      h(
        "header",
        {},
        h("h3", { id: `live-${options.id}` }, options.title),
        h("span", { class: "note" }, options.note),
      ),
      this.#legend,
      this.#missing,
      this.#body,
    );
  }

  show(series: LiveSeries, totals: LiveTotals, window: LiveSpan): void {
    const { lines, write, stacked, source } = this.options;
    const isMissing = source !== undefined && !isRecorded(totals, source.name);
    this.#legend.hidden = isMissing;
    this.#missing.hidden = !isMissing;
    this.#body.hidden = isMissing;
    if (isMissing) {
      this.#brush.follow(null);
      return;
    }
    const count = series.requests_per_s.length;
    const x = Array.from({ length: count }, (_, bin) => series.from_s + (bin + 0.5) * series.bin_s);
    const values = lines.map((line) => line.of(series));
    lines.forEach(({ label }, place) => {
      const element = this.#labels[place];
      if (!element || typeof label === "string") return;
      setText(element, label(series));
      const item = element.closest("li");
      if (item) item.hidden = element.textContent === "";
    });
    values.forEach((column, place) => {
      const element = this.#values[place];
      if (element) setText(element, orNothing(stacked ? lastKnown(column) : column.at(-1), write));
    });
    // The highest layer of a stack is drawn first, and the others over it.
    const columns = stacked ? stackOf(values, series.bin_s).reverse() : values;
    const data = [x, ...columns] as uPlot.AlignedData;
    const width = Math.max(200, this.#body.clientWidth);
    this.#view = liveView(window, width, this.theme);
    const shape = `${width} ${this.theme.dark}`;
    if (this.#chart === null || shape !== this.#made) {
      this.#made = shape;
      this.#chart?.destroy();
      this.#chart = new uPlot(this.#settings(width), data, this.#body);
    }
    const chart = this.#chart;
    chart.batch(() => {
      chart.setData(data, true);
      chart.setScale("x", { min: window.from_s, max: window.to_s });
    });
    this.#brush.follow(this.#view);
  }

  /** Shows no figures. */
  clear(): void {
    this.#chart?.destroy();
    this.#chart = null;
    this.#brush.follow(null);
    this.#missing.hidden = true;
    this.#body.hidden = this.#legend.hidden = false;
    for (const value of this.#values) setText(value, "");
    this.options.lines.forEach(({ label }, place) => {
      const item = this.#labels[place]?.closest("li");
      if (item && typeof label !== "string") item.hidden = true;
    });
  }

  #settings(width: number): uPlot.Options {
    const { lines, log, stacked, ceiling, write } = this.options;
    return {
      width,
      height: HEIGHT,
      padding: [PADDING_TOP, GUTTER_RIGHT, 0, 0],
      // Its selection stays at its pixels while the data move on; the brush follows their times.
      cursor: { drag: { x: false, y: false, setScale: false }, points: { show: false } },
      legend: { show: false },
      scales: {
        x: { time: false, auto: false },
        y: log ? { distr: 3 } : { range: (_, __, most) => [0, ceiling ?? (most ? most * 1.1 : 1)] },
      },
      axes: [
        // The times are drawn as in the heatmap.
        { size: AXIS_HEIGHT, splits: () => [] },
        {
          size: GUTTER_LEFT,
          gap: 6,
          font: AXIS_FONT,
          stroke: this.theme.colour("muted"),
          grid: { stroke: this.theme.colour("grid"), width: 1 },
          ticks: { show: false },
          values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : write(tick))),
        },
      ],
      series: [
        {},
        ...(stacked ? [...lines].reverse() : lines).map(({ colour }) => ({
          stroke: this.theme.colour(colour),
          width: 1.5,
          points: { show: false },
          ...(stacked ? { fill: this.theme.colour(colour), width: 0 } : {}),
        })),
      ],
      hooks: {
        drawClear: [(chart) => this.#drawTimes(chart, "grid")],
        draw: [(chart) => this.#drawTimes(chart, "axis")],
      },
    };
  }

  #drawTimes({ ctx, bbox }: uPlot, part: "grid" | "axis"): void {
    const view = this.#view;
    if (!view) return;
    const ratio = bbox.width / plotWidth(view);
    const [top, height] = [bbox.top / ratio, bbox.height / ratio];
    ctx.save();
    ctx.scale(ratio, ratio);
    if (part === "grid") drawTimeGrid(ctx, view, top, height);
    else {
      writeEmpty(ctx, view, top, height);
      drawTimeAxis(ctx, view, top + height);
    }
    ctx.restore();
  }
}

/** 20:15:07 */
export function utc(time_s: number): string {
  return new Date(time_s * 1000).toISOString().slice(11, 19);
}
