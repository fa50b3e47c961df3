import { h } from "../dom";
import type { Plot } from "./plot";

/** The actions of a pointer on any plot; pixels are CSS pixels from the left edge of the plotting area. */
export interface Gestures {
  point(plot: Plot, at: { x: number; y: number } | null): void;
  /** A brush is being drawn; null when it was cancelled. */
  brush(pixels: { from: number; to: number } | null): void;
  /** The brush was released, which zooms. */
  choose(pixels: { from: number; to: number }): void;
  /** The picture is being dragged, by this many pixels since the last call. */
  drag(pixels: number): void;
  scale(factor: number, x: number): void;
  reset(): void;
}

/** A brush shorter than this counts as a click. */
const CLICK_PX = 4;

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

  showBrush(pixels: { from: number; to: number } | null): void {
    this.#brush.hidden = pixels === null;
    if (!pixels) return;
    this.#brush.style.left = `${pixels.from}px`;
    this.#brush.style.width = `${pixels.to - pixels.from}px`;
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
    const pressed = this.#at(event).x;
    let last = pressed;
    const listening = new AbortController();
    over.setPointerCapture(event.pointerId);
    const pixelsTo = (x: number) => ({ from: Math.min(pressed, x), to: Math.max(pressed, x) });
    const move = (moved: PointerEvent): void => {
      const { x } = this.#at(moved);
      if (panning) gestures.drag(x - last);
      else gestures.brush(Math.abs(x - pressed) < CLICK_PX ? null : pixelsTo(x));
      last = x;
    };
    const release = (released: PointerEvent): void => {
      listening.abort();
      gestures.brush(null);
      const pixels = pixelsTo(this.#at(released).x);
      if (!panning && released.type === "pointerup" && pixels.to - pixels.from >= CLICK_PX)
        gestures.choose(pixels);
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
