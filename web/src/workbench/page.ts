import { panelsOf } from "../charts/panels";
import { ChartStack } from "../charts/stack";
import { fitInto, sameWindow } from "../charts/window";
import { copyButton, copyText } from "../clipboard";
import { h } from "../dom";
import { clock } from "../format";
import type { Listed, Report } from "../model";
import { type Action, actionsOf, listenToKeys } from "../sections/actions";
import { contained } from "../sections/contained";
import { header } from "../sections/header";
import { helpDialog, POINTER } from "../sections/help";
import { phaseTable } from "../sections/phases";
import { probes } from "../sections/probes";
import { sourceTable } from "../sections/sources";
import { spectrogram } from "../sections/spectrogram";
import { strip } from "../sections/strip";
import { Store } from "../state";
import { Theme } from "../theme";
import { busy, settle } from "./busy";
import { type Client, Gone } from "./client";
import { marker } from "./compare";
import { rangeButton, writtenRange } from "./filters";
import { Findings } from "./findings";
import { nameOf, saveDialog } from "./save";
import { Subject } from "./subject";
import { step, TABS, type Tab, tabBar } from "./tabs";

/** A gesture of pages with a tab for its requests. */
const RECTANGLE: [string, string] = [
  "Drag a rectangle over the latency heatmap",
  "List its requests, and what they have in common",
];
/** Time after which a window that has stopped moving is queried. */
const REST_MS = 150;

/** A recording: the findings of the window, the charts that select it, and detailed views of it. */
export function page(
  client: Client,
  recordings: readonly Listed[],
  recording: string,
  report: Report,
): HTMLElement[] {
  const theme = new Theme();
  const store = new Store({ start: 0, end: Math.max(report.duration_s, 0.001) });
  if (recordings.length > 1 && store.selection.more.recording !== recording)
    store.change({ more: { ...store.selection.more, recording } });
  const isGrowing = recordings.some(({ name, is_closed }) => name === recording && !is_closed);
  followMoment(store, report);
  followStart(store, report, isGrowing);
  const subject = new Subject(client, recording, report, store, theme, isGrowing);
  const stack = new ChartStack(report, store, theme, panelsOf(report, store), (window, range) => {
    const took = writtenRange(range.from_ms, range.below_ms);
    const more = { ...store.selection.more, took, tab: "slowest", sort: "" };
    store.change({ window: fitInto(window, store.whole), finding: null, more });
  });
  const help = helpDialog(() => actions, [...POINTER, RECTANGLE]);
  const save = saveDialog(client, () => {
    const { start, end } = store.selection.window;
    const edges = [start, end].map((edge) => clock(edge, 0.1, report.duration_s));
    const isWhole = subject.window === "";
    return {
      asked: subject.asked,
      window: isWhole ? `The whole run of ${recording}` : `${edges.join(" – ")} s of ${recording}`,
      name: nameOf(recording, isWhole ? "copy" : `${Number(start.toFixed(1))}-${Number(end.toFixed(1))}s`),
    };
  });
  const actions: Action[] = [
    ...actionsOf(report, store, stack, theme, help.toggle),
    { keys: ["]"], does: "Show the next tab", run: () => step(subject, 1) },
    { keys: ["["], does: "Show the previous tab", run: () => step(subject, -1) },
    { keys: ["s"], does: "Save this window as a recording or a report", run: save.open },
  ];
  listenToKeys(actions);
  document.title = `${report.title} – Helenus`;

  const findings = new Findings(subject, () => stack.redraw());
  const overview = h(
    "div",
    { id: "overview" },
    findings.cards,
    h("section", { id: "charts", tabindex: -1, "aria-label": "Charts" }, stack.root),
  );
  const still = new Map<string, HTMLElement[]>();
  /** Parts that follow the window by themselves are created only once. */
  const parts: Record<string, () => HTMLElement[]> = {
    syscalls: () => contained("System calls", () => [spectrogram(report, store, theme)]),
    sources: () => [
      ...contained("Phases", () => [phaseTable(report, store)]),
      ...contained("Probes", () => probes(report)),
      ...contained("Sources", () => [sourceTable(report)]),
    ],
  };
  const panel = h("section", { id: "panel", role: "tabpanel", tabindex: -1 });
  const marks = h("span", { class: "marks" });
  const tabs = tabBar(subject);

  let asked: AbortController | null = null;
  /** The tab whose content the panel has. */
  let filled = "";
  const fill = async (tab: Tab): Promise<void> => {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    const show = (made: HTMLElement[]): void => {
      settle(panel);
      panel.replaceChildren(...made);
      filled = tab.id;
    };
    const part = parts[tab.id];
    if (part) {
      const made = still.get(tab.id) ?? part();
      still.set(tab.id, made);
      show(made);
      return;
    }
    if (!tab.load) {
      show([]);
      return;
    }
    // The content belongs to the window before, or even to another tab.
    panel.classList.toggle("of-other", filled !== tab.id);
    busy(panel, "Reading …");
    try {
      const made = await tab.load(subject, signal);
      if (!signal.aborted) show(made);
    } catch (cause) {
      if (signal.aborted) return;
      if (cause instanceof Gone) shown = "";
      const why = cause instanceof Error ? cause.message : String(cause);
      show([h("p", { class: "missing failure", role: "alert" }, why)]);
    }
  };
  const current = (): Tab => TABS.find(({ id }) => id === subject.chosen("tab")) ?? (TABS[0] as Tab);
  let shown = "";
  let resting: ReturnType<typeof setTimeout> | null = null;
  const update = (): void => {
    const tab = current();
    const isHome = tab.id === "";
    // The charts keep their width, from which the time axis above is drawn.
    overview.classList.toggle("away", !isHome);
    overview.toggleAttribute("inert", !isHome);
    panel.hidden = isHome;
    panel.setAttribute("aria-labelledby", `tab-${tab.id === "" ? "overview" : tab.id}`);
    marks.replaceChildren(...rangeButton(subject), ...marker(subject));
    findings.update();
    const { more } = store.selection;
    const key = JSON.stringify([subject.window, more]);
    if (key === shown) return;
    shown = key;
    void fill(tab);
  };
  const changed = (wait: boolean): void => {
    tabs.show();
    if (resting !== null) clearTimeout(resting);
    resting = setTimeout(update, wait ? REST_MS : 0);
  };
  // Everything that failed meanwhile is requested again.
  client.onReturn(() => changed(false));
  store.subscribe((selection, previous) => changed(selection.more === previous.more));
  tabs.show();
  update();

  return [
    h("button", { type: "button", class: "skip", onclick: () => panel.focus() }, "To the tab"),
    ...contained("What was recorded", () => [
      top(subject, recordings, save.open),
      // The answer is that of the window, and comes below.
      header({ ...report, answer: "" }, () => subject.choose({ tab: "sources" })),
    ]),
    h(
      "main",
      { class: "workbench" },
      findings.answer,
      ...contained("The window", () => [strip(report, store, stack, actions, () => findings.marks)]),
      h("div", { class: "tab-row" }, tabs.root, marks),
      overview,
      panel,
    ),
    help.root,
    save.root,
  ];
}

