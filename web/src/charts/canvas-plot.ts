import { h } from "../dom";
import { clock } from "../format";
import { GUTTER_LEFT, GUTTER_RIGHT, plotWidth, type View, xOf } from "./plot";
import { timeTicks } from "./ticks";

/** The smallest distance between two time ticks, in pixels. */
export const TICK_DISTANCE = 70;
export const AXIS_HEIGHT = 22;
export const AXIS_FONT = "11px system-ui, sans-serif";

/** A canvas with the gutters of every plot, sharp on any screen. */
export class CanvasPlot {
  readonly root: HTMLElement;
  readonly over: HTMLElement;
  readonly canvas: HTMLCanvasElement;

  constructor(
    readonly height: number,
    private readonly axis: boolean,
  ) {
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.over = h("div", { class: "over" });
    this.over.style.cssText = `left:${GUTTER_LEFT}px;right:${GUTTER_RIGHT}px;top:0;height:${height}px`;
    this.root = h("div", { class: "canvas-plot" }, this.canvas, this.over);
    this.root.style.height = `${this.fullHeight}px`;
  }

  get fullHeight(): number {
    return this.height + (this.axis ? AXIS_HEIGHT : 0);
  }

  /** Clears and sizes the canvas, draws what all plots share, and returns a context in CSS pixels. */
  begin(view: View): CanvasRenderingContext2D | null {
    const ratio = devicePixelRatio || 1;
    const { canvas, fullHeight } = this;
    const width = Math.round(view.width * ratio);
    const height = Math.round(fullHeight * ratio);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    canvas.style.width = `${view.width}px`;
    canvas.style.height = `${fullHeight}px`;
    const context = canvas.getContext("2d");
    if (!context) return null;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.width, fullHeight);
    drawTimeGrid(context, view, 0, this.height);
    if (this.axis) drawTimeAxis(context, view, this.height);
    return context;
  }
}

export function ticksFor(view: View): { step: number; ticks: number[] } {
  return timeTicks(view.window.start, view.window.end, plotWidth(view) / TICK_DISTANCE);
}

const HATCH_PX = 8;
/** The narrowest time without figures that is marked. */
const HATCHED_PX = 4;

/** The width of the time before the first figures, in pixels. */
function emptyWidth(view: View): number {
  return view.figuresFrom === undefined ? 0 : Math.min(plotWidth(view), xOf(view.figuresFrom, view));
}

/** Hatches the time before the first figures. */
function hatchEmpty(context: CanvasRenderingContext2D, view: View, top: number, height: number): void {
  const width = emptyWidth(view);
  if (width < HATCHED_PX) return;
  context.save();
  context.beginPath();
  context.rect(GUTTER_LEFT, top, width, height);
  context.clip();
  context.strokeStyle = view.theme.colour("grid");
  context.lineWidth = 2;
  context.beginPath();
  for (let x = -height; x < width; x += HATCH_PX) {
    context.moveTo(GUTTER_LEFT + x, top + height);
    context.lineTo(GUTTER_LEFT + x + height, top);
  }
  context.stroke();
  context.restore();
}

/** Says when the first figures are from, where there is room for it; to be called after all lines are drawn. */
export function writeEmpty(context: CanvasRenderingContext2D, view: View, top: number, height: number): void {
  if (view.figuresFrom === undefined) return;
  const width = emptyWidth(view);
  const text = `no figures before ${timeText(view.figuresFrom, 1, view)}`;
  context.font = AXIS_FONT;
  const wide = context.measureText(text).width + 12;
  if (wide > width) return;
  const middle = GUTTER_LEFT + width / 2;
  context.fillStyle = view.theme.colour("panel");
  context.fillRect(middle - wide / 2, top + height / 2 - 9, wide, 18);
  context.fillStyle = view.theme.colour("muted");
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, middle, top + height / 2);
}

/** Vertical lines at the ticks and, stronger, where a phase begins. */
export function drawTimeGrid(
  context: CanvasRenderingContext2D,
  view: View,
  top: number,
  height: number,
): void {
  hatchEmpty(context, view, top, height);
  context.fillStyle = view.theme.colour("grid");
  for (const tick of ticksFor(view).ticks)
    context.fillRect(Math.round(GUTTER_LEFT + xOf(tick, view)), top, 1, height);
  context.fillStyle = view.theme.colour("phase-edge");
  for (const edge of view.phaseEdges) {
    if (edge > view.window.start && edge < view.window.end)
      context.fillRect(Math.round(GUTTER_LEFT + xOf(edge, view)), top, 1, height);
  }
}

/** Times under a plot. Those of the day have their clock in the left gutter; others count from the start, as the strip says. */
export function drawTimeAxis(context: CanvasRenderingContext2D, view: View, top: number): void {
  const { step, ticks } = ticksFor(view);
  context.font = AXIS_FONT;
  context.fillStyle = view.theme.colour("muted");
  context.textBaseline = "top";
  if (view.writeTime) {
    context.textAlign = "right";
    context.fillText("UTC", GUTTER_LEFT - 8, top + 6);
  }
  context.textAlign = "center";
  for (const tick of ticks) {
    const text = timeText(tick, step, view);
    const half = context.measureText(text).width / 2;
    const most = view.width - Math.max(GUTTER_RIGHT + 6, half);
    // The first one leaves room for the name of the clock.
    const least = view.writeTime ? GUTTER_LEFT - 4 + half : 0;
    context.fillText(text, Math.max(least, Math.min(GUTTER_LEFT + xOf(tick, view), most)), top + 6);
  }
}

/** A time as the axes write it. */
export function timeText(time: number, step: number, view: View): string {
  return view.writeTime?.(time) ?? clock(time, step, view.duration_s);
}
