import { GUTTER_LEFT, plotWidth, timeAt, type View, xOf } from "../../charts/plot";
import { h } from "../../dom";

/** A drag over less than this is a click. */
const CLICK_PX = 4;

/** Chooses a stretch of time by a drag over a chart that moves on meanwhile. */
export class LiveBrush {
  readonly #brush = h("div", { class: "brush", hidden: true });
  #view: View | null = null;
  /** Draws the brush of a drag again, whose first edge moves on with its time. */
  #draw: (() => void) | null = null;

  /** `body` has `position: relative`, and begins at the left edge of the chart. */
  constructor(
    private readonly body: HTMLElement,
    private readonly choose: (from: number, to: number) => void,
  ) {
    body.append(this.#brush);
    body.addEventListener("pointerdown", (event) => this.#press(event));
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
    this.#draw = draw;
    this.body.setPointerCapture(pointerId);
    const listening = new AbortController();
    const { signal } = listening;
    const move = (at: PointerEvent): void => {
      pointer = placeOf(at);
      draw();
    };
    const release = (at: PointerEvent): void => {
      listening.abort();
      this.#draw = null;
      this.#brush.hidden = true;
      pointer = placeOf(at);
      const view = this.#view;
      if (at.type !== "pointerup" || !view || !edges(view)) return;
      const released_s = timeAt(within(pointer, view), view);
      this.choose(Math.min(pressed_s, released_s), Math.max(pressed_s, released_s));
    };
    this.body.addEventListener("pointermove", move, { signal });
    this.body.addEventListener("pointerup", release, { signal });
    this.body.addEventListener("pointercancel", release, { signal });
  }
}
