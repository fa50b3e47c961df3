/** Seconds between two ticks: decimal below a minute, clock-like above. */
const CLOCK_STEPS = [60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

function decimalStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const ratio = rough / power;
  const nice = ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10;
  return nice * power;
}

/** Ticks of a time axis, with the step between them. */
export function timeTicks(start: number, end: number, wanted: number): { step: number; ticks: number[] } {
  const rough = (end - start) / Math.max(1, wanted);
  if (!(rough > 0)) return { step: 1, ticks: [] };
  let step = decimalStep(rough);
  if (rough > 10) {
    if (rough <= 15) step = 15;
    else if (rough <= 30) step = 30;
    else step = CLOCK_STEPS.find((candidate) => candidate >= rough) ?? decimalStep(rough / 86400) * 86400;
  }
  return { step, ticks: multiples(start, end, step) };
}

function multiples(start: number, end: number, step: number): number[] {
  const ticks: number[] = [];
  const last = Math.floor(end / step + 1e-9);
  for (let i = Math.ceil(start / step - 1e-9); i <= last; i += 1) ticks.push(i * step + 0); // + 0 makes 0 of -0
  return ticks;
}

/** Ticks of a value axis that starts at 0. */
export function linearTicks(max: number, wanted: number): number[] {
  if (!(max > 0)) return [0];
  // At least one tick above 0, so that the axis has a scale.
  return multiples(0, max, Math.min(decimalStep(max / Math.max(1, wanted)), niceBelow(max)));
}

/** Limits of a log axis where nothing positive is to be shown. */
const LOG_EMPTY: [number, number] = [0.1, 10];
/** Beyond these, `niceAbove` and `niceBelow` would reach infinity or 0. */
const LOG_EXTREMES = { least: 1e-12, most: 1e15 };

/**
 * Limits of a log axis for values between `low` and `high`: round, positive, finite and a factor of ten apart at least,
 * whatever is given. A limit that is null, not a number or not positive counts as unknown.
 */
export function logLimits(low: number | null, high: number | null): [number, number] {
  const known = [low, high]
    .filter((limit) => limit !== null)
    .filter((limit) => limit > 0)
    .map((limit) => Math.min(Math.max(limit, LOG_EXTREMES.least), LOG_EXTREMES.most));
  if (known.length === 0) return LOG_EMPTY;
  // A line along the upper edge would be cut in half.
  const top = niceAbove(Math.max(...known) * 1.05);
  return [Math.min(niceBelow(Math.min(...known)), top / 10), top];
}

/** Ticks of a log axis: powers of ten, with 2 and 5 between if `wanted` leaves room. */
export function logTicks(min: number, max: number, wanted: number): number[] {
  if (!(min > 0 && max < Number.POSITIVE_INFINITY)) return [];
  const within = (factors: number[]): number[] => {
    const ticks: number[] = [];
    for (let power = Math.floor(Math.log10(min)); 10 ** power <= max; power += 1) {
      for (const factor of factors) {
        const tick = factor * 10 ** power;
        if (tick >= min * 0.999 && tick <= max * 1.001) ticks.push(tick);
      }
    }
    return ticks;
  };
  const fine = within([1, 2, 5]);
  if (fine.length <= wanted) return fine;
  const decades = within([1]);
  const every = Math.ceil(decades.length / Math.max(1, wanted));
  return decades.filter((_, index) => index % every === 0);
}

/** The nearest 1, 2 or 5 times a power of ten, downwards or upwards. */
export function niceBelow(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
  const ratio = value / power + 1e-9;
  return (ratio >= 5 ? 5 : ratio >= 2 ? 2 : 1) * power;
}

export function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
  const ratio = value / power - 1e-9;
  return (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10) * power;
}
