import type { Report } from "../model";
import type { Store } from "../state";
import { cpuPanel } from "./cpu";
import { groupsPanel } from "./groups";
import { heatmapPanel } from "./heatmap";
import { latencyPanel } from "./latency";
import type { Panel } from "./panel";
import { pausesPanel } from "./pauses";
import { poolsPanel } from "./pools";
import { tablesPanel } from "./tables";
import { throughputPanel } from "./throughput";
import { valvesPanel } from "./valves";

/** All charts, from what a user feels down to what the machine does. */
export function panelsOf(report: Report, store: Store): Panel[] {
  return [
    throughputPanel(report),
    latencyPanel(report, store),
    heatmapPanel(report),
    pausesPanel(report),
    cpuPanel(report),
    groupsPanel(report),
    poolsPanel(report),
    ...valvesPanel(report),
    tablesPanel(report),
  ];
}
