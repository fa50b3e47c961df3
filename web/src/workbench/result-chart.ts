import uPlot from "uplot";
import { h } from "../dom";
import { count, digits3 } from "../format";
import type { Queried } from "../model";
import type { ColourName, Theme } from "../theme";

const MOST_BARS = 60;
const MOST_LINES = 6;
const HEIGHT = 280;
const COLOURS: ColourName[] = ["group-1", "group-2", "group-3", "group-4", "group-5", "group-6"];

/**
 * Rows of a query as a chart: bars for a text and a number, lines over the first column for several numbers.
 */
export function resultChart({ columns, rows }: Queried, theme: Theme): HTMLElement {
  const numbers = columns.flatMap(({ is_number }, place) => (is_number ? [place] : []));
  const first = columns[0];
  if (rows.length > 0 && first && !first.is_number && numbers.length > 0)
    return bars(columns, rows, numbers[0] ?? 1);
  if (rows.length > 1 && numbers.length > 1 && numbers[0] === 0)
    return lines(columns, rows, numbers.slice(1, 1 + MOST_LINES), theme);
  return h(
    "p",
    { class: "missing" },
    "A chart takes a word and then a number (bars), or numbers in a rising order and then other numbers (lines).",
  );
}

type Columns = Queried["columns"];
type Values = Queried["rows"];

/** Texts hold numbers that JavaScript would round; in a chart rounding does not matter. */
const numberOf = (cell: Values[number][number] | undefined): number | null =>
  cell === null || cell === undefined || typeof cell === "boolean" ? null : Number(cell);

function bars(columns: Columns, rows: Values, of: number): HTMLElement {
  const shown = rows.slice(0, MOST_BARS);
  const most = Math.max(...shown.map((row) => Math.abs(numberOf(row[of]) ?? 0)), 1e-9);
  const items = shown.map((row) => {
    const value = numberOf(row[of]);
    const bar = h("span", { class: "bar-of" });
    bar.style.width = `${(Math.abs(value ?? 0) / most) * 100}%`;
    const text = value === null ? "–" : Number.isInteger(value) ? count(value) : digits3(value);
    return h(
      "tr",
      {},
      h("th", { scope: "row", class: "words" }, String(row[0] ?? "–")),
      h("td", { class: "number" }, text),
      h("td", { class: "bars" }, bar),
    );
  });
  const left = rows.length > shown.length ? `, the first ${MOST_BARS} rows` : "";
  return h(
    "div",
    { class: "scroll whole", tabindex: 0, role: "region", "aria-label": "Result as bars" },
    h(
      "table",
      { class: "histogram" },
      h("caption", {}, `${columns[of]?.name ?? ""} by ${columns[0]?.name ?? ""}${left}`),
      h("tbody", {}, ...items),
    ),
  );
}

function lines(columns: Columns, rows: Values, of: number[], theme: Theme): HTMLElement {
  const sorted = rows.toSorted((a, b) => (numberOf(a[0]) ?? 0) - (numberOf(b[0]) ?? 0));
  const data = [0, ...of].map((place) => sorted.map((row) => numberOf(row[place]))) as uPlot.AlignedData;
  const body = h("div", { class: "live-plot" });
  const names = of.map((place, line) => {
    const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.setProperty("--swatch", `var(--${COLOURS[line] ?? "ok"})`);
    return h("li", {}, swatch, columns[place]?.name ?? "");
  });
  const draw = (): void => {
    const axis = { stroke: theme.colour("muted"), grid: { stroke: theme.colour("grid"), width: 1 } };
    body.replaceChildren();
    new uPlot(
      {
        width: Math.max(200, body.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { x: { time: false } },
        axes: [axis, { ...axis, size: 70 }],
        series: [
          {},
          ...of.map((_, line) => ({
            stroke: theme.colour(COLOURS[line] ?? "ok"),
            width: 1.5,
            points: { show: sorted.length < 60 },
          })),
        ],
      },
      data,
      body,
    );
  };
  new ResizeObserver(draw).observe(body);
  const caption = `${of.map((place) => columns[place]?.name).join(", ")} over ${columns[0]?.name}`;
  return h("figure", { "aria-label": caption }, h("div", { class: "legend" }, h("ul", {}, ...names)), body);
}
