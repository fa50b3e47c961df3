import { failureText } from "../failure";
import type { Report } from "../model";
import type { Store } from "../state";
import { cpuPanel } from "./cpu";
import { groupsPanel } from "./groups";
import { GuardedPlot } from "./guarded-plot";
import { heatmapPanel } from "./heatmap";
import { latencyPanel } from "./latency";
import type { Panel, PanelBody } from "./panel";
import { pausesPanel } from "./pauses";
import { poolsPanel } from "./pools";
import { tablesPanel } from "./tables";
import { throughputPanel } from "./throughput";
import { valvesPanel } from "./valves";

/** All charts, from what users notice down to what the machine does. */
export function panelsOf(report: Report, store: Store): Panel[] {
  return [
    guarded("throughput", "Throughput", () => throughputPanel(report)),
    guarded("latency", "Latency", () => latencyPanel(report, store)),
    guarded("heatmap", "Latency heatmap", () => heatmapPanel(report)),
    guarded("pauses", "Pauses", () => pausesPanel(report)),
    guarded("cpu", "CPU by state", () => cpuPanel(report)),
    guarded("threads", "CPU by thread group", () => groupsPanel(report)),
    guarded("pools", "Thread pools", () => poolsPanel(report)),
    // Left out without valves, because most servers run without them.
    ...(report.valves.length === 0 ? [] : [guarded("valves", "Valves", () => valvesPanel(report))]),
    guarded("tables", "Tables", () => tablesPanel(report)),
  ];
}

/**
 * A chart whose errors don't affect the rest of the page, whether it is being created, drawn, described or
 * listed.
 */
function guarded(id: string, title: string, make: () => PanelBody): Panel {
  try {
    const panel = make();
    return { id, title, ...panel, plots: panel.plots.map((plot) => new GuardedPlot(plot, title)) };
  } catch (cause) {
    reportError(cause);
    return {
      id,
      title,
      note: "",
      plots: [],
      missing: failureText(title, cause),
      failed: true,
      summary: () => "",
      rows: () => ({ columns: [], total: 0, row: () => [] }),
    };
  }
}
