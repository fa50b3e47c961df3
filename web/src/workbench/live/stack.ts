export type Values = readonly (number | null)[];

/** A reading covers the time since the one before, of which more than this is taken for a gap. */
const LONGEST_S = 5;

/**
 * The upper edges of layers, the lowest layer first. A bin without a reading has that of the next bin with one, unless
 * it is too far away.
 */
export function stackOf(layers: readonly Values[], bin_s: number): (number | null)[][] {
  const reach = Math.floor(LONGEST_S / bin_s);
  let below: (number | null)[] | null = null;
  return layers.map((layer) => {
    const edge = filled(layer, reach).map((value, bin) =>
      value === null ? null : value + (below?.[bin] ?? 0),
    );
    below = edge;
    return edge;
  });
}

/** The newest value; null if there is none. */
export function lastKnown(values: Values): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

function filled(values: Values, reach: number): (number | null)[] {
  const all = [...values];
  let [next, distance]: [number | null, number] = [null, 0];
  for (let bin = all.length - 1; bin >= 0; bin -= 1) {
    const value = all[bin] ?? null;
    distance = value === null ? distance + 1 : 0;
    next = value ?? next;
    if (value === null && distance <= reach) all[bin] = next;
  }
  return all;
}
