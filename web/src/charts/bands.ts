import type { Pause, Side } from "../model";
import type { ColourName } from "../theme";
import { type View, xOf } from "./plot";

/** The smallest width of a band, so that a pause of 1 ms in a run of an hour is visible. */
export const THINNEST_PX = 2;

/** Opacity of a band and of its two edges; in a thin band only the edges are visible. */
const FAINT = 0.13;
const EDGE = 0.4;
/** The faintest opacity of a mark that was widened beyond its pause: many of them must not look like one long pause. */
const FAINTEST = 0.16;

export const SIDE_COLOUR: Record<Side, ColourName> = {
  server: "pause-server",
  load: "pause-load",
  recorder: "pause-recorder",
};

/**
 * Draws the pauses as faint bands behind a plot. Overlapping bands are merged first, because faint colours on
 * top of each other would look stronger.
 */
export function drawPauseBands(
  context: CanvasRenderingContext2D,
  pauses: readonly Pause[],
  view: View,
  box: { left: number; top: number; height: number; ratio: number },
): void {
  const rectangle = (from: number, to: number): void =>
    context.fillRect(box.left + from * box.ratio, box.top, (to - from) * box.ratio, box.height);
  context.save();
  for (const side of ["recorder", "load", "server"] as const) {
    context.fillStyle = view.theme.colour(SIDE_COLOUR[side]);
    let from = 0;
    let to = Number.NEGATIVE_INFINITY;
    /** The total width of the merged pauses, without the widening that makes them visible. */
    let true_px = 0;
    const paint = (): void => {
      if (to <= from) return;
      context.globalAlpha = Math.max(FAINTEST, EDGE * Math.min(1, true_px));
      if (to - from <= THINNEST_PX + 1) {
        rectangle(from, to);
        return;
      }
      rectangle(from, from + 1);
      rectangle(to - 1, to);
      context.globalAlpha = FAINT;
      rectangle(from + 1, to - 1);
    };
    for (const pause of pauses) {
      const end_s = pause.start_s + pause.duration_ms / 1000;
      if (pause.side !== side || end_s < view.window.start || pause.start_s > view.window.end) continue;
      const edges = edgesOf(pause.start_s, end_s, view);
      if (edges.from > to) {
        paint();
        from = edges.from;
        true_px = 0;
      }
      true_px += xOf(end_s, view) - xOf(pause.start_s, view);
      to = Math.max(to, edges.to);
    }
    paint();
  }
  context.restore();
}

/**
 * Left and right edge of a stretch in CSS pixels, clipped to the plotting area, at least THINNEST_PX apart.
 */
export function edgesOf(start_s: number, end_s: number, view: View): { from: number; to: number } {
  const left = xOf(Math.max(start_s, view.window.start), view);
  const right = xOf(Math.min(end_s, view.window.end), view);
  if (right - left >= THINNEST_PX) return { from: left, to: right };
  const middle = (left + right) / 2;
  return { from: middle - THINNEST_PX / 2, to: middle + THINNEST_PX / 2 };
}
