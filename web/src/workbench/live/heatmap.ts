import { HeatGrid } from "../../charts/heat-grid";
import { HeatmapPlot } from "../../charts/heatmap-plot";
import { GUTTER_LEFT, GUTTER_RIGHT, timeAt, type View } from "../../charts/plot";
import { h } from "../../dom";
import type { LiveHeat } from "../../model";
import type { Theme } from "../../theme";
import { HEAT_HEIGHT, type LiveSpan, liveView } from "./lines";

/** A drag over less than this is a click. */
const CLICK_PX = 4;

/** The latency heatmap of the live page. It is drawn anew every second; a drag over it goes on meanwhile. */
export class LiveHeatmap {
  readonly root: HTMLElement;
  readonly #plot = h("div", {});
  readonly #brush = h("div", { class: "brush", hidden: true });
  readonly #body = h("div", { class: "live-plot heat" }, this.#plot, this.#brush);
  #view: View | null = null;

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
      this.#plot.replaceChildren(h("p", { class: "missing" }, "No requests in this time."));
      return;
    }
    const plot = new HeatmapPlot(new HeatGrid({ ...grid, start_s: grid.from_s }), [], () => {}, HEAT_HEIGHT);
    this.#view = liveView(window, width, this.theme);
    plot.draw(this.#view);
    this.#plot.replaceChildren(plot.root);
  }

  /** Shows no figures. */
  clear(): void {
    this.#view = null;
    this.#plot.replaceChildren();
  }

  #press(event: PointerEvent): void {
    const view = this.#view;
    if (!view || event.button !== 0) return;
    const xOf = (at: PointerEvent): number => {
      const x = at.clientX - this.#body.getBoundingClientRect().left;
      return Math.min(view.width - GUTTER_RIGHT, Math.max(GUTTER_LEFT, x));
    };
    const pressed = xOf(event);
    const edges = (at: PointerEvent): [number, number] => {
      const x = xOf(at);
      return [Math.min(pressed, x), Math.max(pressed, x)];
    };
    this.#body.setPointerCapture(event.pointerId);
    const listening = new AbortController();
    const { signal } = listening;
    const move = (at: PointerEvent): void => {
      const [from, to] = edges(at);
      this.#brush.hidden = to - from < CLICK_PX;
      this.#brush.style.left = `${from}px`;
      this.#brush.style.width = `${to - from}px`;
    };
    const release = (at: PointerEvent): void => {
      listening.abort();
      this.#brush.hidden = true;
      const [from, to] = edges(at);
      if (at.type === "pointerup" && to - from >= CLICK_PX)
        this.choose(timeAt(from - GUTTER_LEFT, view), timeAt(to - GUTTER_LEFT, view));
    };
    this.#body.addEventListener("pointermove", move, { signal });
    this.#body.addEventListener("pointerup", release, { signal });
    this.#body.addEventListener("pointercancel", release, { signal });
  }
}
