import type { Cell, Column, Rows } from "../charts/rows";
import { toCsv } from "../charts/rows";
import { copyButton, copyText } from "../clipboard";
import { h } from "../dom";
import { count, digits3, NOTHING, plural } from "../format";
import type { Choices } from "./choices";

/** A column of a table of things. */
export interface Field<T> extends Column {
  of: (thing: T) => Cell;
  /** Called on a click; makes the cell a button, where `opens` does not say otherwise. */
  open?: (thing: T) => void;
  opens?: (thing: T) => boolean;
}

/** Rows that are in the page at first. */
const FIRST_ROWS = 100;

/** A table that is sorted by a click on a column's head; the address holds the sort column. */
export function sortable<T>(
  subject: Choices,
  title: string,
  fields: Field<T>[],
  things: readonly T[],
): HTMLElement {
  const sort = /^(\d+)([ad])$/.exec(subject.chosen("sort"));
  const by = sort ? fields[Number(sort[1])] : undefined;
  const descending = sort?.[2] === "d";
  const sorted = by ? things.toSorted((a, b) => compared(by.of(a), by.of(b), descending)) : things;
  const heads = fields.map((field, place) => {
    const isBy = field === by;
    // Numbers are sorted in descending order at first, texts in ascending order.
    const next = isBy ? !descending : field.unit !== "";
    const unit = field.unit !== "" && h("span", { class: "unit" }, ` ${field.unit}`);
    const button = h(
      "button",
      {
        type: "button",
        class: "sort",
        onclick: () => subject.choose({ sort: `${place}${next ? "d" : "a"}` }),
      },
      field.name,
      unit,
      h("span", { "aria-hidden": "true" }, isBy ? (descending ? " ▼" : " ▲") : ""),
    );
    const order = isBy ? (descending ? "descending" : "ascending") : "none";
    return h("th", { scope: "col", class: field.unit === "" ? null : "number", "aria-sort": order }, button);
  });
  const body = h("tbody");
  const said = h("span", { class: "said", role: "status" });
  const all = h("button", { type: "button" }, `Show all ${count(things.length)}`);
  const show = (upTo: number): void => {
    for (let index = body.childElementCount; index < upTo; index += 1) {
      const thing = sorted[index];
      if (thing !== undefined) body.append(h("tr", {}, ...fields.map((field) => cellOf(field, thing))));
    }
    const shown = body.childElementCount;
    said.textContent =
      shown < things.length ? `First ${count(shown)} of ${count(things.length)}` : plural(shown, "row");
    all.hidden = shown >= things.length;
  };
  all.addEventListener("click", () => show(things.length));
  show(Math.min(FIRST_ROWS, things.length));
  const rows: Rows = {
    columns: fields,
    total: sorted.length,
    row: (index) => {
      const thing = sorted[index];
      return thing === undefined ? [] : fields.map((field) => field.of(thing));
    },
  };
  const copy = copyButton("Copy as CSV", `Copy all ${count(things.length)} rows as CSV`, () =>
    copyText(toCsv(rows)),
  );
  return h(
    "div",
    {},
    h("div", { class: "table-bar" }, said, all, copy),
    h(
      "div",
      { class: "scroll whole", tabindex: 0, role: "region", "aria-label": `${title} as a table` },
      h(
        "table",
        {},
        h("caption", { class: "visually-hidden" }, title),
        h("thead", {}, h("tr", {}, ...heads)),
        body,
      ),
    ),
  );
}

function cellOf<T>(field: Field<T>, thing: T): HTMLElement {
  const cell = field.of(thing);
  const text = typeof cell === "number" ? (field.write ?? digits3)(cell) : (cell ?? NOTHING);
  const { open, opens } = field;
  const inner =
    open && cell !== null && (opens?.(thing) ?? true)
      ? h("button", { type: "button", class: "as-link", onclick: () => open(thing) }, text)
      : text;
  return h("td", { class: field.unit === "" ? "words" : "number" }, inner);
}

/** Missing values come last, in either order. */
function compared(a: Cell, b: Cell, descending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order =
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en");
  return descending ? -order : order;
}
