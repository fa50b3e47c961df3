import type { ChartStack } from "../charts/stack";
import { pan, withRoom, zoom } from "../charts/window";
import type { Finding, Report } from "../model";
import type { Store } from "../state";
import type { Theme } from "../theme";

/** An action that is available everywhere: a key, a line in the help, and sometimes a button. */
export interface Action {
  /** Names of keys as in KeyboardEvent.key. */
  keys: string[];
  does: string;
  /** The text of its button in the bar. */
  button?: string;
  /** Whether its keys also work while a dialog is open. */
  overDialog?: boolean;
  run(): void;
}

const PAN_SHARE = 0.2;
const ZOOM_FACTOR = 0.6;
/** The cursor moves by this share of the window. */
const CURSOR_SHARE = 1 / 200;

export function actionsOf(
  report: Report,
  store: Store,
  stack: ChartStack,
  theme: Theme,
  help: () => void,
): Action[] {
  const move = (share: number) => () =>
    store.change({ window: pan(store.selection.window, share, store.whole) }, "motion");
  const scale = (factor: number) => () =>
    store.change(
      { window: zoom(store.selection.window, factor, store.whole, stack.cursor ?? undefined) },
      "motion",
    );
  const point = (share: number) => () => {
    const { start, end } = store.selection.window;
    const from = stack.cursor ?? (start + end) / 2;
    stack.moveCursor(Math.min(end, Math.max(start, from + share * (end - start))));
  };
  const step = (by: 1 | -1) => () => {
    const next = neighbour(report.findings, store.selection.finding, by);
    if (next) showFinding(next, store);
  };
  return [
    { keys: ["ArrowLeft"], does: "Move the window back", button: "←", run: move(-PAN_SHARE) },
    { keys: ["ArrowRight"], does: "Move the window on", button: "→", run: move(PAN_SHARE) },
    { keys: ["+", "="], does: "Zoom in", button: "+", run: scale(ZOOM_FACTOR) },
    { keys: ["-"], does: "Zoom out", button: "−", run: scale(1 / ZOOM_FACTOR) },
    { keys: ["0", "Escape"], does: "Show the whole run", button: "All", run: () => store.reset() },
    { keys: ["n"], does: "Show the next finding", run: step(1) },
    { keys: ["p"], does: "Show the previous finding", run: step(-1) },
    { keys: [","], does: "Move the cursor back", run: point(-CURSOR_SHARE) },
    { keys: ["."], does: "Move the cursor on", run: point(CURSOR_SHARE) },
    {
      keys: ["r"],
      does: "Switch between response and service time",
      run: () => store.change({ latency: store.selection.latency === "response" ? "service" : "response" }),
    },
    { keys: ["t"], does: "Switch between light and dark", button: "◐", run: () => theme.toggle() },
    { keys: ["?"], does: "Show this help or put it away", button: "?", overDialog: true, run: help },
  ];
}

/** Zooms all charts to the window of a finding, with a little room around it. */
export function showFinding(finding: Finding, store: Pick<Store, "whole" | "change">): void {
  const window = withRoom({ start: finding.start_s, end: finding.end_s }, store.whole);
  store.change({ window, finding: finding.rank });
}

/** The finding after or before a rank; the order wraps around. */
export function neighbour(
  findings: readonly Finding[],
  rank: number | null,
  by: 1 | -1,
): Finding | undefined {
  const here = findings.findIndex((finding) => finding.rank === rank);
  if (here < 0) return by === 1 ? findings[0] : findings.at(-1);
  return findings[(here + by + findings.length) % findings.length];
}

/**
 * Runs actions by their keys, except where keys have another meaning: in fields and in tables that scroll.
 */
export function listenToKeys(actions: readonly Action[]): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest("input, select, textarea, [contenteditable]")) return;
    if (event.key.startsWith("Arrow") && target?.closest(".scroll")) return;
    const action = actions.find(({ keys }) => keys.includes(event.key));
    if (!action || (document.querySelector("dialog[open]") && !action.overDialog)) return;
    event.preventDefault();
    action.run();
  });
}
