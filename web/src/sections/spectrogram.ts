import { SHADES, shades } from "../charts/palette";
import { type Rows, TIME } from "../charts/rows";
import {
  type Cells,
  type Filter,
  NAMES,
  type Name,
  OTHERS,
  SpectrogramGrid,
  type Total,
} from "../charts/spectrogram-grid";
import { durationsText, type Shown, SpectrogramPlot, timesText } from "../charts/spectrogram-plot";
import { copyButton, copyText } from "../clipboard";
import { h, setText } from "../dom";
import { bytes, count, milliseconds, plural } from "../format";
import type { Report, Spectrogram, Syscall } from "../model";
import type { Store } from "../state";
import type { Theme } from "../theme";
import { dataTable } from "./data-table";

const TITLES: Record<Name, string> = { call: "Call", group: "Thread group", file: "File or socket" };
const PLURALS: Record<Name, string> = { call: "calls", group: "thread groups", file: "files and sockets" };

const CHOSEN = "of what is chosen";

/** How long system calls took, over time; a rectangle of the picture is a list of calls with totals. */
export function spectrogram(report: Report, store: Store, theme: Theme): HTMLElement {
  const section = h(
    "section",
    { id: "spectrogram", tabindex: -1, "aria-labelledby": "spectrogram-title" },
    h("h2", { id: "spectrogram-title" }, "System calls"),
  );
  if (report.spectrogram === null) {
    section.append(
      h(
        "p",
        { class: "missing" },
        "No system calls here: record with --syscalls summary, or with --syscalls full for each single call.",
      ),
    );
    return section;
  }
  section.append(...filled(report, report.spectrogram, store, theme));
  section.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || store.selection.area === null) return;
    // Without the charts it returns to the whole run.
    event.preventDefault();
    store.change({ area: null });
  });
  return section;
}

