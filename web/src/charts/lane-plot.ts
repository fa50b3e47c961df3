import { h, setText } from "../dom";
import { clock, milliseconds, plural, span } from "../format";
import type { Pause, Side } from "../model";
import { edgesOf, SIDE_COLOUR } from "./bands";
import { CanvasPlot } from "./canvas-plot";
import { GUTTER_LEFT, type Plot, plotWidth, type View, xOf } from "./plot";
import { placeTip } from "./tip";
import type { Window } from "./window";

const HEIGHT = 22;
/** The largest distance, in pixels, from which the pointer finds a mark. */
const REACH_PX = 4;

export interface Lane {
  title: string;
  side: Side;
  /** Marks sorted by start. */
  pauses: Pause[];
}

export function pausesIn(pauses: readonly Pause[], window: Window): Pause[] {
  return pauses.filter(
    ({ start_s, duration_ms }) => start_s < window.end && start_s + duration_ms / 1000 > window.start,
  );
}

/** Pauses of one kind as marks on a time line. */
export class LanePlot implements Plot {
  readonly root: HTMLElement;
  readonly over: HTMLElement;
  readonly #canvas: CanvasPlot;
  readonly #sum = h("span", { class: "value" });
  readonly #tip = h("div", { class: "tip", hidden: true });

  constructor(
    private readonly lane: Lane,
    axis: boolean,
  ) {
    this.#canvas = new CanvasPlot(HEIGHT, axis);
    this.over = this.#canvas.over;
    this.#canvas.root.append(this.#tip);
    const swatch = h("span", { class: "swatch area", "aria-hidden": "true" });
    swatch.style.setProperty("--swatch", `var(--${SIDE_COLOUR[lane.side]})`);
    this.root = h(
      "div",
      { class: "plot compact" },
      h("div", { class: "legend" }, swatch, h("span", { class: "plot-title" }, lane.title), this.#sum),
      this.#canvas.root,
    );
  }

  draw(view: View): void {
    const context = this.#canvas.begin(view);
    if (!context) return;
    this.#tip.hidden = true;
    context.fillStyle = view.theme.colour("grid");
    context.fillRect(GUTTER_LEFT, HEIGHT - 1, plotWidth(view), 1);
    context.fillStyle = view.theme.colour(SIDE_COLOUR[this.lane.side]);
    const shown = pausesIn(this.lane.pauses, view.window);
    let total = 0;
    let longest = 0;
    for (const pause of shown) {
      const { from, to } = edgesOf(pause.start_s, pause.start_s + pause.duration_ms / 1000, view);
      context.fillRect(GUTTER_LEFT + from, 2, to - from, HEIGHT - 4);
      total += pause.duration_ms;
      longest = Math.max(longest, pause.duration_ms);
    }
    setText(
      this.#sum,
      shown.length === 0
        ? "none in this window"
        : `${plural(shown.length, "pause")}, ${milliseconds(total)} in all, longest ${milliseconds(longest)}`,
    );
  }

  readout(): void {}

  hover(at: { x: number; y: number } | null, view: View): void {
    const pause = at ? this.#near(at.x, view) : null;
    this.#tip.hidden = pause === null;
    if (!pause || !at) return;
    this.#tip.replaceChildren(
      h("strong", {}, `${this.lane.title}: ${milliseconds(pause.duration_ms)}`),
      ...(pause.label === "" ? [] : [h("div", {}, pause.label)]),
      h("div", { class: "quiet" }, `at ${clock(pause.start_s, 0.001, view.duration_s)} s`),
    );
    placeTip(this.#tip, { x: GUTTER_LEFT + at.x, y: HEIGHT + 4 }, view.width);
  }

  /** The longest of the pauses under the pointer: short ones are often part of it. */
  #near(x: number, view: View): Pause | null {
    let found: Pause | null = null;
    for (const pause of pausesIn(this.lane.pauses, view.window)) {
      const from = xOf(pause.start_s, view) - REACH_PX;
      const to = xOf(pause.start_s + pause.duration_ms / 1000, view) + REACH_PX;
      if (x >= from && x <= to && (!found || pause.duration_ms > found.duration_ms)) found = pause;
    }
    return found;
  }
}

/** A text that describes the lanes in a window, for screen readers. */
export function lanesSummary(lanes: readonly Lane[], window: Window): string {
  const said = lanes.map(({ title, pauses }) => {
    const shown = pausesIn(pauses, window);
    const total = shown.reduce((sum, pause) => sum + pause.duration_ms, 0);
    return shown.length === 0
      ? `${title}: none`
      : `${title}: ${shown.length}, together ${milliseconds(total)}`;
  });
  return `In ${span(window.end - window.start)}: ${said.join("; ")}.`;
}
