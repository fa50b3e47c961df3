import { HeatGrid } from "../../charts/heat-grid";
import { ColourScale } from "../../charts/heatmap";
import { HeatmapPlot } from "../../charts/heatmap-plot";
import type { LatencyRange, View } from "../../charts/plot";
import { h } from "../../dom";
import type { LiveHeat } from "../../model";
import type { Theme } from "../../theme";
import { LiveBrush } from "./brush";
import { HEAT_HEIGHT, type LiveSpan, liveView } from "./lines";

/** The latency heatmap of the live page. It is drawn again every second; a drag over it goes on meanwhile. */
export class LiveHeatmap {
  readonly root: HTMLElement;
  readonly #plot = h("div", {});
  readonly #body = h("div", { class: "live-plot heat" }, this.#plot);
  readonly #scale = new ColourScale(true);
  readonly #brush: LiveBrush;
  #drawn: { plot: HeatmapPlot; view: View } | null = null;
  /** Where the pointer is, on the screen; null if it is elsewhere. */
  #pointer: { x: number; y: number } | null = null;

  constructor(
    private readonly theme: Theme,
    choose: (from: number, to: number) => void,
    select: (from: number, to: number, range: LatencyRange) => void,
  ) {
    this.#brush = new LiveBrush(this.#body, choose, {
      part: () => this.#drawn?.plot.over.getBoundingClientRect() ?? null,
      choose: (from, to, heights) => {
        const range = this.#drawn?.plot.latencies(heights.from, heights.to);
        if (range) select(from, to, range);
      },
    });
    this.#body.addEventListener("pointermove", ({ clientX, clientY }) => {
      this.#pointer = { x: clientX, y: clientY };
      this.#hover();
    });
    this.#body.addEventListener("pointerleave", () => {
      this.#pointer = null;
      this.#hover();
    });
    this.root = h(
      "figure",
      { class: "panel", "aria-labelledby": "live-heat" },
      h(
        "header",
        {},
        h("h3", { id: "live-heat" }, "Latency heatmap"),
        h("span", { class: "note" }, "ms, log scale; drag a rectangle to list its requests"),
      ),
      this.#body,
    );
  }

  show(data: LiveHeat, window: LiveSpan): void {
    const width = this.#body.clientWidth;
    if (data.cells.length === 0 || width === 0) {
      this.#drop();
      this.#plot.replaceChildren(h("p", { class: "missing" }, "No requests in this time."));
      return;
    }
    const grid = new HeatGrid({ ...data, start_s: data.from_s });
    const plot = new HeatmapPlot(
      grid,
      [],
      (cells, shown) => this.#scale.draw(cells, grid, shown),
      HEAT_HEIGHT,
    );
    const view = liveView(window, width, this.theme);
    plot.draw(view);
    this.#plot.replaceChildren(plot.root);
    if (!this.#scale.root.isConnected) this.#body.before(this.#scale.root);
    this.#drawn = { plot, view };
    this.#brush.follow(view);
    this.#hover();
  }

  /** Shows no figures. */
  clear(): void {
    this.#drop();
    this.#plot.replaceChildren();
  }

  #drop(): void {
    this.#drawn = null;
    this.#scale.root.remove();
    this.#brush.follow(null);
  }

  /** Shows the count of the cell below the pointer, after each drawing. */
  #hover(): void {
    if (this.#drawn === null) return;
    const { plot, view } = this.#drawn;
    const box = plot.over.getBoundingClientRect();
    const at = this.#pointer && { x: this.#pointer.x - box.left, y: this.#pointer.y - box.top };
    const isInside = at !== null && at.x >= 0 && at.x <= box.width && at.y >= 0 && at.y <= box.height;
    plot.hover(isInside && !this.#brush.isDrawing ? at : null, view);
  }
}
