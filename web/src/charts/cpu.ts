import { percent } from "../format";
import type { Cpu, Report } from "../model";
import type { ColourName } from "../theme";
import { LinePlot } from "./line-plot";
import { ORIGINS, whyMissing } from "./missing";
import type { PanelBody } from "./panel";
import { groupedRows } from "./rows";
import { mean } from "./throughput";
import { binWidth } from "./window";

type State = "idle" | "iowait" | "steal" | "irq" | "system" | "user";
/** The states from the top of the stack down. */
const STATES: State[] = ["idle", "iowait", "steal", "irq", "system", "user"];

export function cpuPanel(report: Report): PanelBody {
  const shown = report.cpu.filter(({ time_s }) => time_s.length > 0);
  const many = shown.length > 1;
  return {
    note: `share of all CPUs${report.host.cpus > 0 ? ` (${report.host.cpus})` : ""}`,
    plots: shown.map(
      (cpu, index) =>
        new LinePlot({
          title: many ? cpu.node || "load driver" : null,
          height: 130,
          time_s: cpu.time_s,
          bin_s: binWidth(cpu.time_s),
          stacked: true,
          ceiling: 1,
          axis: index === shown.length - 1,
          write: percent,
          series: STATES.map((state) => ({
            label: state,
            colour: state satisfies ColourName,
            mark: "area" as const,
            values: () => cpu[state],
          })),
        }),
    ),
    missing:
      shown.length === 0
        ? whyMissing(report, ORIGINS.cpu, "The source ran for less than one interval.")
        : null,
    summary: ({ window }) => shown.map((cpu) => summary(cpu, window)).join(" "),
    rows: ({ window }) =>
      groupedRows(
        shown,
        window,
        [{ name: "node", of: ({ node }) => node }],
        [...STATES].reverse().map((state) => ({
          name: state,
          unit: "%",
          write: (share: number) => (share * 100).toFixed(1),
          of: (cpu: Cpu) => cpu[state],
        })),
      ),
  };
}

function summary(cpu: Cpu, window: { start: number; end: number }): string {
  const said = [...STATES]
    .reverse()
    .map((state) => `${state} ${percent(mean(cpu[state], cpu.time_s, window))}`);
  return `${cpu.node}, mean in this window: ${said.join(", ")}.`;
}
