import { h } from "../dom";
import type { Action } from "./actions";

const KEY_NAMES: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", "-": "−" };

export const POINTER: [string, string][] = [
  ["Drag over a chart", "Zoom to that stretch of time, in all charts"],
  ["Double-click", "Show the whole run"],
  ["Shift and drag, or drag with the right button", "Move the window"],
  ["Ctrl and wheel", "Zoom at the pointer"],
  ["Click a phase", "Zoom to it"],
  ["Drag over the system calls", "List the calls of that rectangle; Esc there clears it"],
];

const WORDS: [string, string][] = [
  ["response time", "from when the request should have started to its end: what a user waits"],
  ["service time", "from when the request did start to its end"],
  [
    "chance",
    "the share of slow requests that would fall on the same pauses if those were shifted in time at random",
  ],
  [
    "stall",
    "a process that should have run did not: measured by a thread that sleeps shortly and looks how late it woke",
  ],
  ["own time", "the time of a method's calls without that of its callees that have probes of their own"],
  ["safepoint", "the JVM stops all its threads, for GC or for something else"],
];

/** Keys, gestures and words, over the page. */
export function helpDialog(
  actions: () => readonly Action[],
  pointer: [string, string][] = POINTER,
): { root: HTMLDialogElement; toggle(): void } {
  const keys = h("dl");
  const close = h("button", { type: "button", onclick: () => root.close() }, "Close");
  const root = h(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    h("header", {}, h("h2", { id: "help-title" }, "Help"), close),
    h(
      "div",
      { class: "help-columns" },
      h("section", {}, h("h3", {}, "Keys"), keys),
      h("section", {}, h("h3", {}, "Pointer"), list(pointer), h("h3", {}, "Words"), list(WORDS)),
    ),
  );
  root.addEventListener("click", (event) => {
    if (event.target === root) root.close();
  });
  const toggle = (): void => {
    if (root.open) {
      root.close();
      return;
    }
    keys.replaceChildren(
      ...actions().flatMap((action) => [
        h(
          "dt",
          {},
          ...action.keys.flatMap((key, index) => [
            index > 0 ? " or " : "",
            h("kbd", {}, KEY_NAMES[key] ?? key),
          ]),
        ),
        h("dd", {}, action.does),
      ]),
    );
    root.showModal();
  };
  return { root, toggle };
}

function list(entries: [string, string][]): HTMLElement {
  return h("dl", {}, ...entries.flatMap(([term, meaning]) => [h("dt", {}, term), h("dd", {}, meaning)]));
}
