import { h, setText } from "../../dom";
import {
  count,
  digits3,
  milliseconds,
  NOTHING,
  orNothing,
  percent,
  perSecond,
  plural,
  span,
} from "../../format";
import type { LiveView } from "../../model";
import { type Action, listenToKeys } from "../../sections/actions";
import { helpDialog } from "../../sections/help";
import { Store } from "../../state";
import { Theme } from "../../theme";
import { Choices } from "../choices";
import type { Client } from "../client";
import { writtenRange } from "../filters";
import { nameOf, saveDialog } from "../save";
import { sortable } from "../sortable";
import { CHARTS } from "./charts";
import { Control } from "./control";
import { RecentFindings } from "./findings";
import { LiveHeatmap } from "./heatmap";
import { isRecorded, LiveLines, utc } from "./lines";
import { type Leads, LISTINGS, type LiveListing } from "./tables";
import { lengthOf, untilOf } from "./window";

/** After new figures. The next ones come after a second, and are requested a little earlier, so that they are shown soon. */
const EARLY_MS = 900;
/** After figures that are already shown. */
const AGAIN_MS = 200;
/** If the server gave no figures, or nothing grows. */
const LATER_MS = 1000;
/** The address of the list of recordings. */
export const LIST = "list";
/** The kind of events of a node that answers nobody. If none has come for so long, it answers again. */
const SILENT = "silent";
const SILENT_S = 3;
const POINTER: [string, string][] = [
  ["Drag over a chart", "Look closer at that stretch of time"],
  ["Drag a rectangle over the heatmap", "List its requests, and what they have in common"],
  ["Click a row or a finding", "Open it, or limit the page to it"],
];
/** The longest request whose start is looked for before a rectangle of the heatmap. */
const LONGEST_S = 60;
/** The tab that changes the nodes. */
const CONTROL = { id: "control", title: "Control" };
const TABS: readonly { readonly id: string; readonly title: string }[] = [...LISTINGS, CONTROL];
const LENGTHS_S = [60, 300, 900];
/** If the newest rows are older than this, the page says so. */
const BEHIND_S = 5;

