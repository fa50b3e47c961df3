import type { Theme } from "../theme";
import type { Window } from "./window";

/**
 * Widths left and right of every plotting area, in CSS pixels; they are the same for all plots, so that the
 * time axes match.
 */
export const GUTTER_LEFT = 64;
export const GUTTER_RIGHT = 16;

/** Response time counts from the intended start, service time from the actual start. */
export type LatencyKind = "response" | "service";

/** What all plots currently show. */
export interface View {
  readonly window: Window;
  readonly latency: LatencyKind;
  /** Width of a plot with its gutters, in CSS pixels. */
  readonly width: number;
  readonly theme: Theme;
  /** Duration of the run in seconds, which decides how times are written. */
  readonly duration_s: number;
  /** Starts of the phases, in seconds; a faint line in every plot. */
  readonly phaseEdges: readonly number[];
  /** Writes a time of the axis; without it, times count from the start of the run. */
  readonly writeTime?: (time: number) => string;
  /** If there are no figures before this time, it is marked as such. */
  readonly figuresFrom?: number;
}

/** Response times in milliseconds: the lower bound is included, the upper one is not; null for no upper bound. */
export interface LatencyRange {
  readonly from_ms: number;
  readonly below_ms: number | null;
}

/** A plot over time. */
export interface Plot {
  /** The plot's element. */
  readonly root: HTMLElement;
  /** The plotting area, over which the common cursor and the brush lie. */
  readonly over: HTMLElement;
  draw(view: View): void;
  /** Writes the values at the common cursor, or a default text without a cursor. */
  readout(time: number | null, view: View): void;
  /** Tells more about the place under the pointer (CSS pixels in `over`); null when it left. */
  hover?(at: { x: number; y: number } | null, view: View): void;
  /** The response times between two heights in `over`, if the plot has such an axis: a rectangle then selects requests. */
  latencies?(top: number, bottom: number): LatencyRange;
}

/** Distance from the left edge of the plotting area, in pixels. */
export function xOf(time: number, view: View): number {
  const { start, end } = view.window;
  return ((time - start) / (end - start)) * plotWidth(view);
}

export function timeAt(x: number, view: View): number {
  const { start, end } = view.window;
  return start + (x / plotWidth(view)) * (end - start);
}

export function plotWidth(view: View): number {
  return Math.max(1, view.width - GUTTER_LEFT - GUTTER_RIGHT);
}
