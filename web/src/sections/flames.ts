import { sameWindow } from "../charts/window";
import { h } from "../dom";
import { caption, flameGraph } from "../flame/graph";
import { scopeView } from "../flame/scope-view";
import type { StretchChoice } from "../flame/stretch-choice";
import type { FlameScope, Report } from "../model";
import type { Store } from "../state";
import type { Theme } from "../theme";

/**
 * Flame graphs of CPU time by thread group, and of slow requests against the rest. The first shows the charts' window,
 * and its map of samples chooses that window.
 */
export function flames(report: Report, store: Store, theme: Theme): HTMLElement {
  const section = h(
    "section",
    { id: "flames", tabindex: -1, "aria-labelledby": "flames-title" },
    h("h2", { id: "flames-title" }, "Flame graphs"),
  );
  if (report.flames.length === 0) {
    section.append(h("p", { class: "missing" }, "No stacks were sampled: record with --stacks cpu."));
  }
  for (const data of report.flames) {
    const whole = data.scope ? "The window of the charts" : "The whole recording";
    const title = data.against === "" ? whole : `CPU ${data.title}`;
    const graph = flameGraph(data, theme);
    const choice = data.scope && inTheWindow(store, data.scope, report.flames_begin_s ?? 0);
    section.append(h("h3", {}, title), h("p", { class: "note" }, caption(data)));
    if (data.scope && choice) section.append(scopeView(data, data.scope, theme, choice, graph.show).root);
    section.append(graph.root);
  }
  return section;
}

/** As the window of the charts: steps count from the first sample, and the window from the start of the report. */
export function inTheWindow(
  store: Pick<Store, "selection" | "whole" | "change" | "subscribe">,
  scope: FlameScope,
  begin_s: number,
): StretchChoice {
  const step_s = scope.step_ns / 1e9;
  const second = (step: number): number => begin_s + step * step_s;
  // A window that a stretch gave is the same stretch again, whatever the rounding did.
  const step = (second: number): number => Math.round((second - begin_s) / step_s);
  return {
    current: () => {
      const { window } = store.selection;
      if (sameWindow(window, store.whole)) return null;
      const from = step(window.start);
      return { from, to: Math.max(from + 1, step(window.end)) };
    },
    choose: (stretch) => {
      const whole = store.whole;
      const chosen = stretch && {
        start: Math.max(whole.start, second(stretch.from)),
        end: Math.min(whole.end, second(stretch.to)),
      };
      store.change({ window: chosen ?? whole, finding: null });
    },
    onChange: (listener) =>
      store.subscribe(({ window }, previous) => {
        if (!sameWindow(window, previous.window)) listener();
      }),
  };
}