/** The page of a growing recording: the last minutes, second by second. */
export function livePage(
  client: Client,
  recording: string,
  title: string,
  isOneOfMany: boolean,
): HTMLElement[] {
  const theme = new Theme();
  const store = new Store({ start: 0, end: 1 });
  const choices = new Choices(store);
  document.title = `${title} live – Helenus`;

  /** End of a paused window, in seconds since the Unix epoch; null for a window that moves on. */
  const held = (): number | null => untilOf(choices.chosen("until"));
  let view: LiveView | null = null;
  const length = (): number => lengthOf(choices.chosen("length")) ?? LENGTHS_S[0] ?? 60;
  // The tab of changes has no table.
  const listing = () =>
    choices.chosen("tab") === CONTROL.id
      ? null
      : (LISTINGS.find(({ id }) => id === choices.chosen("tab")) ?? LISTINGS[0]);

  /** The node whose figures are shown; empty for all. */
  const node = (): string => choices.chosen("node");

  const hold = (until: number | null): void => {
    choices.choose({ until: until === null ? "" : String(Math.round(until)) });
  };
  const pause = (): void => hold(held() === null ? (view?.totals.to_s ?? null) : null);
  const scroll = (by: number): void => {
    if (!view) return;
    const end = (held() ?? view.totals.to_s) + by * length();
    hold(end >= view.kept_to_s ? null : Math.max(end, view.kept_from_s + 1));
  };
  /** Everything that was recorded in a stretch of time, with findings and detailed views. */
  const closerLink = (from: number, to: number, more: Record<string, string> = {}): string =>
    `#${new URLSearchParams({
      recording,
      closer: "yes",
      at: `${from.toFixed(3)}-${to.toFixed(3)}`,
      ...more,
    })}`;
  const closer = (from: number, to: number, more: Record<string, string> = {}): void => {
    location.hash = closerLink(from, to, more);
  };
  const leads: Leads = {
    choose: (chosen) => choices.choose(chosen),
    closer,
    closerNow: (more) => view && closer(view.totals.from_s, view.totals.to_s, more),
  };
  /** The choice of one statement's or client's requests: its name in the address, and its value. */
  const only = (): [name: "statement" | "client", value: string] | null =>
    (["statement", "client"] as const)
      .map((name): ["statement" | "client", string] => [name, choices.chosen(name)])
      .find(([, value]) => value !== "") ?? null;

  const save = saveDialog(client, () => {
    if (!view) return null;
    const { from_s, to_s } = view.totals;
    const [from, to] = [from_s, to_s].map((moment) => new Date(moment * 1000).toISOString());
    return {
      asked: { recording, at: `${from_s.toFixed(3)}-${to_s.toFixed(3)}` },
      window: `${from?.slice(0, 19).replace("T", " ")} – ${to?.slice(11, 19)} UTC`,
      name: nameOf(recording, to?.slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-") ?? ""),
    };
  });

  const state = h("span", { class: "live-state", role: "status" });
  const pauseButton = h("button", { type: "button", title: "Space", onclick: pause }, "Pause");
  const lengths = LENGTHS_S.map((seconds) =>
    h(
      "button",
      { type: "button", onclick: () => choices.choose({ length: String(seconds) }) },
      span(seconds),
    ),
  );
  const tiles = h("ul", { class: "tiles" });
  const nodeName = h("strong", {});
  const ofNode = h(
    "p",
    { class: "of-node" },
    nodeName,
    h("span", { class: "quiet" }, "CPUs, disks and files are those of its machine."),
    h("button", { type: "button", onclick: () => choices.choose({ node: "" }) }, "All nodes"),
  );
  const requestsName = h("strong", {});
  const ofRequests = h(
    "p",
    { class: "of-requests" },
    requestsName,
    h(
      "span",
      { class: "quiet" },
      "Rates, latency, heatmap and the slowest requests are those of its requests.",
    ),
    h(
      "button",
      {
        type: "button",
        title: "All that was recorded in this window, with the statement's or client's own page",
        onclick: () => {
          const [name, value] = only() ?? ["client", ""];
          leads.closerNow({ tab: "statements", [name]: value });
        },
      },
      "Look closer",
    ),
    h(
      "button",
      { type: "button", onclick: () => choices.choose({ statement: "", client: "" }) },
      "All requests",
    ),
  );
  const silent = h("p", { class: "silent", role: "alert", hidden: true });
  const help = helpDialog(() => actions, POINTER);
  const charts = CHARTS.map((options) => new LiveLines(options, theme, closer));
  const heat = new LiveHeatmap(theme, closer, (from, to, { from_ms, below_ms }) => {
    // The picture has requests at the time of their answers, and a window those that were due in it.
    const earlier_s = Math.min(LONGEST_S, (below_ms ?? view?.totals.latency_ms.max ?? 0) / 1000);
    closer(from - earlier_s, to, { tab: "slowest", took: writtenRange(from_ms, below_ms) });
  });
  const recent = new RecentFindings(client, recording, ({ from_s, to_s }, more) =>
    closerLink(from_s, to_s, more),
  );
  const control = new Control(client, recording);
  const tabs = TABS.map(({ id, title }) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${id}`,
        "aria-controls": "panel",
        onclick: () => choices.choose({ tab: id, sort: "" }),
      },
      title,
    ),
  );
  const panel = h("section", { id: "panel", role: "tabpanel", tabindex: -1 });
  const actions: Action[] = [
    { keys: [" "], does: "Pause, or go on", run: pause },
    { keys: ["ArrowLeft"], does: "Scroll back", run: () => scroll(-0.5) },
    { keys: ["ArrowRight"], does: "Scroll on", run: () => scroll(0.5) },
    { keys: ["s"], does: "Save this window as a recording or a report", run: save.open },
    { keys: ["t"], does: "Switch between light and dark", run: () => theme.toggle() },
    { keys: ["?"], does: "Show or close this help", overDialog: true, run: () => help.toggle() },
  ];
  listenToKeys(actions);

  let timer = 0;
  /** Asks after that time; while the page is paused, only if the window is not there yet. */
  const askIn = (ms: number, isThere = true): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      if ((held() === null || !isThere) && !document.hidden) void ask();
      else askIn(LATER_MS, isThere);
    }, ms);
  };

  let asking: AbortController | null = null;
  /** The questions that the shown figures and the shown table answer. */
  let [figuresOf, tableOf] = ["", ""];
  /** Without an answer: figures that were asked for something else are no longer shown. */
  const dropOthers = (figures: string, table: string, of: LiveListing | null | undefined): void => {
    if (figures !== figuresOf) {
      figuresOf = "";
      view = null;
      tiles.replaceChildren();
      for (const chart of charts) chart.clear();
      heat.clear();
      recent.clear();
    }
    if (!of) list(of, null);
    else if (table !== tableOf) {
      tableOf = "";
      panel.replaceChildren();
    }
  };
  const ask = async (): Promise<void> => {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    const of = listing();
    const until = held();
    // Also where the server knows no such node: the button leads back to all.
    ofNode.hidden = node() === "";
    setText(nodeName, `Node ${node()}`);
    const [kind, name] = only() ?? ["client", ""];
    ofRequests.hidden = name === "";
    setText(requestsName, `${kind === "client" ? "Client" : "Statement"} ${name}`);
    markControls();
    const parameters = {
      recording,
      length: String(length()),
      until: until === null ? null : String(until),
      node: node() || null,
      [kind]: name || null,
    };
    const [figures, table] = [JSON.stringify(parameters), JSON.stringify([parameters, of?.id])];
    try {
      const [next, rows] = await Promise.all([
        client.get<LiveView | null>("live", parameters, signal),
        of ? client.get<unknown>("live-table", { ...parameters, of: of.id }, signal) : null,
      ]);
      if (signal.aborted) return;
      if (next === null) {
        setText(state, "Reading what was recorded …");
        dropOthers(figures, table, of);
        askIn(LATER_MS, false);
        return;
      }
      const isNew = next.totals.to_s !== view?.totals.to_s;
      const isLate = !next.is_growing || next.behind_s > BEHIND_S;
      const isThere = until === null || next.kept_to_s >= until || !next.is_growing;
      askIn(isLate ? LATER_MS : isNew ? EARLY_MS : AGAIN_MS, isThere);
      view = next;
      [figuresOf, tableOf] = [figures, table];
      say(next);
      show(next);
      list(of, rows);
      recent.update(next, held() !== null, node());
    } catch (cause) {
      if (signal.aborted) return;
      askIn(LATER_MS, false);
      setText(state, cause instanceof Error ? cause.message : String(cause));
      state.className = "live-state ended";
      dropOthers(figures, table, of);
    }
  };

  /** Marks what is chosen. */
  const markControls = (): void => {
    setText(pauseButton, held() === null ? "Pause" : "Go on");
    lengths.forEach((button, place) => {
      button.setAttribute("aria-pressed", String(LENGTHS_S[place] === length()));
    });
    const id = listing()?.id ?? CONTROL.id;
    tabs.forEach((tab, place) => {
      const isChosen = TABS[place]?.id === id;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.setAttribute("tabindex", isChosen ? "0" : "-1");
    });
    panel.setAttribute("aria-labelledby", `tab-${id}`);
    panel.dataset.of = id;
  };

  const say = (next: LiveView): void => {
    const { totals } = next;
    const isBehind = next.is_growing && next.behind_s > BEHIND_S;
    const words = !next.is_growing
      ? `✕ The recorder has ended. Last figures of ${utc(next.kept_to_s)} UTC`
      : isBehind
        ? `⚠ Nothing new for ${span(next.behind_s)}`
        : held() === null
          ? `● Live, ${utc(totals.to_s)} UTC`
          : `⏸ Paused at ${utc(totals.to_s)} UTC`;
    setText(state, words);
    state.className = `live-state ${!next.is_growing ? "ended" : isBehind ? "behind" : held() === null ? "on" : "held"}`;
  };

  const show = (next: LiveView): void => {
    const { totals, series } = next;
    const now = totals.events.filter(
      ({ kind, time_s }) => kind === SILENT && time_s > totals.to_s - SILENT_S,
    );
    const last = new Map(now.map(({ node, what }) => [node, `${node} ${what}.`]));
    setText(silent, [...last.values()].join(" "));
    silent.hidden = last.size === 0;
    tiles.replaceChildren(
      ...figures(next).map(([name, value, is_bad]) =>
        h(
          "li",
          { class: is_bad ? "bad" : null },
          h("span", { class: "quiet" }, name),
          h("strong", {}, value),
        ),
      ),
    );
    const window = { from_s: totals.to_s - length(), to_s: totals.to_s, kept_from_s: next.kept_from_s };
    for (const chart of charts) chart.show(series, totals, window);
    heat.show(next.heat, window);
  };

  const list = (of: LiveListing | null | undefined, answer: unknown): void => {
    if (!of) {
      if (control.root.parentElement !== panel) panel.replaceChildren(control.root);
      control.update();
      return;
    }
    // A press on a button would be lost with the button.
    if (panel.querySelector("button:active")) return;
    const contains = of.contains && choices.chosen("contains");
    const rows = of.rows(answer).filter((row) => !contains || of.contains?.(row, contains));
    // The table is replaced every second, so the focus is restored: by the button's text, which names a column or a row.
    const focused = document.activeElement?.closest<HTMLElement>("#panel button")?.textContent;
    const all =
      contains &&
      h(
        "button",
        { type: "button", title: "Show all", onclick: () => choices.choose({ contains: "" }) },
        `${of.title} that contain ${contains} ×`,
      );
    panel.replaceChildren(
      ...(all ? [h("p", { class: "filters" }, all)] : []),
      rows.length === 0
        ? h("p", { class: "missing" }, of.nothing)
        : sortable(choices, of.title, of.fields(leads), rows),
    );
    if (focused === undefined) return;
    const same = (text: string | null): string => (text ?? "").replace(/ [▲▼]$/, "");
    const buttons = [...panel.querySelectorAll<HTMLElement>("button")];
    buttons.find(({ textContent }) => same(textContent) === same(focused))?.focus();
  };

  store.subscribe(() => void ask());
  theme.subscribe(() => void ask());
  // A paused page asks for nothing otherwise.
  client.onReturn(() => void ask());
  void ask();
  // A paused page asks for nothing, and its charts still have to be as wide as their panels.
  new ResizeObserver(() => view && show(view)).observe(heat.root);

  return [
    h(
      "header",
      { class: "top live-top" },
      h("h1", {}, title),
      state,
      isOneOfMany && h("a", { href: `#${LIST}` }, "All recordings"),
      h(
        "span",
        { class: "tools" },
        h("button", { type: "button", "aria-label": "Scroll back", onclick: () => scroll(-0.5) }, "←"),
        pauseButton,
        h("button", { type: "button", "aria-label": "Scroll on", onclick: () => scroll(0.5) }, "→"),
        ...lengths,
        h(
          "button",
          { type: "button", onclick: () => view && closer(view.totals.from_s, view.totals.to_s) },
          "Look closer",
        ),
        h(
          "button",
          { type: "button", title: "As a recording of its own, or as a report (s)", onclick: save.open },
          "Save…",
        ),
        h(
          "button",
          { type: "button", "aria-label": "Switch between light and dark", onclick: () => theme.toggle() },
          "◐",
        ),
        h("button", { type: "button", "aria-label": "Help", title: "Help (?)", onclick: help.toggle }, "?"),
      ),
    ),
    h(
      "main",
      { class: "workbench live" },
      ofNode,
      ofRequests,
      silent,
      tiles,
      recent.root,
      h(
        "div",
        { class: "live-charts" },
        ...charts.slice(0, 2).map(({ root }) => root),
        heat.root,
        ...charts.slice(2).map(({ root }) => root),
      ),
      h(
        "div",
        { class: "tab-row" },
        h("div", { class: "tabs", role: "tablist", "aria-label": "Tables" }, ...tabs),
      ),
      panel,
    ),
    help.root,
    save.root,
  ];
}

