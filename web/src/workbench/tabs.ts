import { h } from "../dom";
import { compared } from "./compare";
import { flame } from "./flame-tab";
import { console } from "./sql";
import type { Subject } from "./subject";
import { clients, collections, events, files, slowest, statements, tables } from "./tables";

/** A detailed view of the window. */
export interface Tab {
  /** The name of the tab in the address; empty for the first. */
  id: string;
  title: string;
  /** Creates the view, again for each window. Missing if the view is a fixed part of the page. */
  load?: (subject: Subject, signal: AbortSignal) => Promise<HTMLElement[]>;
}

export const TABS: readonly Tab[] = [
  { id: "", title: "Overview" },
  { id: "statements", title: "Statements", load: statements },
  { id: "clients", title: "Clients", load: clients },
  { id: "slowest", title: "Slowest", load: slowest },
  { id: "flame", title: "Flame graph", load: flame },
  { id: "syscalls", title: "System calls" },
  { id: "files", title: "Files", load: files },
  { id: "tables", title: "Tables", load: tables },
  { id: "gc", title: "GC", load: collections },
  { id: "events", title: "Events", load: events },
  { id: "compare", title: "Compare", load: compared },
  { id: "sql", title: "SQL", load: console },
  { id: "sources", title: "Sources" },
];

/** The tabs as buttons. Arrow keys move between them. */
export function tabBar(subject: Subject): { root: HTMLElement; show(): void } {
  const buttons = TABS.map(({ id, title }) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${id === "" ? "overview" : id}`,
        "aria-controls": id === "" ? "overview" : "panel",
        onclick: () => open(subject, id),
      },
      title,
    ),
  );
  const root = h("div", { class: "tabs", role: "tablist", "aria-label": "Views of the window" }, ...buttons);
  root.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    step(subject, event.key === "ArrowRight" ? 1 : -1);
    buttons.find((button) => button.getAttribute("aria-selected") === "true")?.focus();
  });
  const show = (): void => {
    TABS.forEach(({ id }, place) => {
      const isChosen = id === subject.chosen("tab");
      buttons[place]?.setAttribute("aria-selected", String(isChosen));
      buttons[place]?.setAttribute("tabindex", isChosen ? "0" : "-1");
    });
  };
  return { root, show };
}

/** Opens the tab after or before the open one; the order wraps around. */
export function step(subject: Subject, by: 1 | -1): void {
  const here = TABS.findIndex(({ id }) => id === subject.chosen("tab"));
  open(subject, TABS[(here + by + TABS.length) % TABS.length]?.id ?? "");
}

/** Opens a tab. The sort order is dropped, because each table has other columns. */
function open(subject: Subject, tab: string): void {
  subject.choose({ tab, sort: "", statement: "" });
}