function filled(report: Report, data: Spectrogram, store: Store, theme: Theme): HTMLElement[] {
  const grid = new SpectrogramGrid(data);
  const plot = new SpectrogramPlot(grid, theme, (cells) => store.change({ area: grid.areaOf(cells) }));
  plot.root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && plot.giveUp()) event.stopPropagation();
  });
  const scale = new Scale();
  const selects = NAMES.map((name) => nameSelect(grid, name, store));
  const clear = h(
    "button",
    { type: "button", onclick: () => store.change({ area: null }) },
    "Clear selection",
  );
  const link = copyButton("Link", "Copy a link to this selection", () => copyText(store.link({})));
  const chosen = h("p", { class: "chosen", role: "status" });
  const list = h("div", { class: "selected" });
  const behind = h("details", {}, h("summary", {}, "Cells as a table"));

  let listed = "";
  let frame = 0;
  let counted: { key: string; counts: Float64Array; most: number } | null = null;
  const redraw = (): void => {
    const { selection } = store;
    const key = JSON.stringify(NAMES.map((name) => selection[name]));
    if (counted?.key !== key) counted = { key, ...grid.counts(selection) };
    const { counts, most } = counted;
    const cells = selection.area === null ? null : grid.cellsOf(selection.area);
    const shown: Shown = {
      counts,
      most,
      window: selection.window,
      duration_s: report.duration_s,
      chosen: cells,
    };
    plot.show(shown);
    scale.draw(most, theme.dark);
    selects.forEach((select) => {
      select.show();
    });
    clear.disabled = cells === null;
    fillBehind(shown);
    // The list follows the selection, and not every movement of the window.
    const chosenKey = `${key} ${JSON.stringify(selection.area)}`;
    if (chosenKey === listed) return;
    listed = chosenKey;
    if (cells === null) {
      const calls = counts.reduce((sum, one) => sum + one, 0);
      setText(
        chosen,
        `${plural(calls, "call")} in the whole run. Drag over the picture for those of a rectangle.`,
      );
      list.replaceChildren();
    } else showSelection(cells, shown);
  };
  const showSelection = (cells: Cells, shown: Shown): void => {
    const filter: Filter = store.selection;
    const area = grid.areaOf(cells);
    const byCall = grid.totals("call", filter, cells);
    const sum = (of: (total: Total) => number): number => byCall.reduce((all, total) => all + of(total), 0);
    const calls = sum(({ events }) => events);
    setText(
      chosen,
      `${plural(calls, "call")}, ${durationsText(area)}, ${timesText(area, shown)}: ` +
        `${milliseconds(sum(({ total_ns }) => total_ns) / 1e6)} together, ${bytes(sum((total) => total.bytes))}, ` +
        plural(
          sum(({ errors }) => errors),
          "error",
        ),
    );
    const tables = NAMES.map((name) => {
      const totals = grid.totals(name, filter, cells);
      return h(
        "div",
        {},
        h("h3", {}, `By ${TITLES[name].toLowerCase()}`),
        dataTable(
          totalRows(TITLES[name].toLowerCase(), totals),
          `Totals by ${TITLES[name].toLowerCase()}`,
          CHOSEN,
        ),
      );
    });
    list.replaceChildren(h("div", { class: "totals" }, ...tables));
    if (calls === 0) return;
    const command = grid.command(filter, area, calls);
    const events = grid.events(filter, area);
    const said =
      data.of === "summary"
        ? "Single calls were not recorded: record with --syscalls full. These totals again:"
        : data.complete
          ? "All of them. The same from the recording:"
          : `The page holds ${count(events.length)} of these ${count(calls)}, the longest of each place. Exactly these, from the recording:`;
    list.append(
      h("h3", {}, "Calls"),
      h(
        "p",
        { class: "note command" },
        `${said} `,
        h("code", {}, command),
        " ",
        copyButton("Copy", "Copy this command", () => copyText(command)),
      ),
    );
    if (events.length > 0) list.append(dataTable(eventRows(events), "Longest calls", CHOSEN));
  };
  const fillBehind = (shown: Shown): void => {
    if (!behind.open) return;
    behind.replaceChildren(
      behind.firstElementChild ?? "",
      dataTable(cellRows(grid, shown), "Cells of the spectrogram"),
    );
  };
  const schedule = (): void => {
    if (frame !== 0) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      redraw();
    });
  };
  behind.addEventListener("toggle", redraw);
  store.subscribe(schedule);
  theme.subscribe(schedule);
  redraw();
  return [
    h("p", { class: "note" }, noteOf(data)),
    ...lossesOf(data),
    h("div", { class: "filters" }, ...selects.map(({ root }) => root), clear, link),
    h("figure", { class: "spectrogram", "aria-labelledby": "spectrogram-title" }, plot.root, scale.root),
    chosen,
    list,
    behind,
  ];
}

function noteOf(data: Spectrogram): string {
  const what =
    data.of === "syscalls"
      ? `${plural(data.events, "system call")} by when they began, downward, and how long they took, across on a log scale; colour is how many.`
      : `${plural(data.events, "system call")} as the summary of each second has them: time goes downward, durations across in bins of twice the one before; colour is how many.`;
  const merged = NAMES.flatMap((name) => {
    const [names, others] = {
      call: [data.calls, data.other_calls] as const,
      group: [data.groups, data.other_groups] as const,
      file: [data.files, data.other_files] as const,
    }[name];
    return others > 0
      ? [`the ${names.length} most frequent ${PLURALS[name]} of ${count(names.length + others)}`]
      : [];
  });
  return merged.length === 0
    ? what
    : `${what} This page tells apart ${merged.join(", ")}; the rest is “others”.`;
}

function lossesOf(data: Spectrogram): HTMLElement[] {
  return data.lost.map(({ node, lost, reason }) => {
    const where = node === "" ? "" : ` of ${node}`;
    return h(
      "p",
      { class: "lost" },
      `${lost === null ? "Some" : count(lost)} calls${where} are missing: ${reason}`,
    );
  });
}

