import { edgesOf } from "../charts/bands";
import { GUTTER_LEFT, GUTTER_RIGHT, plotWidth, type View, xOf } from "../charts/plot";
import type { ChartStack } from "../charts/stack";
import { fitInto, sameWindow, type Window } from "../charts/window";
import { h } from "../dom";
import { clock } from "../format";
import type { Finding, Report } from "../model";
import type { Store } from "../state";

const HEIGHT = 30;
/** Height of the line with the times of the whole run. */
const TIMES_PX = 16;
/** From here to the lower edge, a funnel leads from the frame to the whole width of the charts. */
const FUNNEL_PX = 4;
const FINDINGS_PX = 5;
const CLICK_PX = 4;

/**
 * The whole run in one line: the slowest request over time, the findings, where the charts are, and the times of its
 * two ends.
 */
export class Overview {
  readonly root: HTMLElement;
  readonly #canvas = h("canvas", { "aria-hidden": "true" });
  readonly #frame = h("div", { class: "here" });
  readonly #over: HTMLElement;
  readonly #funnel = h("div", { class: "funnel" });
  #drawn = "";
  #marked: readonly Finding[] = [];
  #listed: readonly Finding[] = [];

  constructor(
    private readonly report: Report,
    private readonly store: Store,
    private readonly stack: ChartStack,
    private readonly marks: () => readonly Finding[],
  ) {
    this.#over = h("div", { class: "over" }, this.#frame);
    this.#over.style.cssText = `left:${GUTTER_LEFT}px;right:${GUTTER_RIGHT}px;top:0;height:${HEIGHT}px`;
    this.root = h(
      "div",
      { class: "overview", title: "The whole run: drag the frame to move, drag elsewhere to zoom" },
      h("span", { class: "of-axis" }, "whole run"),
      this.#canvas,
      this.#over,
      this.#timesOf(store.whole),
    );
    this.root.style.height = `${HEIGHT + TIMES_PX}px`;
    this.#over.addEventListener("pointerdown", (event) => this.#press(event));
    this.#over.addEventListener("dblclick", () => store.reset());
  }

  #timesOf({ start, end }: Window): HTMLElement {
    const ends = [start, end].map((time) => h("span", {}, clock(time, end / 500, end)));
    const times = h("div", { class: "ends" }, this.#funnel, ...ends);
    times.style.cssText = `left:${GUTTER_LEFT}px;right:${GUTTER_RIGHT}px;top:${HEIGHT}px;height:${TIMES_PX}px`;
    return times;
  }

  draw(view: View): void {
    const whole = { ...view, window: this.store.whole };
    this.#placeFrame(this.store.selection.window, whole);
    const { findings } = this.report;
    const marks = this.marks();
    const key = `${view.width} ${view.theme.dark} ${view.latency} ${this.store.selection.finding}`;
    if (key === this.#drawn && marks === this.#marked && findings === this.#listed) return;
    [this.#drawn, this.#marked, this.#listed] = [key, marks, findings];
    this.#paint(whole);
  }

  #placeFrame(window: Window, whole: View): void {
    const { from, to } = edgesOf(window.start, window.end, whole);
    this.#frame.hidden = sameWindow(window, this.store.whole);
    this.#frame.style.left = `${from}px`;
    this.#frame.style.width = `${to - from}px`;
    this.#funnel.hidden = this.#frame.hidden;
    this.#funnel.style.clipPath = `polygon(${from}px 0, ${to}px 0, ${to}px ${FUNNEL_PX}px, 100% 100%, 0 100%, ${from}px ${FUNNEL_PX}px)`;
  }

  #paint(view: View): void {
    const ratio = devicePixelRatio || 1;
    const { theme } = view;
    this.#canvas.width = Math.round(view.width * ratio);
    this.#canvas.height = HEIGHT * ratio;
    this.#canvas.style.width = `${view.width}px`;
    this.#canvas.style.height = `${HEIGHT}px`;
    const context = this.#canvas.getContext("2d");
    if (!context) return;
    context.scale(ratio, ratio);
    context.translate(GUTTER_LEFT, 0);
    const chosen = this.report.findings.find(({ rank }) => rank === this.store.selection.finding);
    if (chosen) {
      const { from, to } = edgesOf(chosen.start_s, chosen.end_s, view);
      context.fillStyle = theme.colour("grid");
      context.fillRect(from, 0, to - from, HEIGHT);
    }
    context.fillStyle = theme.colour("p99");
    this.#bars(context, view);
    // Least important first, so that the important ones lie on top.
    for (const finding of [...this.marks()].reverse()) {
      const { from, to } = edgesOf(finding.start_s, finding.end_s, view);
      if (to - from > plotWidth(view) * 0.9) continue;
      context.fillStyle = theme.colour(finding.severity);
      context.fillRect(from, 0, to - from, FINDINGS_PX - 1);
    }
  }

  /** The slowest request per pixel on a log scale. */
  #bars(context: CanvasRenderingContext2D, view: View): void {
    const { latency } = this.report;
    const slowest = new Map<number, number>();
    let [least, most] = [Number.POSITIVE_INFINITY, 0];
    latency[view.latency].max_ms.forEach((max, bin) => {
      if (max === null || max <= 0) return;
      const x = Math.floor(xOf(latency.time_s[bin] ?? 0, view));
      slowest.set(x, Math.max(slowest.get(x) ?? 0, max));
      least = Math.min(least, max);
      most = Math.max(most, max);
    });
    const step = Math.max(1, Math.ceil(xOf(latency.bin_s, view)));
    for (const [x, max] of slowest) {
      const share = most > least ? Math.log(max / least) / Math.log(most / least) : 1;
      const height = 2 + share * (HEIGHT - FINDINGS_PX - 4);
      context.fillRect(x, HEIGHT - height, step, height);
    }
  }

  #press(event: PointerEvent): void {
    const box = this.#over.getBoundingClientRect();
    const { store } = this;
    const { whole } = store;
    const timeOf = (moved: PointerEvent): number => {
      const share = Math.min(1, Math.max(0, (moved.clientX - box.left) / box.width));
      return whole.start + share * (whole.end - whole.start);
    };
    const pressed = timeOf(event);
    const before = store.selection.window;
    const moving = pressed >= before.start && pressed <= before.end && !sameWindow(before, whole);
    const listening = new AbortController();
    this.#over.setPointerCapture(event.pointerId);
    const shortest = (CLICK_PX / box.width) * (whole.end - whole.start);
    this.#over.addEventListener(
      "pointermove",
      (moved) => {
        const time = timeOf(moved);
        const window = moving
          ? fitInto({ start: before.start + time - pressed, end: before.end + time - pressed }, whole)
          : { start: Math.min(pressed, time), end: Math.max(pressed, time) };
        if (Math.abs(time - pressed) >= shortest) store.change({ window }, "motion");
      },
      { signal: listening.signal },
    );
    const release = (): void => listening.abort();
    this.#over.addEventListener("pointerup", release, { signal: listening.signal });
    this.#over.addEventListener("pointercancel", release, { signal: listening.signal });
    this.stack.moveCursor(null);
  }
}
