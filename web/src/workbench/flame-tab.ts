import { h } from "../dom";
import { caption, flameGraph } from "../flame/graph";
import type { FlameTree } from "../model";
import { Gone } from "./client";
import type { Subject } from "./subject";

const MODES: [mode: string, label: string, says: string][] = [
  ["", "All", "Where the time of all threads went in this window"],
  ["slow", "Slow requests", "While a request was slow, against the rest of this window"],
  ["rest", "Window against the rest", "This window, against the rest of the recording"],
  ["against", "Window against window", "This window, against the one that was marked for comparison"],
];

/** Flame graphs of the window, or of differences. */
export async function flame(subject: Subject, signal: AbortSignal): Promise<HTMLElement[]> {
  const [mode, event, threads] = [
    subject.chosen("flame"),
    subject.chosen("event"),
    subject.chosen("threads"),
  ];
  const against = subject.chosen("against");
  const known = subject.ask<[string, number][]>("flame-events", signal);
  const asked =
    mode === "rest" && subject.window === ""
      ? Promise.reject(new Error("This is the whole recording: choose a window, and there is a rest."))
      : subject.ask<FlameTree>("flame", signal, { mode, event, against, group: threads });
  // Wait for both: the reason why there is no graph is shown below the selection of another one.
  const [events, tree] = await Promise.allSettled([known, asked]);
  signal.throwIfAborted();
  for (const part of [events, tree])
    if (part.status === "rejected" && part.reason instanceof Gone) throw part.reason;
  const select = h(
    "select",
    { "aria-label": "Event" },
    ...(events.status === "fulfilled" ? events.value : []).map(([name, samples]) =>
      h("option", { value: name, selected: name === event }, `${name} (${samples.toLocaleString("en-US")})`),
    ),
  );
  select.addEventListener("change", () => subject.choose({ event: select.value }));
  const buttons = MODES.filter(([name]) => name !== "against" || against !== "").map(([name, label, says]) =>
    h(
      "button",
      {
        type: "button",
        title: says,
        "aria-pressed": String(name === mode),
        onclick: () => subject.choose({ flame: name }),
      },
      label,
    ),
  );
  const onlyOf =
    threads !== "" &&
    h(
      "button",
      { type: "button", onclick: () => subject.choose({ threads: "" }) },
      `Threads ${threads} alone ×`,
    );
  const bar = h("div", { class: "filters" }, h("span", { class: "switch" }, ...buttons), select, onlyOf);
  if (tree.status === "rejected")
    return [
      bar,
      h("p", { class: "missing" }, tree.reason instanceof Error ? tree.reason.message : String(tree.reason)),
    ];
  const graph = flameGraph(tree.value, subject.theme);
  return [bar, h("p", { class: "note" }, caption(tree.value)), graph.root];
}