/** The main figures of the window: name, value, and whether the value is bad. */
function figures({ totals }: LiveView): [string, string, boolean][] {
  const { latency_ms: latency } = totals;
  const busy = totals.cpu === null ? null : 1 - totals.cpu.idle - totals.cpu.iowait;
  const lost = totals.sources.reduce((sum, source) => sum + source.lost, 0);
  // Only a loss that may change a figure is a warning.
  const isSerious = totals.sources.some(({ is_serious }) => is_serious);
  return [
    ["requests", perSecond(totals.requests_per_s), false],
    ["errors", totals.errors === 0 ? "none" : count(totals.errors), totals.errors > 0],
    ["p50", orNothing(latency.p50, milliseconds), false],
    ["p99", orNothing(latency.p99, milliseconds), false],
    ["p99.9", orNothing(latency.p999, milliseconds), false],
    ["max", orNothing(latency.max, milliseconds), false],
    ["in flight", digits3(totals.in_flight), false],
    ["CPU busy", orNothing(busy, percent), (busy ?? 0) > 0.9],
    ["GC", isRecorded(totals, "pauses") ? percent(totals.gc_share) : NOTHING, totals.gc_share > 0.1],
    ...(totals.weight > 1.005
      ? [["sampled", `1 in ${digits3(totals.weight)}`, false] as [string, string, boolean]]
      : []),
    ...(lost > 0 ? [["lost", plural(lost, "row"), isSerious] as [string, string, boolean]] : []),
  ];
}
