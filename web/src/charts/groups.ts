import { digits3, plural } from "../format";
import type { Report, ThreadGroup } from "../model";
import type { ColourName } from "../theme";
import { LinePlot, type LineSeries } from "./line-plot";
import { ORIGINS, whyMissing } from "./missing";
import type { PanelBody } from "./panel";
import { groupedRows } from "./rows";
import { mean } from "./throughput";
import { aligned, binWidth, type Window } from "./window";

/** Number of groups with a colour of their own; more could not be told apart. */
export const COLOURED = 8;

interface Process {
  name: string;
  /** Groups with the most CPU time come first. */
  groups: ThreadGroup[];
}

/** Thread groups by process, the server first; the heaviest first in each. */
export function byProcess(groups: readonly ThreadGroup[]): Process[] {
  const processes = new Map<string, ThreadGroup[]>();
  for (const group of groups) {
    if (group.time_s.length === 0) continue;
    const known = processes.get(group.process);
    if (known) known.push(group);
    else processes.set(group.process, [group]);
  }
  const first = (name: string): number => (name === "server" ? 0 : name === "load" ? 1 : 2);
  return [...processes]
    .map(([name, all]) => ({ name, groups: all.sort((a, b) => b.cpu_s - a.cpu_s) }))
    .sort((a, b) => first(a.name) - first(b.name) || a.name.localeCompare(b.name));
}

/** The smallest groups are one, which is of no process. */
const titleOf = (process: string): string => process || "others";

export function groupsPanel(report: Report): PanelBody {
  const processes = byProcess(report.groups);
  return {
    note: "CPUs kept busy; threads whose names differ only in their number are one group",
    plots: processes.map((process, index) => plotOf(process, index === processes.length - 1)),
    missing:
      processes.length === 0
        ? whyMissing(report, ORIGINS.threads, "No thread of the watched processes ran.")
        : null,
    summary: ({ window }) => processes.map((process) => summary(process, window)).join(" "),
    rows: ({ window }) =>
      groupedRows(
        processes.flatMap(({ groups }) => groups),
        window,
        [
          { name: "process", of: ({ process }) => titleOf(process) },
          { name: "group", of: ({ group }) => group },
        ],
        [{ name: "busy", unit: "CPUs", of: ({ cpus }) => cpus }],
      ),
  };
}

function plotOf({ name, groups }: Process, axis: boolean): LinePlot {
  // All groups of a process are sampled at once; the longest row of times has them all.
  const { time_s } = groups.reduce((longest, group) =>
    group.time_s.length > longest.time_s.length ? group : longest,
  );
  const top = groups.slice(0, groups.length > COLOURED ? COLOURED - 1 : COLOURED);
  const rest = groups.slice(top.length);
  const series: LineSeries[] = top.map((group, index) => {
    const values = aligned(group.time_s, group.cpus, time_s, 0);
    return {
      label: group.group,
      colour: `group-${index + 1}` as ColourName,
      mark: "area",
      values: () => values,
    };
  });
  if (rest.length > 0) {
    const sum = new Array<number>(time_s.length).fill(0);
    for (const group of rest)
      aligned(group.time_s, group.cpus, time_s, 0).forEach((cpus, index) => {
        sum[index] = (sum[index] ?? 0) + cpus;
      });
    series.push({
      label: `${plural(rest.length, "other group")}`,
      colour: "rest",
      mark: "area",
      values: () => sum,
    });
  }
  return new LinePlot({
    title: titleOf(name),
    height: 120,
    time_s,
    bin_s: binWidth(time_s),
    stacked: true,
    axis,
    write: digits3,
    // The group with the most CPU time lies at the bottom, where its shape is easiest to read.
    series: series.reverse(),
  });
}

function summary({ name, groups }: Process, window: Window): string {
  const busiest = groups
    .map((group) => ({ group: group.group, cpus: mean(group.cpus, group.time_s, window) }))
    .sort((a, b) => b.cpus - a.cpus)
    .slice(0, 3)
    .map(({ group, cpus }) => `${group} ${digits3(cpus)} CPUs`);
  return `${titleOf(name)}, busiest in this window: ${busiest.join(", ")}.`;
}
