import { milliseconds } from "../format";
import type { Pause, Report } from "../model";
import { type Lane, LanePlot, lanesSummary, pausesIn } from "./lane-plot";
import { missingSources, ORIGINS, whyMissing } from "./missing";
import type { PanelBody } from "./panel";
import { type Rows, TIME } from "./rows";
import type { Window } from "./window";

const ORDER = ["server gc", "server safepoint", "server stall", "load stall", "recorder stall"];
const NAMES: Record<string, string> = {
  "server gc": "Server GC",
  "server safepoint": "Server safepoint",
  "server stall": "Server stall",
  "load stall": "Load driver stall",
  "recorder stall": "Recorder stall",
};

/** One lane for each kind of pause, side and node; the server first. */
export function lanes(pauses: readonly Pause[]): Lane[] {
  const found = new Map<string, { kind: string; node: string; pauses: Pause[] }>();
  const nodes = new Set(pauses.filter(({ side }) => side === "server").map(({ node }) => node));
  for (const pause of pauses) {
    const kind = `${pause.side} ${pause.kind}`;
    const node = pause.side === "server" ? pause.node : "";
    const lane = found.get(`${kind} ${node}`);
    if (lane) lane.pauses.push(pause);
    else found.set(`${kind} ${node}`, { kind, node, pauses: [pause] });
  }
  const place = (kind: string): number => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  return [...found.values()]
    .sort((a, b) => place(a.kind) - place(b.kind) || a.node.localeCompare(b.node))
    .map(({ kind, node, pauses: own }) => ({
      title: `${NAMES[kind] ?? kind}${nodes.size > 1 && node !== "" ? ` ${node}` : ""}`,
      side: own[0]?.side ?? "recorder",
      pauses: own.sort((a, b) => a.start_s - b.start_s),
    }));
}

/** The kinds of pauses that were not recorded. */
export function notCaptured(report: Pick<Report, "pauses" | "sources">): string {
  const hasStalls = report.pauses.some(({ kind }) => kind === "stall");
  return missingSources(report, [
    { source: "pauses", what: "GC and safepoints of the server (no agent was attached)" },
    // The load driver reports its stalls without a source.
    ...(hasStalls ? [] : [{ source: "stalls", what: "stalls" }]),
  ]);
}

export function pausesPanel(report: Report): PanelBody {
  const all = lanes(report.pauses);
  const absent = notCaptured(report);
  return {
    note: `times in which a process stood still${absent === "" ? "" : `. ${absent}`}`,
    plots: all.map((lane, index) => new LanePlot(lane, index === all.length - 1)),
    missing:
      all.length === 0
        ? whyMissing(report, ORIGINS.pauses, `No process paused in this recording. ${absent}`)
        : null,
    summary: ({ window }) => `${lanesSummary(all, window)} ${absent}`,
    rows: ({ window }) => rows(report.pauses, window),
  };
}

function rows(pauses: readonly Pause[], window: Window): Rows {
  const shown = pausesIn(pauses, window).sort((a, b) => a.start_s - b.start_s);
  return {
    columns: [
      { ...TIME, name: "start" },
      { name: "duration", unit: "ms", write: milliseconds },
      { name: "side", unit: "" },
      { name: "kind", unit: "" },
      { name: "node", unit: "" },
      { name: "what", unit: "" },
    ],
    total: shown.length,
    row: (index) => {
      const pause = shown[index];
      return pause ? [pause.start_s, pause.duration_ms, pause.side, pause.kind, pause.node, pause.label] : [];
    },
  };
}
