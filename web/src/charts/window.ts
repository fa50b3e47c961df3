/** A stretch of the run, in seconds since its start. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** The shortest window: a tenth of the shortest bin. Shorter ones would show nothing more. */
const SHORTEST_S = 0.001;

/** Moves and shortens a window until it lies in the run; keeps its length where it can. */
export function fitInto(window: Window, whole: Window): Window {
  const length = Math.min(Math.max(window.end - window.start, SHORTEST_S), whole.end - whole.start);
  const start = Math.min(Math.max(window.start, whole.start), whole.end - length);
  return { start, end: start + length };
}

/** Changes the length of a window by `factor`, while `centre` stays at its place on the screen. */
export function zoom(window: Window, factor: number, whole: Window, centre?: number): Window {
  const fixed = centre ?? (window.start + window.end) / 2;
  return fitInto(
    { start: fixed - (fixed - window.start) * factor, end: fixed + (window.end - fixed) * factor },
    whole,
  );
}

/** Moves a window by a share of its length. */
export function pan(window: Window, share: number, whole: Window): Window {
  const step = (window.end - window.start) * share;
  return fitInto({ start: window.start + step, end: window.end + step }, whole);
}

/** A window with some room on both sides, so that what it shows has a before and an after. */
export function withRoom(window: Window, whole: Window): Window {
  const length = Math.max(window.end - window.start, SHORTEST_S * 10);
  const start = Math.max(whole.start, window.start - length * 0.05);
  const end = Math.min(whole.end, window.start + length * 1.05);
  return fitInto({ start, end }, whole);
}

export function sameWindow(a: Window, b: Window): boolean {
  const tolerance = (b.end - b.start) * 1e-6;
  return Math.abs(a.start - b.start) <= tolerance && Math.abs(a.end - b.end) <= tolerance;
}

/** Index of the first entry of a rising array that is not below `value`. */
export function firstAtLeast(rising: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rising[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Half-open range of indices. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The bins that overlap a window, by the bins' starts. */
export function binsIn(starts: ArrayLike<number>, window: Window): Range {
  const from = firstAtLeast(starts, window.start);
  // The previous bin overlaps the window, unless a bin starts exactly there.
  const before = from > 0 && starts[from] !== window.start ? from - 1 : from;
  return { from: before, to: Math.max(before, firstAtLeast(starts, window.end)) };
}

/** Width of bins by their starts: the smallest distance, because gaps only widen it. */
export function binWidth(starts: ArrayLike<number>): number {
  let width = Number.POSITIVE_INFINITY;
  for (let i = 1; i < starts.length; i += 1) width = Math.min(width, (starts[i] ?? 0) - (starts[i - 1] ?? 0));
  return Number.isFinite(width) ? width : 0;
}

/** The bin that holds a time; -1 when none does. */
export function binAt(starts: ArrayLike<number>, width: number, time: number): number {
  const next = firstAtLeast(starts, time);
  const bin = starts[next] === time ? next : next - 1;
  return bin >= 0 && time < (starts[bin] ?? 0) + width * 1.5 ? bin : -1;
}

/** Values on other bins: those with the same start, and `empty` where there is none. */
export function aligned<T>(
  from: readonly number[],
  values: readonly T[],
  onto: readonly number[],
  empty: T,
): readonly T[] {
  if (from === onto || (from.length === onto.length && from.every((start, index) => start === onto[index])))
    return values;
  const byStart = new Map(from.map((start, index) => [start, values[index] ?? empty]));
  return onto.map((start) => byStart.get(start) ?? empty);
}
