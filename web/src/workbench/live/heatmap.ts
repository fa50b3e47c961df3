import { HeatGrid } from "../../charts/heat-grid";
import { HeatmapPlot } from "../../charts/heatmap-plot";
import { h } from "../../dom";
import type { LiveHeat } from "../../model";
import type { Theme } from "../../theme";
import { LiveBrush } from "./brush";
import { HEAT_HEIGHT, type LiveSpan, liveView } from "./lines";

/** The latency heatmap of the live page. It is drawn again every second; a drag over it goes on meanwhile. */
export class LiveHeatmap {
  readonly root: HTMLElement;
  readonly #plot = h("div", {});
  readonly #body = h("div", { class: "live-plot" }, this.#plot);
  readonly #brush: LiveBrush;

  constructor(
    private readonly theme: Theme,
    choose: (from: number, to: number) => void,
  ) {
    this.#brush = new LiveBrush(this.#body, choose);
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
      this.#brush.follow(null);
      this.#plot.replaceChildren(h("p", { class: "missing" }, "No requests in this time."));
      return;
    }
    const plot = new HeatmapPlot(new HeatGrid({ ...grid, start_s: grid.from_s }), [], () => {}, HEAT_HEIGHT);
    const view = liveView(window, width, this.theme);
    plot.draw(view);
    this.#plot.replaceChildren(plot.root);
    this.#brush.follow(view);
  }

  /** Shows no figures. */
  clear(): void {
    this.#brush.follow(null);
    this.#plot.replaceChildren();
  }
}
