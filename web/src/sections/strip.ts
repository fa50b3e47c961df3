import { drawTimeAxis, drawTimeGrid } from "../charts/canvas-plot";
import { GUTTER_LEFT, GUTTER_RIGHT, plotWidth, type View, xOf } from "../charts/plot";
import type { ChartStack } from "../charts/stack";
import { sameWindow } from "../charts/window";
import { h, setText } from "../dom";
import { clock, span, wallTime } from "../format";
import type { Finding, Phase, Report } from "../model";
import type { Store } from "../state";
import type { Action } from "./actions";
import { SEVERITY } from "./findings";
import { Overview } from "./overview";

const AXIS_PX = 22;
/** A phase narrower than this has no space for its name, nor for borders on both sides. */
const SLIM_PX = 18;

/**
 * The strip that stays above the charts: the window in words, the whole run, the phases and the time axis. `marks`
 * are the findings of the whole run if the report has those of a window.
 */
export function strip(
  report: Report,
  store: Store,
  stack: ChartStack,
  actions: readonly Action[],
  marks = (): readonly Finding[] => report.findings,
): HTMLElement {
  const window = h("span", { class: "window", role: "status" });
  const wall = h("span", { class: "wall quiet" });
  const finding = h("span", { class: "of-finding", role: "status" });
  const cursor = h("span", { class: "at-cursor" });
  const buttons = actions
    .filter(({ button }) => button !== undefined)
    .map(({ button, does, keys, run }) =>
      h(
        "button",
        { type: "button", title: `${does} (${keys.join(" or ")})`, "aria-label": does, onclick: run },
        button,
      ),
    );
  const overview = new Overview(report, store, stack, marks);
  const phases = new PhaseBand(report, store);
  const axis = h("canvas", { class: "axis", "aria-hidden": "true" });
  const ofWindow = h("span", { class: "of-axis" }, "window");
  stack.onDraw((view) => {
    setText(window, windowText(report, store));
    setText(wall, wallText(report, store));
    setText(finding, findingText(report, store));
    ofWindow.hidden = sameWindow(store.selection.window, store.whole);
    overview.draw(view);
    phases.draw(view);
    drawAxis(axis, view);
  });
  stack.onCursor((time) => setText(cursor, time === null ? "" : cursorText(report, store, time)));
  return h(
    "div",
    { class: "strip" },
    h(
      "div",
      { class: "bar" },
      window,
      wall,
      cursor,
      finding,
      h("span", { class: "tools", role: "toolbar", "aria-label": "Window" }, ...buttons),
    ),
    overview.root,
    h("div", { class: "of-window" }, ofWindow, phases.root, axis),
  );
}

function windowText(report: Report, store: Store): string {
  const { window } = store.selection;
  if (sameWindow(window, store.whole)) return `Whole run, ${span(report.duration_s)}`;
  const length = window.end - window.start;
  const write = (time: number): string => clock(time, length / 500, report.duration_s);
  return `${write(window.start)} – ${write(window.end)} s from the start, ${span(length)} of ${span(report.duration_s)}`;
}

/** The window's edges as the live page and logs write them. */
function wallText(report: Report, store: Store): string {
  const { start, end } = store.selection.window;
  const [from, to] = [start, end].map((time) => wallTime(report.start, time, (end - start) / 500));
  return from === "" ? "" : `= ${from} – ${to} UTC`;
}

/** The selected finding is repeated here, because its card may be far up the page. */
function findingText(report: Report, store: Store): string {
  const shown = report.findings.find(({ rank }) => rank === store.selection.finding);
  return shown ? `${SEVERITY[shown.severity].icon} ${shown.title}` : "";
}

function cursorText(report: Report, store: Store, time: number): string {
  const { window } = store.selection;
  const wall = wallTime(report.start, time);
  return `${clock(time, (window.end - window.start) / 2000, report.duration_s)} s${wall === "" ? "" : ` = ${wall} UTC`}`;
}

function drawAxis(canvas: HTMLCanvasElement, view: View): void {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(view.width * ratio);
  canvas.height = AXIS_PX * ratio;
  canvas.style.width = `${view.width}px`;
  canvas.style.height = `${AXIS_PX}px`;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  drawTimeGrid(context, view, 0, 4);
  drawTimeAxis(context, view, 0);
}

/** Phases by name over the charts; each is a button that zooms to it. */
class PhaseBand {
  readonly root = h("div", { class: "phases", role: "group", "aria-label": "Phases" });
  readonly #phases: Phase[];
  readonly #buttons: HTMLButtonElement[];

  constructor(report: Report, store: Store) {
    // The one phase of a recording without marks would look like the window's.
    this.#phases = report.phases.filter(({ marked }) => marked);
    this.#buttons = this.#phases.map((phase) => {
      const button = h(
        "button",
        {
          type: "button",
          class: phase.measured ? "phase" : "phase unmeasured",
          title: `${phaseTitle(phase)}: zoom to this phase`,
          onclick: () => store.change({ window: { start: phase.start_s, end: phase.end_s }, finding: null }),
        },
        phase.name,
      );
      return button;
    });
    this.root.append(...this.#buttons);
    this.root.hidden = this.#phases.length === 0;
    this.root.style.marginLeft = `${GUTTER_LEFT}px`;
    this.root.style.marginRight = `${GUTTER_RIGHT}px`;
  }

  draw(view: View): void {
    this.#phases.forEach((phase, index) => {
      const button = this.#buttons[index];
      if (!button) return;
      const left = Math.max(0, xOf(phase.start_s, view));
      const right = Math.min(plotWidth(view), xOf(phase.end_s, view));
      button.hidden = right - left < 1;
      button.classList.toggle("slim", right - left < SLIM_PX);
      button.style.left = `${left}px`;
      button.style.width = `${Math.max(1, right - left - 1)}px`;
    });
  }
}

function phaseTitle(phase: Phase): string {
  return `${phase.name}${phase.run === null ? "" : ` of ${phase.run}`}${phase.measured ? "" : " (not judged)"}, ${span(phase.end_s - phase.start_s)}`;
}
