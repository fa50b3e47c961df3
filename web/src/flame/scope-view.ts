import { copyButton, copyText } from "../clipboard";
import { h, setText } from "../dom";
import { count, percent, plural } from "../format";
import type { FlameScope, FlameTree } from "../model";
import type { Theme } from "../theme";
import { quantity } from "./graph";
import { readTimes, ScopeGrid, type Stretch, within, writeSeconds } from "./scope";
import { ScopeMap, scopeLegend } from "./scope-map";
import type { StretchChoice } from "./stretch-choice";

export interface ScopeView {
  readonly root: HTMLElement;
  /** Cancels a selection in progress, or else clears the selection. */
  giveUp(): void;
}

/**
 * The map of samples with a description of the selection. Passes on the graph of the selected stretch, or of
 * the whole time.
 */
export function scopeView(
  data: FlameTree,
  scope: FlameScope,
  theme: Theme,
  choice: StretchChoice,
  show: (data: FlameTree) => void,
): ScopeView {
  const samples = readTimes(scope);
  const grid = new ScopeGrid(scope, samples);
  const write = (step: number) => writeSeconds(step, grid.step_s);
  const chosenText = h("output", { class: "chosen" });
  const whole = h("button", { type: "button", onclick: () => choice.choose(null) }, "Whole run");
  const link = copyButton("Link", "Copy a link to this stretch of time", () => copyText(location.href));
  const command = h("code");
  const map = new ScopeMap(grid, theme, (stretch) => choice.choose(stretch));

  const apply = () => {
    const stretch = choice.current();
    const part = stretch === null ? data : within(data, samples, stretch);
    const weight = (of: FlameTree) => of.nodes.weight[0] ?? 0;
    whole.disabled = stretch === null;
    setText(
      chosenText,
      stretch === null
        ? `Whole run: ${plural(data.samples, "sample")}, ${quantity(data.event, weight(data))}`
        : `${write(stretch.from)} – ${write(stretch.to)} s (${write(stretch.to - stretch.from)} s): ` +
            `${plural(part.samples, "sample")}, ${quantity(data.event, weight(part))}, ` +
            `${percent(weight(data) > 0 ? weight(part) / weight(data) : 0)} of the whole`,
    );
    setText(
      command,
      stretch === null
        ? ""
        : `helenus flame RECORDING --from ${write(stretch.from)}s --to ${write(stretch.to)}s`,
    );
    map.show(stretch);
    show(part);
  };
  const giveUp = () => {
    if (!map.giveUp() && choice.current()) choice.choose(null);
  };
  choice.onChange(apply);
  apply();

  const cell_ms = grid.cell * grid.step_s * 1000;
  const step_ms = grid.step_s * 1000;
  const kept = scope.binned
    ? `Times are binned to ${step_ms} ms, since finer ones of ${plural(data.samples, "sample")} would take more than 4 MiB of this page.`
    : `Times are kept to ${step_ms} ms.`;
  const root = h(
    "section",
    { class: "scope", "aria-labelledby": "scope-title" },
    h("h2", { id: "scope-title" }, "When the samples were taken"),
    h(
      "p",
      { class: "note" },
      `A column is ${grid.column_s} s of the run, a row ${cell_ms} ms of it, from the top down. Drag, or click the first ` +
        `and the last cell, for the graph of that stretch alone. Seconds count from the recording's first sample. ${kept}`,
    ),
    map.root,
    scopeLegend(grid, theme),
    h("div", { class: "tools" }, whole, link, chosenText, command),
    h(
      "details",
      {},
      h("summary", {}, "As a table"),
      columnsTable(grid, (stretch) => choice.choose(stretch)),
    ),
  );
  // Keys do not pass between the map and the page around it.
  root.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") giveUp();
  });
  return { root, giveUp };
}

/** The most rows of the table; there is a column for each second. */
const MOST_ROWS = 1000;

function columnsTable(grid: ScopeGrid, choose: (stretch: Stretch) => void): HTMLElement {
  const rows = Array.from({ length: Math.min(grid.columns, MOST_ROWS) }, (_, column) => {
    const [first, last] = [column * grid.rows, (column + 1) * grid.rows - 1];
    const counts = [...grid.counts.slice(first, last + 1)];
    const most = Math.max(...counts);
    const busiest = grid.between(first + counts.indexOf(most), first + counts.indexOf(most));
    const stretch = grid.between(first, last);
    const name = `${writeSeconds(stretch.from, grid.step_s)} s`;
    return h(
      "tr",
      {},
      h(
        "th",
        { scope: "row", class: "number" },
        h(
          "button",
          { type: "button", "aria-label": `Choose the column at ${name}`, onclick: () => choose(stretch) },
          name,
        ),
      ),
      h("td", { class: "number" }, count(grid.samplesIn(column))),
      h("td", { class: "number" }, most === 0 ? "idle" : `${writeSeconds(busiest.from, grid.step_s)} s`),
      h("td", { class: "number" }, most === 0 ? "" : count(most)),
      h("td", { class: "number" }, String(counts.filter((number) => number === 0).length)),
    );
  });
  const heads = ["Column at", "Samples", "Busiest cell at", "Samples there", `Idle cells of ${grid.rows}`];
  const table = h(
    "table",
    {},
    h("caption", {}, "Samples by column"),
    h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, ...rows),
  );
  const more = grid.columns - rows.length;
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Samples by column" },
    table,
    more > 0 && h("p", { class: "note" }, `and ${plural(more, "more column")}, which the map has`),
  );
}
