/** No-break space between a number and its unit. */
const GAP = "\u00a0";
/** The text for a missing value. */
export const NOTHING = "–";

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** Formats 1234567 as 1,234,567; a dash if it is not a number. */
export function count(value: number): string {
  return Number.isFinite(value) ? grouped.format(value) : NOTHING;
}

/**
 * Three significant digits, never in exponent form: 0.0412, 4.12, 41.2, 412, 4,120. A dash for missing numbers: JSON
 * has null for a ratio to 0, despite the type.
 */
export function digits3(value: number): string {
  if (!Number.isFinite(value)) return NOTHING;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return grouped.format(value);
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(size)));
  return value.toFixed(Math.min(decimals, 6));
}

/** A number or a dash. */
export function orNothing(value: number | null | undefined, write: (value: number) => string): string {
  return value === null || value === undefined || Number.isNaN(value) ? NOTHING : write(value);
}

/** A span of milliseconds in the unit that reads best. */
export function milliseconds(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return `${digits3(value / 1000)}${GAP}s`;
  if (size > 0 && size < 0.1) return `${digits3(value * 1000)}${GAP}µs`;
  return `${digits3(value)}${GAP}ms`;
}

export function perSecond(value: number): string {
  return `${value >= 100 ? count(value) : digits3(value)}/s`;
}

/** Formats a share as a percentage. A small share is never rounded to 0 %, nor a large one to 100 %. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return NOTHING;
  const value = share * 100;
  if (value > 0 && value < 0.1) return `<${GAP}0.1${GAP}%`;
  if (value < 100 && value > 99.9) return `>${GAP}99.9${GAP}%`;
  const decimals = (value > 0 && value < 10) || (value > 99 && value < 100) ? 1 : 0;
  return `${value.toFixed(decimals).replace(/\.0$/, "")}${GAP}%`;
}

/** A size as the command line shows it (`show_bytes` of crates/notation): 7 B, 1.5 KiB, 3.0 GiB. */
export function bytes(value: number): string {
  if (!Number.isFinite(value)) return NOTHING;
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let scaled = value;
  let unit = 0;
  while (Math.abs(scaled) >= 1024 && unit < units.length - 1) {
    scaled /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? count(scaled) : scaled.toFixed(1)}${GAP}${units[unit]}`;
}

/** Decimals needed to distinguish times that differ by `resolution_s`. */
function decimalsFor(resolution_s: number): number {
  return Math.min(6, Math.max(0, Math.ceil(-Math.log10(resolution_s) - 1e-9)));
}

/** A time of the run: 43.25 in short ones, 12:43.25 past five minutes, 1:12:43 past an hour. */
export function clock(time_s: number, resolution_s: number, duration_s: number): string {
  const decimals = decimalsFor(resolution_s);
  if (duration_s < 300) return time_s.toFixed(decimals);
  const rounded = Number(time_s.toFixed(decimals));
  const hours = Math.floor(rounded / 3600);
  const minutes = Math.floor((rounded % 3600) / 60);
  const seconds = (rounded % 60).toFixed(decimals).padStart(decimals === 0 ? 2 : decimals + 3, "0");
  return duration_s < 3600
    ? `${minutes}:${seconds}`
    : `${hours}:${String(minutes).padStart(2, "0")}:${seconds}`;
}

/** A length of time in seconds: 0.25 s, 90 s, 12 min 30 s, 2 h 5 min. */
export function span(seconds: number): string {
  if (!Number.isFinite(seconds)) return NOTHING;
  if (seconds < 1) return milliseconds(seconds * 1000);
  if (seconds < 180) return `${seconds < 10 ? digits3(seconds) : Number(seconds.toFixed(1))}${GAP}s`;
  const whole = Math.round(seconds);
  if (whole < 3600) {
    const rest = whole % 60;
    return `${Math.floor(whole / 60)}${GAP}min${rest === 0 ? "" : ` ${rest}${GAP}s`}`;
  }
  const minutes = Math.round((whole % 3600) / 60);
  return `${Math.floor(whole / 3600)}${GAP}h${minutes === 0 ? "" : ` ${minutes}${GAP}min`}`;
}

/** Wall time (UTC) of a time of the run, as logs write it: to the millisecond, or to distinguish times that differ more. */
export function wallTime(start_iso: string, time_s: number, resolution_s = 0.001): string {
  const start = Date.parse(start_iso);
  if (Number.isNaN(start)) return "";
  const decimals = Math.min(3, decimalsFor(resolution_s));
  const step_ms = 10 ** (3 - decimals);
  const rounded = Math.round((start + time_s * 1000) / step_ms) * step_ms;
  return new Date(rounded).toISOString().slice(11, decimals === 0 ? 19 : 20 + decimals);
}

export function date(iso: string): string {
  const parsed = Date.parse(iso);
  if (Number.isNaN(parsed)) return iso;
  return `${new Date(parsed).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** "1 request", "2 requests". */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}
