/** Lengths that the server keeps figures for. */
const [SHORTEST_S, LONGEST_S] = [5, 86_400];
/** A later moment has no date. */
const LAST_S = 8.64e12;

/** The length of the window in the address; null if there is none that can be shown. */
export function lengthOf(text: string): number | null {
  const length = Number(text);
  return Number.isInteger(length) && length >= SHORTEST_S && length <= LONGEST_S ? length : null;
}

/** The end of a paused window in the address, in seconds since the Unix epoch; null without one. */
export function untilOf(text: string): number | null {
  const until = Number(text);
  return until > 0 && until <= LAST_S ? until : null;
}
