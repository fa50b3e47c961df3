import { GUTTER_LEFT, plotWidth, timeAt, type View, xOf } from "../../charts/plot";
import { type Edges, RECTANGLE_PX } from "../../charts/surface";
import { h } from "../../dom";

/** A drag over less than this is a click. */
const CLICK_PX = 4;

/** The part of a chart in which a drag may be a rectangle, and what takes its time and its heights in that part. */
export interface Rectangles {
  part(): DOMRect | null;
  choose(from: number, to: number, heights: Edges): void;
}

/** Chooses a stretch of time, or a rectangle, by a drag over a moving chart. */
export class LiveBrush {
  readonly #brush = h("div", { class: "brush", hidden: true });
  #view: View | null = null;
  /** Draws the brush of a drag again, whose first edge moves on with its time. */
  #draw: (() => void) | null = null;

  /** `body` has `position: relative`, and begins at the left edge of the chart. */
  constructor(
    private readonly body: HTMLElement,
    private readonly choose: (from: number, to: number) => void,
    private readonly rectangles: Rectangles | null = null,
  ) {
    body.append(this.#brush);
    body.addEventListener("pointerdown", (event) => this.#press(event));
  }

  /** Whether a drag is going on. */
  get isDrawing(): boolean {
    return this.#draw !== null;
  }

  /** Follows what the chart shows now; null if it has no figures. */
  follow(view: View | null): void {
    this.#view = view;
    this.#draw?.();
  }

  #press(event: PointerEvent): void {
    const { button, pointerId } = event;
    if (!this.#view || button !== 0 || this.#draw) return;
    const placeOf = (at: PointerEvent): number =>
      at.clientX - this.body.getBoundingClientRect().left - GUTTER_LEFT;
    const within = (x: number, view: View): number => Math.min(plotWidth(view), Math.max(0, x));
    const pressed = placeOf(event);
    const pressed_s = timeAt(within(pressed, this.#view), this.#view);
    const part = this.rectangles?.part() ?? null;
    let [pointer, height] = [pressed, event.clientY];
    /** The places of the brush's edges in what is drawn now; null for a click. */
    const edges = (view: View): Edges | null => {
      const [from, to] = [within(xOf(pressed_s, view), view), within(pointer, view)].sort((a, b) => a - b);
      if (from === undefined || to === undefined) return null;
      return Math.min(to - from, Math.abs(pointer - pressed)) < CLICK_PX ? null : { from, to };
    };
    /** The heights of a rectangle, from the top of its part; null for a stretch of time. */
    const heights = (): Edges | null => {
      if (part === null) return null;
      const inPart = (y: number): number => Math.min(part.height, Math.max(0, y - part.top));
      const [from, to] = [inPart(event.clientY), inPart(height)].sort((a, b) => a - b);
      return from === undefined || to === undefined || to - from < RECTANGLE_PX ? null : { from, to };
    };
    const draw = (): void => {
      const drawn = this.#view && edges(this.#view);
      this.#brush.hidden = !drawn;
      if (!drawn) return;
      this.#brush.style.left = `${GUTTER_LEFT + drawn.from}px`;
      this.#brush.style.width = `${drawn.to - drawn.from}px`;
      const band = heights();
      const top = (part?.top ?? 0) - this.body.getBoundingClientRect().top;
      this.#brush.style.top = band ? `${top + band.from}px` : "";
      this.#brush.style.height = band ? `${band.to - band.from}px` : "";
    };
    this.#draw = draw;
    this.body.setPointerCapture(pointerId);
    const listening = new AbortController();
    const { signal } = listening;
    const move = (at: PointerEvent): void => {
      [pointer, height] = [placeOf(at), at.clientY];
      draw();
    };
    const release = (at: PointerEvent): void => {
      listening.abort();
      this.#draw = null;
      this.#brush.hidden = true;
      [pointer, height] = [placeOf(at), at.clientY];
      const view = this.#view;
      if (at.type !== "pointerup" || !view || !edges(view)) return;
      const released_s = timeAt(within(pointer, view), view);
      const [from, to] = [Math.min(pressed_s, released_s), Math.max(pressed_s, released_s)];
      const band = heights();
      if (band) this.rectangles?.choose(from, to, band);
      else this.choose(from, to);
    };
    this.body.addEventListener("pointermove", move, { signal });
    this.body.addEventListener("pointerup", release, { signal });
    this.body.addEventListener("pointercancel", release, { signal });
  }
}