/** The choice of a name to filter by; all names at first. */
function nameSelect(grid: SpectrogramGrid, name: Name, store: Store): { root: HTMLElement; show(): void } {
  const { names, others } = grid.names(name);
  const option = (value: string, text: string) => h("option", { value }, text);
  // A name may be empty, so options are identified by their position.
  const values: (string | null)[] = [null, ...names, ...(others > 0 ? [OTHERS] : [])];
  const select = h(
    "select",
    { "aria-label": TITLES[name] },
    ...values.map((value, place) => {
      if (value === null) return option(String(place), `all ${PLURALS[name]}`);
      if (place > names.length) return option(String(place), `${count(others)} others`);
      return option(String(place), value === "" ? "(none)" : value);
    }),
  );
  select.addEventListener("change", () => store.change({ [name]: values[Number(select.value)] ?? null }));
  const show = (): void => {
    select.value = String(Math.max(0, values.indexOf(store.selection[name])));
  };
  return { root: h("label", {}, TITLES[name], select), show };
}

const duration_ms = (ns: number): number => ns / 1e6;

function totalRows(name: string, totals: Total[]): Rows {
  return {
    columns: [
      { name, unit: "" },
      { name: "calls", unit: "count", write: count },
      { name: "together", unit: "ms", write: milliseconds },
      { name: "mean", unit: "ms", write: milliseconds },
      { name: "moved", unit: "bytes", write: bytes },
      { name: "errors", unit: "count", write: count },
    ],
    total: totals.length,
    row: (index) => {
      const total = totals[index];
      if (!total) return [];
      const { events, total_ns } = total;
      return [
        total.name === "" ? "(none)" : total.name,
        events,
        duration_ms(total_ns),
        duration_ms(total_ns / Math.max(1, events)),
        total.bytes,
        total.errors,
      ];
    },
  };
}

function eventRows(events: Syscall[]): Rows {
  return {
    columns: [
      { ...TIME, name: "began", write: (value) => value.toFixed(6) },
      { name: "took", unit: "ms", write: milliseconds },
      { name: "call", unit: "" },
      { name: "thread group", unit: "" },
      { name: "thread", unit: "id", write: String },
      { name: "moved", unit: "bytes", write: bytes },
      { name: "error", unit: "" },
      { name: "file", unit: "" },
    ],
    total: events.length,
    row: (index) => {
      const event = events[index];
      if (!event) return [];
      const { start_s, duration_ns, call, group, tid, file, error } = event;
      return [start_s, duration_ms(duration_ns), call, group, tid, event.bytes, error ?? "", file];
    },
  };
}

/** The cells of the window that hold a call, whatever the rectangle. */
function cellRows(grid: SpectrogramGrid, { counts, window }: Shown): Rows {
  const { from, to } = grid.rowsIn(window);
  const held: number[] = [];
  for (let cell = from * grid.columns; cell < to * grid.columns; cell += 1)
    if ((counts[cell] ?? 0) > 0) held.push(cell);
  return {
    columns: [
      { ...TIME, name: "from" },
      { ...TIME, name: "to" },
      { name: "at least", unit: "ms", write: milliseconds },
      { name: "below", unit: "ms", write: milliseconds },
      { name: "calls", unit: "count", write: count },
    ],
    total: held.length,
    row: (index) => {
      const cell = held[index] ?? 0;
      const [row, column] = [Math.floor(cell / grid.columns), cell % grid.columns];
      const area = grid.areaOf({ rowFrom: row, rowTo: row + 1, columnFrom: column, columnTo: column + 1 });
      const high = area.high_ns === null ? null : duration_ms(area.high_ns);
      return [area.from_s, area.to_s, duration_ms(area.low_ns), high, counts[cell] ?? 0];
    },
  };
}

/** Maps counts of calls to colours. */
class Scale {
  readonly root: HTMLElement;
  readonly #canvas = h("canvas", { width: SHADES, height: 1, "aria-hidden": "true" });
  readonly #most = h("span", {});

  constructor() {
    this.root = h(
      "p",
      { class: "spectrogram-scale" },
      "calls in a cell, log scale: 1 ",
      this.#canvas,
      this.#most,
    );
  }

  draw(most: number, dark: boolean): void {
    setText(this.#most, ` ${count(Math.max(1, most))}`);
    const pixels = new ImageData(SHADES, 1);
    shades(dark).forEach(([red, green, blue], index) => {
      pixels.data.set([red, green, blue, 255], index * 4);
    });
    this.#canvas.getContext("2d")?.putImageData(pixels, 0, 0);
  }
}
