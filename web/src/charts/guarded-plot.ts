import { h } from "../dom";
import { failureText } from "../failure";
import type { LatencyRange, Plot, View } from "./plot";

/** A plot that shows an error message if it fails, and tries again at the next drawing. */
export class GuardedPlot implements Plot {
  readonly root: HTMLElement;
  readonly over: HTMLElement;
  readonly latencies?: (top: number, bottom: number) => LatencyRange;
  #failure: HTMLElement | null = null;

  constructor(
    private readonly plot: Plot,
    private readonly title: string,
  ) {
    this.root = plot.root;
    this.over = plot.over;
    if (plot.latencies) this.latencies = plot.latencies.bind(plot);
  }

  draw(view: View): void {
    this.#failure?.remove();
    this.#failure = null;
    this.root.classList.remove("failed");
    this.#try(() => this.plot.draw(view));
  }

  readout(time: number | null, view: View): void {
    if (!this.#failure) this.#try(() => this.plot.readout(time, view));
  }

  hover(at: { x: number; y: number } | null, view: View): void {
    if (!this.#failure) this.#try(() => this.plot.hover?.(at, view));
  }

  #try(draw: () => void): void {
    try {
      draw();
    } catch (cause) {
      this.#failure = h("p", { class: "missing failure", role: "alert" }, failureText(this.title, cause));
      this.root.classList.add("failed");
      this.root.append(this.#failure);
      reportError(cause);
    }
  }
}
