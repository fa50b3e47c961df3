import { h } from "../dom";
import { tellAll } from "../failure";
import type { Report } from "../model";
import type { Store } from "../state";
import type { Theme } from "../theme";
import { type Panel, PanelElement } from "./panel";
import { type LatencyRange, type Plot, plotWidth, timeAt, type View, xOf } from "./plot";
import { type Edges, type Gestures, Surface } from "./surface";
import { pan, sameWindow, type Window, zoom } from "./window";

/** Plots within this distance outside of the screen are already drawn. */
const NEAR = "300px";
/** Descriptions and tables are updated when a movement has paused for this long. */
const REST_MS = 120;
/** Name under which the browser's performance timeline holds how long each redraw took. */
export const REDRAW = "helenus-redraw";

type CursorListener = (time: number | null) => void;

/** All charts over one time axis: one window, one cursor, one brush. */
export class ChartStack {
  readonly root: HTMLElement;
  readonly #panels: PanelElement[];
  readonly #surfaces = new Map<Plot, Surface>();
  readonly #visible = new Set<Plot>();
  readonly #stale = new Set<Plot>();
  readonly #cursorListeners: CursorListener[] = [];
  readonly #drawListeners: ((view: View) => void)[] = [];
  readonly #phaseEdges: number[];
  #width = 0;
  #cursor: number | null = null;
  #frame = 0;
  #resting: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly report: Report,
    private readonly store: Store,
    private readonly theme: Theme,
    panels: Panel[],
    /** Lists the requests of a rectangle of time and response time. */
    private readonly select?: (window: Window, range: LatencyRange) => void,
  ) {
    this.#phaseEdges = report.phases.map(({ start_s }) => start_s);
    this.#panels = panels.map((panel) => new PanelElement(panel, store));
    this.root = h("div", { class: "charts" }, ...this.#panels.map(({ root }) => root));
    const gestures = this.#gestures();
    const seen = new IntersectionObserver((entries) => this.#see(entries), { rootMargin: NEAR });
    const plotOf = new Map<Element, Plot>();
    for (const plot of panels.flatMap(({ missing, plots }) => (missing === null ? plots : []))) {
      this.#surfaces.set(plot, new Surface(plot, gestures));
      this.#stale.add(plot);
      plotOf.set(plot.root, plot);
      seen.observe(plot.root);
    }
    this.#see = (entries) => {
      for (const { target, isIntersecting } of entries) {
        const plot = plotOf.get(target);
        if (!plot) continue;
        if (isIntersecting) this.#visible.add(plot);
        else this.#visible.delete(plot);
      }
      this.#schedule();
    };
    new ResizeObserver(() => this.#resize()).observe(this.root);
    store.subscribe((selection, previous) => {
      if (!sameWindow(selection.window, previous.window) || selection.latency !== previous.latency)
        this.redraw();
    });
    theme.subscribe(() => this.redraw());
    addEventListener("beforeprint", () => {
      this.#width = PRINTED_WIDTH;
      this.redraw();
      this.#drawNow([...this.#surfaces.keys()]);
    });
    addEventListener("afterprint", () => this.#resize());
  }

  get view(): View {
    const { window, latency } = this.store.selection;
    return {
      window,
      latency,
      width: this.#width,
      theme: this.theme,
      duration_s: this.report.duration_s,
      phaseEdges: this.#phaseEdges,
    };
  }

  get cursor(): number | null {
    return this.#cursor;
  }

  onCursor(listener: CursorListener): void {
    this.#cursorListeners.push(listener);
  }

  /** All other views of the window are drawn in the same frame. */
  onDraw(listener: (view: View) => void): void {
    this.#drawListeners.push(listener);
  }

  redraw(): void {
    for (const plot of this.#surfaces.keys()) this.#stale.add(plot);
    this.#schedule();
    if (this.#resting !== null) clearTimeout(this.#resting);
    this.#resting = setTimeout(() => this.#describe(), REST_MS);
  }

  moveCursor(time: number | null): void {
    if (time === this.#cursor) return;
    this.#cursor = time;
    this.#schedule();
  }

  #see: (entries: IntersectionObserverEntry[]) => void = () => {};

  #resize(): void {
    const width = Math.floor(this.root.clientWidth - 2 * this.#panelPadding());
    if (width <= 0 || width === this.#width) return;
    this.#width = width;
    this.redraw();
  }

  /** Space left and right of the plots in a panel; narrow screens have less. */
  #panelPadding(): number {
    const panel = this.root.firstElementChild;
    return panel ? Number.parseFloat(getComputedStyle(panel).paddingLeft) : 0;
  }

  #schedule(): void {
    if (this.#frame !== 0 || this.#width === 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#drawNow([...this.#visible]);
    });
  }

  #drawNow(plots: Plot[]): void {
    const begun = performance.now();
    const view = this.view;
    const stale = plots.filter((plot) => this.#stale.delete(plot));
    for (const plot of stale) plot.draw(view);
    const inWindow =
      this.#cursor !== null && this.#cursor >= view.window.start && this.#cursor <= view.window.end;
    const cursor = inWindow ? this.#cursor : null;
    const x = cursor === null ? null : xOf(cursor, view);
    for (const plot of plots) {
      this.#surfaces.get(plot)?.showCursor(x);
      plot.readout(cursor, view);
    }
    tellAll(this.#cursorListeners, cursor);
    tellAll(this.#drawListeners, view);
    // uPlot draws in a microtask; this one runs after it.
    if (stale.length > 0)
      queueMicrotask(() => performance.measure(REDRAW, { start: begun, end: performance.now() }));
  }

  #describe(): void {
    const view = this.view;
    for (const panel of this.#panels) panel.describe(view);
  }

  #select(plot: Plot, pixels: Edges, heights: Edges): void {
    const range = plot.latencies?.(heights.from, heights.to);
    const [start, end] = [timeAt(pixels.from, this.view), timeAt(pixels.to, this.view)];
    if (range) this.select?.({ start, end }, range);
  }

  #gestures(): Gestures {
    const { store } = this;
    const { whole } = store;
    return {
      point: (plot, at) => {
        plot.hover?.(at, this.view);
        this.moveCursor(at ? timeAt(at.x, this.view) : null);
      },
      brush: (pixels, of) => {
        for (const surface of this.#surfaces.values()) {
          const isRectangle = of?.plot === surface.plot;
          surface.showBrush(of && !isRectangle ? null : pixels, isRectangle ? of.heights : null);
        }
      },
      chooseArea: this.select && ((plot, pixels, heights) => this.#select(plot, pixels, heights)),
      choose: ({ from, to }) =>
        store.change({
          window: { start: timeAt(from, this.view), end: timeAt(to, this.view) },
          finding: null,
        }),
      drag: (pixels) =>
        store.change(
          { window: pan(store.selection.window, -pixels / plotWidth(this.view), whole) },
          "motion",
        ),
      scale: (factor, x) =>
        store.change({ window: zoom(store.selection.window, factor, whole, timeAt(x, this.view)) }, "motion"),
      reset: () => store.reset(),
    };
  }
}

/** Width of the plots on a landscape A4 page with the margins of style/media.css. */
const PRINTED_WIDTH = 960;
