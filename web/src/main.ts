import "uplot/dist/uPlot.min.css";
import "./flame/graph.css";
import "./flame/scope.css";
import "./style/index.css";
import { panelsOf } from "./charts/panels";
import { ChartStack } from "./charts/stack";
import { sameWindow } from "./charts/window";
import { h, jumpTo } from "./dom";
import type { Report } from "./model";
import { readReport, UnreadableReport } from "./report";
import { type Action, actionsOf, listenToKeys } from "./sections/actions";
import { contained } from "./sections/contained";
import { findings } from "./sections/findings";
import { flames } from "./sections/flames";
import { header } from "./sections/header";
import { helpDialog } from "./sections/help";
import { phaseTable } from "./sections/phases";
import { probes } from "./sections/probes";
import { sourceTable } from "./sections/sources";
import { spectrogram } from "./sections/spectrogram";
import { strip } from "./sections/strip";
import { variants } from "./sections/variants";
import { Store } from "./state";
import { Theme } from "./theme";

function show(report: Report): HTMLElement[] {
  const theme = new Theme();
  // A recording that ended at once still has a time axis.
  const store = new Store({ start: 0, end: Math.max(report.duration_s, 0.001) });
  const stack = new ChartStack(report, store, theme, panelsOf(report, store));
  const help = helpDialog(() => actions);
  const actions: Action[] = actionsOf(report, store, stack, theme, help.toggle);
  listenToKeys(actions);
  document.title = `${report.title} – Helenus`;
  // A link to a window or a chart is followed once the page has its final height.
  requestAnimationFrame(() => {
    const { chart, window } = store.selection;
    if (chart !== null && document.getElementById(`chart-${chart}`)) jumpTo(`chart-${chart}`);
    else if (!sameWindow(window, store.whole)) jumpTo("charts");
  });
  return [
    h("button", { type: "button", class: "skip", onclick: () => jumpTo("charts") }, "To the charts"),
    ...contained("What was run", () => [header(report)]),
    h(
      "main",
      {},
      ...contained("Variants", () => variants(report)),
      ...contained("Findings", () => [findings(belowHeader(report), store)]),
      ...contained("Phases", () => [phaseTable(report, store)]),
      h(
        "section",
        { id: "charts", tabindex: -1, "aria-label": "Charts" },
        ...contained("The window", () => [strip(report, store, stack, actions)]),
        stack.root,
      ),
      ...contained("System calls", () => [spectrogram(report, store, theme)]),
      ...contained("Flame graphs", () => [flames(report, store, theme)]),
      ...contained("Probes", () => probes(report)),
      ...contained("Sources", () => [sourceTable(report)]),
    ),
    h(
      "footer",
      {},
      `Written by helenus ${report.helenus}, ${report.created}. Everything is in this file; it loads nothing.`,
    ),
    help.root,
  ];
}

function start(): void {
  const app = document.getElementById("app");
  try {
    app?.append(...show(readReport(document.getElementById("report")?.textContent ?? "")));
  } catch (cause) {
    if (!(cause instanceof UnreadableReport)) throw cause;
    app?.append(h("p", { class: "missing", role: "alert" }, cause.message));
  }
}

start();

/** Without variants the header has the answer. */
function belowHeader(report: Report): Report {
  return report.comparison === null ? { ...report, answer: "" } : report;
}
