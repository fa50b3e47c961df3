import { h } from "../dom";
import { bytes, count, digits3, milliseconds, NOTHING, percent, perSecond } from "../format";

/** Units that the end of a name gives; the longest first where one ends another. */
const UNITS: [suffix: string, write: (value: number) => string][] = [
  ["_per_s", perSecond],
  ["_bytes", bytes],
  ["_share", percent],
  ["_ratio", percent],
  ["_ms", milliseconds],
  ["_ns", (value) => milliseconds(value / 1e6)],
  ["_s", (value) => `${digits3(value)}\u00a0s`],
];

/** Names that are a share by themselves. */
const SHARES = new Set(["share", "ratio", "chance_share"]);

/** Name for a person and value with unit, from a name such as `longest_pause_ms`. */
export function readable(name: string, value: unknown): { name: string; value: string } {
  const unit = UNITS.find(([suffix]) => name.endsWith(suffix));
  const keep = unit && ["_share", "_ratio"].includes(unit[0]);
  const words = (unit && !keep ? name.slice(0, -unit[0].length) : name).replaceAll("_", " ");
  if (typeof value !== "number") return { name: words, value: written(value) };
  if (SHARES.has(name)) return { name: words, value: percent(value) };
  return {
    name: words,
    value: unit ? unit[1](value) : Number.isInteger(value) ? count(value) : digits3(value),
  };
}

function written(value: unknown): string {
  if (value === null || value === undefined || value === "") return NOTHING;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

type Entries = Record<string, unknown>;

function isTable(value: unknown): value is Entries[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one === "object" && one !== null && !Array.isArray(one))
  );
}

/** The figures that a finding rests on; a list of the like becomes a table. */
export function evidenceList(evidence: Entries): HTMLElement {
  const single = h("dl", { class: "evidence" });
  const root = h("div", {}, single);
  for (const [key, value] of Object.entries(evidence)) {
    if (isTable(value)) {
      root.append(evidenceTable(key.replaceAll("_", " "), value));
      continue;
    }
    const said = readable(key, value);
    single.append(h("dt", {}, said.name), h("dd", {}, said.value));
  }
  if (single.childElementCount === 0) single.remove();
  return root;
}

function evidenceTable(name: string, rows: Entries[]): HTMLElement {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const numeric = (key: string): string | null =>
    rows.some((row) => typeof row[key] === "number") ? "number" : null;
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": name },
    h(
      "table",
      {},
      h("caption", {}, name),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ...keys.map((key) => h("th", { scope: "col", class: numeric(key) }, readable(key, 0).name)),
        ),
      ),
      h(
        "tbody",
        {},
        ...rows.map((row) =>
          h("tr", {}, ...keys.map((key) => h("td", { class: numeric(key) }, readable(key, row[key]).value))),
        ),
      ),
    ),
  );
}
