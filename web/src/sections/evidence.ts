import { h } from "../dom";
import { bytes, count, digits3, milliseconds, NOTHING, percent, perSecond } from "../format";

type Write = (value: number) => string;

/**
 * Values above this many nanoseconds are points in time since the Unix epoch and no durations (this one is in
 * 2001).
 */
const FIRST_MOMENT_NS = 1e18;

/** Units by the suffix of a name; longer suffixes before their own endings. */
const UNITS: [suffix: string, write: Write][] = [
  ["_per_s", perSecond],
  ["_bytes", bytes],
  ["_share", percent],
  ["_ratio", percent],
  ["_ms", milliseconds],
  ["_ns", (value) => (value > FIRST_MOMENT_NS ? moment(value) : milliseconds(value / 1e6))],
  ["_s", (value) => `${digits3(value)}\u00a0s`],
];

/** Suffixes that belong to the name, and not only to the unit. */
const TELLING = new Set(["_share", "_ratio"]);

/** Names that are a share by themselves. */
const SHARES = new Set(["share", "ratio"]);

function moment(value_ns: number): string {
  return `${new Date(Math.round(value_ns / 1e6)).toISOString().replace("T", " ").slice(0, 23)} UTC`;
}

function plainNumber(value: number): string {
  return Number.isInteger(value) ? count(value) : digits3(value);
}

/** The display name of a figure such as `longest_pause_ms`, and how the figure is written. */
export function named(name: string): { words: string; write: Write | null } {
  if (SHARES.has(name)) return { words: name, write: percent };
  const unit = UNITS.find(([suffix]) => name.endsWith(suffix));
  const words = unit && !TELLING.has(unit[0]) ? name.slice(0, -unit[0].length) : name;
  return { words: words.replaceAll("_", " "), write: unit ? unit[1] : null };
}

type Entries = Record<string, unknown>;

function isEntries(value: unknown): value is Entries {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTable(value: unknown): value is Entries[] {
  return Array.isArray(value) && value.length > 1 && value.every(isEntries);
}

/** The value of a list with one value. */
function onlyOf(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 && isEntries(value[0]) ? value[0] : value;
}

/** Any value in one line; `write` is the unit of the enclosing value. */
export function inLine(value: unknown, write: Write | null): string {
  if (value === null || value === undefined || value === "") return NOTHING;
  if (typeof value === "number") return (write ?? plainNumber)(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value))
    return value.length === 0 ? "none" : value.map((one) => inLine(one, write)).join(", ");
  if (!isEntries(value)) return String(value);
  return Object.entries(value)
    .map(([key, inner]) => {
      const { words, write: own } = named(key);
      return `${words} ${inLine(inner, own ?? write)}`;
    })
    .join(", ");
}

/** The evidence of a finding: nested lists in their order, and several similar objects as a table. */
export function evidenceList(evidence: Entries, around: Write | null = null): HTMLElement {
  const list = h("dl", { class: "evidence" });
  for (const [key, several] of Object.entries(evidence)) {
    const value = onlyOf(several);
    const { words, write } = named(key);
    const unit = write ?? around;
    const shown = isTable(value)
      ? evidenceTable(words, value)
      : isEntries(value)
        ? evidenceList(value, unit)
        : inLine(value, unit);
    list.append(h("dt", {}, words), h("dd", {}, shown));
  }
  return list;
}

function evidenceTable(name: string, rows: Entries[]): HTMLElement {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = keys.map((key) => ({
    key,
    ...named(key),
    place: rows.some((row) => typeof row[key] === "number") ? "number" : null,
  }));
  const head = columns.map(({ words, place }) => h("th", { scope: "col", class: place }, words));
  const body = rows.map((row) =>
    h(
      "tr",
      {},
      ...columns.map(({ key, write, place }) => h("td", { class: place }, inLine(row[key], write))),
    ),
  );
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": name },
    h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...body)),
  );
}
