import { copyButton, copyText } from "../clipboard";
import { h, setText } from "../dom";
import { failureText } from "../failure";
import { contained } from "../sections/contained";
import { dataTable } from "../sections/data-table";
import type { Store } from "../state";
import type { Plot, View } from "./plot";
import type { Rows } from "./rows";

/** A chart of the report: a heading, its plots, a summary in words, and the table behind it. */
export interface Panel extends PanelBody {
  /** The name of the chart in a link. */
  id: string;
  title: string;
  /** Whether `missing` describes a failure. */
  failed?: boolean;
}

/** A chart without its name. */
export interface PanelBody {
  /** The drawn figures and their unit. */
  note: string;
  plots: Plot[];
  /** Shown instead of plots: the reason why there is nothing to draw. */
  missing: string | null;
  /** Controls of the chart. */
  tools?: HTMLElement;
  /** Under the plots, such as a colour scale. */
  foot?: HTMLElement;
  /** The chart described in words, for people who can't see it. */
  summary(view: View): string;
  rows(view: View): Rows;
}

/** A panel in the page. */
export class PanelElement {
  readonly root: HTMLElement;
  readonly #summary: HTMLElement;
  readonly #table: HTMLElement;
  readonly #toggle: HTMLButtonElement;
  #view: View | null = null;

  constructor(
    readonly panel: Panel,
    store: Store,
  ) {
    const { id, title, note, plots, missing } = panel;
    this.#summary = h("p", { class: "visually-hidden", id: `${id}-summary` });
    this.#table = h("div", { class: "behind", id: `${id}-table`, hidden: true });
    this.#toggle = h(
      "button",
      {
        type: "button",
        "aria-expanded": "false",
        "aria-controls": `${id}-table`,
        onclick: () => this.#flip(),
      },
      "Table",
    );
    const link = copyButton("Link", `Copy a link to this window of ${title}`, () =>
      copyText(store.link({ chart: id })),
    );
    const head = h(
      "header",
      {},
      h("h3", { id: `${id}-title` }, title),
      h("span", { class: "note" }, note),
      h("span", { class: "tools" }, missing === null && panel.tools, missing === null && this.#toggle, link),
    );
    this.root = h(
      "figure",
      {
        class: "panel",
        id: `chart-${id}`,
        "aria-labelledby": `${id}-title`,
        "aria-describedby": `${id}-summary`,
      },
      head,
      this.#summary,
    );
    if (missing !== null)
      this.root.append(
        h("p", panel.failed ? { class: "missing failure", role: "alert" } : { class: "missing" }, missing),
      );
    else this.root.append(...plots.map((plot) => plot.root));
    if (panel.foot && missing === null) this.root.append(panel.foot);
    this.root.append(this.#table);
    const mark = (): void => {
      this.root.classList.toggle("linked", store.selection.chart === id);
    };
    mark();
    store.subscribe((selection, previous) => {
      mark();
      if (selection.chart === id && previous.chart !== id) this.root.scrollIntoView();
    });
  }

  /** The description and the table follow the window. */
  describe(view: View): void {
    this.#view = view;
    setText(this.#summary, this.panel.missing ?? this.#said(view));
    if (!this.#table.hidden) this.#fill();
  }

  #flip(): void {
    this.#table.hidden = !this.#table.hidden;
    this.#toggle.setAttribute("aria-expanded", String(!this.#table.hidden));
    if (this.#table.hidden) this.#table.replaceChildren();
    else this.#fill();
  }

  #said(view: View): string {
    try {
      return this.panel.summary(view);
    } catch (cause) {
      reportError(cause);
      return failureText(this.panel.title, cause);
    }
  }

  #fill(): void {
    if (!this.#view) return;
    const view = this.#view;
    const { title, rows } = this.panel;
    this.#table.replaceChildren(...contained(`Table of ${title}`, () => [dataTable(rows(view), title)]));
  }
}
