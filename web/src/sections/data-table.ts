import { type Cell, type Column, type Rows, toCsv } from "../charts/rows";
import { copyButton, copyText } from "../clipboard";
import { h } from "../dom";
import { count, digits3, NOTHING, plural } from "../format";

/** Rows shown at first; the rest follow on request. */
const FIRST_ROWS = 200;

/** The figures behind a chart: by default in the window that the charts show. */
export function dataTable(rows: Rows, title: string, where = "in this window"): HTMLElement {
  const body = h("tbody");
  const said = h("span", { class: "said", role: "status" });
  const all = h("button", { type: "button" }, `Show all ${count(rows.total)}`);
  const show = (upTo: number): void => {
    for (let index = body.childElementCount; index < upTo; index += 1)
      body.append(h("tr", {}, ...rows.row(index).map((cell, place) => tableCell(cell, rows.columns[place]))));
    const shown = body.childElementCount;
    said.textContent =
      shown < rows.total
        ? `First ${count(shown)} of ${count(rows.total)} rows ${where}`
        : `${plural(rows.total, "row")} ${where}`;
    all.hidden = shown >= rows.total;
  };
  all.addEventListener("click", () => show(rows.total));
  show(Math.min(FIRST_ROWS, rows.total));

  const copy = copyButton("Copy as CSV", `Copy all ${count(rows.total)} rows as CSV`, () =>
    copyText(toCsv(rows)),
  );
  const table = h(
    "table",
    {},
    h("caption", { class: "visually-hidden" }, `${title}: figures ${where}`),
    h("thead", {}, h("tr", {}, ...rows.columns.map(head))),
    body,
  );
  return h(
    "div",
    {},
    h("div", { class: "table-bar" }, said, all, copy),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${title} as a table` }, table),
  );
}

function head({ name, unit }: Column): HTMLElement {
  return h(
    "th",
    { scope: "col", class: unit === "" ? null : "number" },
    name,
    unit !== "" && h("span", { class: "unit" }, ` ${unit}`),
  );
}

function tableCell(cell: Cell, column: Column | undefined): HTMLElement {
  const text = typeof cell === "number" ? (column?.write ?? digits3)(cell) : (cell ?? NOTHING);
  return h("td", { class: column?.unit === "" ? null : "number" }, text);
}
