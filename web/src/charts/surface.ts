import { h } from "../dom";
import type { Plot } from "./plot";

/** Two edges in CSS pixels. */
export interface Edges {
  from: number;
  to: number;
}

/** The actions of a pointer on any plot; pixels are CSS pixels from the left edge of the plotting area. */
export interface Gestures {
  point(plot: Plot, at: { x: number; y: number } | null): void;
  /** A brush is being drawn; null when it was cancelled. A brush with heights is a rectangle of one plot. */
  brush(pixels: Edges | null, of?: { plot: Plot; heights: Edges }): void;
  /** The brush was released, which zooms. */
  choose(pixels: Edges): void;
  /** A rectangle was released over a plot that has response times; missing where nobody lists requests. */
  chooseArea?: ((plot: Plot, pixels: Edges, heights: Edges) => void) | undefined;
  /** The picture is being dragged, by this many pixels since the last call. */
  drag(pixels: number): void;
  scale(factor: number, x: number): void;
  reset(): void;
}

/** A brush shorter than this counts as a click. */
const CLICK_PX = 4;
/** A brush higher than this selects response times, too. */
export const RECTANGLE_PX = 16;

/** Adds the cursor and the brush to a plot's plotting area, and listens to the pointer there. */
export class Surface {
  readonly #cursor = h("div", { class: "cursor", hidden: true });
  readonly #brush = h("div", { class: "brush", hidden: true });

  constructor(
    readonly plot: Plot,
    private readonly gestures: Gestures,
  ) {
    plot.over.append(this.#cursor, this.#brush);
    plot.over.classList.add("surface");
    plot.over.addEventListener("pointerdown", (event) => this.#press(event));
    plot.over.addEventListener("pointermove", (event) => gestures.point(plot, this.#at(event)));
    plot.over.addEventListener("pointerleave", () => gestures.point(plot, null));
    plot.over.addEventListener("dblclick", () => gestures.reset());
    plot.over.addEventListener("contextmenu", (event) => event.preventDefault());
    plot.over.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  showCursor(x: number | null): void {
    this.#cursor.hidden = x === null;
    if (x !== null) this.#cursor.style.transform = `translateX(${Math.round(x)}px)`;
  }

  showBrush(pixels: Edges | null, heights: Edges | null = null): void {
    this.#brush.hidden = pixels === null;
    if (!pixels) return;
    this.#brush.style.left = `${pixels.from}px`;
    this.#brush.style.width = `${pixels.to - pixels.from}px`;
    this.#brush.style.top = heights ? `${heights.from}px` : "";
    this.#brush.style.height = heights ? `${heights.to - heights.from}px` : "";
  }

  #at(event: PointerEvent | WheelEvent): { x: number; y: number } {
    const box = this.plot.over.getBoundingClientRect();
    const x = Math.min(box.width, Math.max(0, event.clientX - box.left));
    return { x, y: event.clientY - box.top };
  }

  #press(event: PointerEvent): void {
    if (event.button === 1) return;
    const { over } = this.plot;
    const { gestures } = this;
    const panning = event.shiftKey || event.button === 2;
    const { x: pressed, y: pressedAt } = this.#at(event);
    let last = pressed;
    const listening = new AbortController();
    over.setPointerCapture(event.pointerId);
    const pixelsTo = (x: number): Edges => ({ from: Math.min(pressed, x), to: Math.max(pressed, x) });
    const hasArea = gestures.chooseArea !== undefined && this.plot.latencies !== undefined;
    /** The heights of a rectangle; null for a brush over the whole plot. */
    const heightsTo = (y: number): Edges | null => {
      const within = Math.min(over.clientHeight, Math.max(0, y));
      if (!hasArea || Math.abs(within - pressedAt) < RECTANGLE_PX) return null;
      return { from: Math.min(pressedAt, within), to: Math.max(pressedAt, within) };
    };
    const move = (moved: PointerEvent): void => {
      const { x, y } = this.#at(moved);
      const heights = heightsTo(y);
      if (panning) gestures.drag(x - last);
      else if (Math.abs(x - pressed) < CLICK_PX) gestures.brush(null);
      else if (heights) gestures.brush(pixelsTo(x), { plot: this.plot, heights });
      else gestures.brush(pixelsTo(x));
      last = x;
    };
    const release = (released: PointerEvent): void => {
      listening.abort();
      gestures.brush(null);
      const { x, y } = this.#at(released);
      const [pixels, heights] = [pixelsTo(x), heightsTo(y)];
      if (panning || released.type !== "pointerup" || pixels.to - pixels.from < CLICK_PX) return;
      if (heights) gestures.chooseArea?.(this.plot, pixels, heights);
      else gestures.choose(pixels);
    };
    over.addEventListener("pointermove", move, { signal: listening.signal });
    over.addEventListener("pointerup", release, { signal: listening.signal });
    over.addEventListener("pointercancel", release, { signal: listening.signal });
  }

  /** Sideways moves, with Ctrl or Cmd zooms; a plain wheel scrolls the page as everywhere. */
  #wheel(event: WheelEvent): void {
    const zooming = event.ctrlKey || event.metaKey;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (!zooming && Math.abs(sideways) <= (event.shiftKey ? 0 : Math.abs(event.deltaY))) return;
    event.preventDefault();
    if (zooming) this.gestures.scale(Math.exp(event.deltaY * 0.002), this.#at(event).x);
    else this.gestures.drag(-sideways);
  }
}
