import type { Report } from "../model";

/** The source of a chart's figures, named where figures are missing. */
export interface Origin {
  /** Names that the source may have in the recording. */
  sources: string[];
  /** The content of the chart: "thread pools". */
  what: string;
  /** How to record it the next time. */
  remedy: string;
}

const AGENT = "Attach the agent: helenus record --node ADDRESS, without leaving out its sources.";

export const ORIGINS = {
  requests: {
    sources: ["requests"],
    what: "requests",
    remedy: "Only helenus load and helenus lab run write requests; run the load inside of the recording.",
  },
  cpu: { sources: ["cpus", "cpu"], what: "CPU states", remedy: "Record with the source cpus." },
  threads: {
    sources: ["threads"],
    what: "threads",
    remedy: "Record with the source threads, as the node's user or as root.",
  },
  pauses: { sources: ["pauses", "stalls"], what: "pauses and stalls", remedy: AGENT },
  pools: { sources: ["pools"], what: "thread pools", remedy: AGENT },
  tables: { sources: ["tables", "table_stats"], what: "tables of the node", remedy: AGENT },
} satisfies Record<string, Origin>;

/** A plain sentence on why a chart is missing. `quiet` is for a source that ran while nothing happened. */
export function whyMissing(report: Report, origin: Origin, quiet: string): string {
  const ran = report.sources.filter(({ source }) => origin.sources.includes(source));
  if (ran.some(({ captured }) => captured > 0)) return quiet;
  const names = origin.sources[0] ?? origin.what;
  if (ran.length === 0)
    return `No ${origin.what} here: the source “${names}” was not part of this recording. ${origin.remedy}`;
  const lost = ran.find((source) => source.lost > 0);
  const reason = lost ? `; it lost ${lost.lost} (${lost.lost_reason})` : "";
  return `No ${origin.what} here: the source “${names}” ran and captured nothing${reason}. ${origin.remedy}`;
}

/** Why no response time is drawn: there were no requests, or none that was answered or timed out. */
export function whyNoLatency(report: Report): string {
  return report.requests === 0
    ? whyMissing(report, ORIGINS.requests, "No request was sent in this recording.")
    : "No request of this recording was answered or timed out, so that there is no response time. Throughput has the failures.";
}

/** A note beside a chart of pauses that lacks a side. */
export function missingSources(
  report: Pick<Report, "sources">,
  wanted: { source: string; what: string }[],
): string {
  const absent = wanted.filter(
    ({ source }) =>
      !report.sources.some((one) => one.source === source && (one.captured > 0 || one.lost === 0)),
  );
  return absent.length === 0 ? "" : `Not captured: ${absent.map(({ what }) => what).join(", ")}.`;
}
