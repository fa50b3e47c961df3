import { HeatGrid } from "../../charts/heat-grid";
import { HeatmapPlot } from "../../charts/heatmap-plot";
import { GUTTER_LEFT, plotWidth, timeAt, type View, xOf } from "../../charts/plot";
import { h } from "../../dom";
import type { LiveHeat } from "../../model";
import type { Theme } from "../../theme";
import { HEAT_HEIGHT, type LiveSpan, liveView } from "./lines";

/** A drag over less than this is a click. */
const CLICK_PX = 4;

/** The latency heatmap of the live page. It is drawn again every second; a drag over it goes on meanwhile. */
export class LiveHeatmap {
  readonly root: HTMLElement;
  readonly #plot = h("div", {});
  readonly #brush = h("div", { class: "brush", hidden: true });
  readonly #body = h("div", { class: "live-plot heat" }, this.#plot, this.#brush);
  #view: View | null = null;
  /** Draws the brush of a drag again, whose first edge moves on with its time. */
  #drawBrush: (() => void) | null = null;

  constructor(
    private readonly theme: Theme,
    private readonly choose: (from: number, to: number) => void,
  ) {
    this.#body.addEventListener("pointerdown", (event) => this.#press(event));
    this.root = h(
      "figure",
      { class: "panel", "aria-labelledby": "live-heat" },
      h(
        "header",
        {},
        h("h3", { id: "live-heat" }, "Latency heatmap"),
        h("span", { class: "note" }, "ms, log scale; colour is how many"),
      ),
      this.#body,
    );
  }

  show(grid: LiveHeat, window: LiveSpan): void {
    const width = this.#body.clientWidth;
    if (grid.cells.length === 0 || width === 0) {
      this.#view = null;
      this.#drawBrush?.();
      this.#plot.replaceChildren(h("p", { class: "missing" }, "No requests in this time."));
      return;
    }
    const plot = new HeatmapPlot(new HeatGrid({ ...grid, start_s: grid.from_s }), [], () => {}, HEAT_HEIGHT);
    this.#view = liveView(window, width, this.theme);
    plot.draw(this.#view);
    this.#plot.replaceChildren(plot.root);
    this.#drawBrush?.();
  }

  /** Shows no figures. */
  clear(): void {
    this.#view = null;
    this.#drawBrush?.();
    this.#plot.replaceChildren();
  }

  #press(event: PointerEvent): void {
    const { button, pointerId } = event;
    if (!this.#view || button !== 0 || this.#drawBrush) return;
    const placeOf = (at: PointerEvent): number =>
      at.clientX - this.#body.getBoundingClientRect().left - GUTTER_LEFT;
    const within = (x: number, view: View): number => Math.min(plotWidth(view), Math.max(0, x));
    const pressed = placeOf(event);
    const pressed_s = timeAt(within(pressed, this.#view), this.#view);
    let pointer = pressed;
    /** The places of the brush's edges in what is drawn now; null for a click. */
    const edges = (view: View): [number, number] | null => {
      const [from, to] = [within(xOf(pressed_s, view), view), within(pointer, view)].sort((a, b) => a - b);
      if (from === undefined || to === undefined) return null;
      return Math.min(to - from, Math.abs(pointer - pressed)) < CLICK_PX ? null : [from, to];
    };
    const draw = (): void => {
      const drawn = this.#view && edges(this.#view);
      this.#brush.hidden = !drawn;
      if (!drawn) return;
      this.#brush.style.left = `${GUTTER_LEFT + drawn[0]}px`;
      this.#brush.style.width = `${drawn[1] - drawn[0]}px`;
    };
    this.#drawBrush = draw;
    this.#body.setPointerCapture(pointerId);
    const listening = new AbortController();
    const { signal } = listening;
    const move = (at: PointerEvent): void => {
      pointer = placeOf(at);
      draw();
    };
    const release = (at: PointerEvent): void => {
      listening.abort();
      this.#drawBrush = null;
      this.#brush.hidden = true;
      pointer = placeOf(at);
      const view = this.#view;
      if (at.type !== "pointerup" || !view || !edges(view)) return;
      const released_s = timeAt(within(pointer, view), view);
      this.choose(Math.min(pressed_s, released_s), Math.max(pressed_s, released_s));
    };
    this.#body.addEventListener("pointermove", move, { signal });
    this.#body.addEventListener("pointerup", release, { signal });
    this.#body.addEventListener("pointercancel", release, { signal });
  }
}
