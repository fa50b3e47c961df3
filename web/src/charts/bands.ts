import type { Pause, Side } from "../model";
import type { ColourName } from "../theme";
import { type View, xOf } from "./plot";

/** A band is never thinner than this, so that a pause of 1 ms in a run of an hour is seen. */
export const THINNEST_PX = 2;

const BAND: Record<Side, ColourName> = {
  server: "band-server",
  load: "band-load",
  recorder: "band-recorder",
};

/**
 * Draws the pauses as faint bands behind a plot. Bands that would overlap are merged first, as faint colours
 * laid over each other would tell of something stronger.
 */
export function drawPauseBands(
  context: CanvasRenderingContext2D,
  pauses: readonly Pause[],
  view: View,
  box: { left: number; top: number; height: number; ratio: number },
): void {
  for (const side of ["recorder", "load", "server"] as const) {
    context.fillStyle = view.theme.colour(BAND[side]);
    let from = 0;
    let to = Number.NEGATIVE_INFINITY;
    const paint = (): void => {
      if (to > from)
        context.fillRect(box.left + from * box.ratio, box.top, (to - from) * box.ratio, box.height);
    };
    for (const pause of pauses) {
      const end_s = pause.start_s + pause.duration_ms / 1000;
      if (pause.side !== side || end_s < view.window.start || pause.start_s > view.window.end) continue;
      const edges = edgesOf(pause.start_s, end_s, view);
      if (edges.from > to) {
        paint();
        from = edges.from;
      }
      to = Math.max(to, edges.to);
    }
    paint();
  }
}

/** Left and right edge of a stretch in CSS pixels of the plotting area, cut off at it, at least THINNEST_PX apart. */
export function edgesOf(start_s: number, end_s: number, view: View): { from: number; to: number } {
  const left = xOf(Math.max(start_s, view.window.start), view);
  const right = xOf(Math.min(end_s, view.window.end), view);
  if (right - left >= THINNEST_PX) return { from: left, to: right };
  const middle = (left + right) / 2;
  return { from: middle - THINNEST_PX / 2, to: middle + THINNEST_PX / 2 };
}
