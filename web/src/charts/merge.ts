import type { Values } from "./line-plot";
import type { Window } from "./window";

/** Steps narrower than this many pixels can't be told apart. */
const STEP_PX = 6;

/** How many bins to make one of, so that it is wide enough to be seen: 1, 2 or 5 times a power of ten. */
export function mergeFor(window: Window, bin_s: number, pixels: number): number {
  const wanted = (STEP_PX * (window.end - window.start)) / Math.max(1, pixels) / bin_s;
  for (let decade = 1; decade < 1e9; decade *= 10)
    for (const step of [1, 2, 5]) if (step * decade >= wanted) return step * decade;
  return 1;
}

/** Means of `merge` neighbouring values each, without missing values. */
export function meansOf(values: Values, merge: number): Values {
  if (merge === 1) return values;
  return Array.from({ length: Math.ceil(values.length / merge) }, (_, index) => {
    const known = values.slice(index * merge, (index + 1) * merge).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
  });
}