/**
 * Times of a growing recording count from its first row when the page was opened. A page that is opened later has another
 * first row, and moves the window by the difference.
 */
function followStart(store: Store, report: Report, isGrowing: boolean): void {
  const { zero, ...more } = store.selection.more;
  const { window } = store.selection;
  const now = isGrowing ? { ...more, zero: report.start_ns } : more;
  if (zero === undefined || !/^\d+$/.test(zero) || sameWindow(window, store.whole)) {
    if (zero !== now.zero) store.change({ more: now }, "correction");
    return;
  }
  const by = Number(BigInt(zero) - BigInt(report.start_ns)) / 1e9;
  const moved = fitInto({ start: window.start + by, end: window.end + by }, store.whole);
  if (by !== 0 || !isGrowing) store.change({ more: now, window: moved }, "correction");
}

/** A link from the live page has moments; here times count from the start of the recording. */
function followMoment(store: Store, report: Report): void {
  const { at, ...more } = store.selection.more;
  if (at === undefined) return;
  const begin = Number(report.start_ns) / 1e9;
  const [start, end] = at.split("-").map((edge) => Number(edge) - begin);
  if (start === undefined || end === undefined || !(start < end)) return;
  store.change({ more, window: fitInto({ start, end }, store.whole) }, "correction");
}

/** The bar at the top: the choice of the recording and the switches of the whole page. */
function top(subject: Subject, recordings: readonly Listed[], save: () => void): HTMLElement {
  const select = h(
    "select",
    { "aria-label": "Recording" },
    ...recordings.map(({ name, is_growing }) =>
      h(
        "option",
        { value: name, selected: name === subject.recording },
        is_growing ? `${name} (live)` : name,
      ),
    ),
  );
  select.addEventListener("change", () => {
    location.hash = `recording=${encodeURIComponent(select.value)}`;
  });
  return h(
    "div",
    { class: "workbench-top" },
    h("strong", {}, "Helenus"),
    recordings.length > 1 && select,
    subject.isGrowing &&
      h("a", { href: `#recording=${encodeURIComponent(subject.recording)}` }, "← Live page"),
    h(
      "span",
      { class: "tools" },
      h(
        "button",
        { type: "button", title: "As a recording of its own, or as a report (s)", onclick: save },
        "Save…",
      ),
      copyButton("Copy link", "Copy a link to this view", () => copyText(location.href)),
    ),
  );
}
