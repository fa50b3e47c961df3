import { digits3, percent } from "../../format";
import type { LiveCpu, LiveSeries } from "../../model";
import type { ColourName } from "../../theme";
import type { LiveLine, LiveLinesOptions } from "./lines";

const cpu = (part: keyof LiveCpu) => (series: LiveSeries) => series.cpu.map((one) => one?.[part] ?? null);

const GROUP_COLOURS: readonly ColourName[] = [
  "group-1",
  "group-2",
  "group-3",
  "group-4",
  "group-5",
  "group-6",
];
/** The busiest thread groups, by name, so that a group keeps its colour while others are as busy. */
const busiest = ({ groups }: LiveSeries): LiveSeries["groups"] =>
  groups.slice(0, GROUP_COLOURS.length).sort((a, b) => a.group.localeCompare(b.group));
const groups = GROUP_COLOURS.map(
  (colour, place): LiveLine => ({
    label: (series) => {
      const of = busiest(series)[place];
      return of === undefined ? "" : of.process === "load" ? `${of.group} (load)` : of.group;
    },
    colour,
    of: (series) => busiest(series)[place]?.cpus ?? [],
  }),
);

/** The charts of the live page, but for the heatmap. */
export const CHARTS: readonly LiveLinesOptions[] = [
  {
    id: "rate",
    title: "Requests",
    note: "per second",
    write: digits3,
    lines: [
      { label: "requests", colour: "ok", of: (series) => series.requests_per_s },
      { label: "errors", colour: "failed", of: (series) => series.errors_per_s },
    ],
  },
  {
    id: "latency",
    title: "Latency",
    note: "ms, log scale",
    write: digits3,
    log: true,
    lines: [
      { label: "p50", colour: "p50", of: (series) => series.p50_ms },
      { label: "p99", colour: "p99", of: (series) => series.p99_ms },
      { label: "p99.9", colour: "p999", of: (series) => series.p999_ms },
      { label: "max", colour: "max", of: (series) => series.max_ms },
    ],
  },
  {
    id: "cpu",
    title: "CPU",
    note: "share of all CPUs of the machine",
    write: percent,
    stacked: true,
    ceiling: 1,
    lines: [
      { label: "user", colour: "user", of: cpu("user") },
      { label: "system", colour: "system", of: cpu("system") },
      { label: "interrupts", colour: "irq", of: cpu("irq") },
      { label: "stolen", colour: "steal", of: cpu("steal") },
      { label: "waiting for I/O", colour: "iowait", of: cpu("iowait") },
      { label: "idle", colour: "idle", of: cpu("idle") },
    ],
  },
  {
    id: "groups",
    source: { name: "threads", missing: "Threads were not recorded in this time." },
    title: "Threads",
    note: "CPUs, the busiest groups",
    write: digits3,
    lines: groups,
  },
  {
    id: "pauses",
    source: {
      name: "pauses",
      missing: "Pauses were not recorded in this time: that takes the agent in a running node.",
    },
    title: "Pauses",
    note: "ms in each second",
    write: digits3,
    lines: [
      { label: "GC", colour: "pause-server", of: (series) => series.gc_ms_per_s },
      { label: "all safepoints", colour: "pause-recorder", of: (series) => series.safepoint_ms_per_s },
      { label: "all stalls", colour: "group-6", of: (series) => series.stall_ms_per_s },
    ],
  },
  {
    id: "pending",
    source: {
      name: "pools",
      missing: "Thread pools were not recorded in this time: that takes the agent in a running node.",
    },
    title: "Thread pools",
    note: "tasks",
    write: digits3,
    lines: [{ label: "most pending tasks", colour: "group-2", of: (series) => series.pending }],
  },
  {
    id: "disk",
    title: "Disks",
    note: "MB/s",
    write: digits3,
    lines: [
      {
        label: "read",
        colour: "group-1",
        of: (series) => series.read_bytes_per_s.map((value) => value / 1e6),
      },
      {
        label: "written",
        colour: "group-4",
        of: (series) => series.written_bytes_per_s.map((value) => value / 1e6),
      },
    ],
  },
];
