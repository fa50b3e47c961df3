import { bytes, count, milliseconds, percent } from "../../format";
import type {
  LiveFile,
  LiveGroup,
  LiveNode,
  LivePause,
  LivePool,
  LiveSlow,
  LiveTable,
  LiveTraffic,
  LiveTrafficRow,
  LiveValve,
} from "../../model";
import type { Choices } from "../choices";
import type { Field } from "../sortable";
import { utc } from "./lines";

/** A table of the live page: its name in the API, and its columns. */
export interface LiveListing {
  id: string;
  title: string;
  /** The rows of an answer. */
  rows(answer: unknown): readonly unknown[];
  fields(choices: Choices): Field<unknown>[];
  nothing: string;
}

function listing<T>(
  id: string,
  title: string,
  nothing: string,
  fields: Field<T>[] | ((choices: Choices) => Field<T>[]),
  rows: (answer: unknown) => readonly T[] = (answer) => answer as T[],
): LiveListing {
  const made = typeof fields === "function" ? fields : () => fields;
  return { id, title, nothing, rows, fields: (choices) => made(choices) as Field<unknown>[] };
}

const traffic = (name: string): Field<LiveTrafficRow>[] => [
  { name, unit: "", of: (row) => row.name || "(unknown)" },
  { name: "time", unit: "share", write: percent, of: (row) => row.time_share },
  { name: "requests", unit: "per s", of: (row) => row.requests_per_s },
  { name: "errors", unit: "count", write: count, of: (row) => row.errors },
  { name: "p50", unit: "ms", write: milliseconds, of: (row) => row.latency_ms.p50 },
  { name: "p99", unit: "ms", write: milliseconds, of: (row) => row.latency_ms.p99 },
  { name: "max", unit: "ms", write: milliseconds, of: (row) => row.latency_ms.max },
  { name: "in flight", unit: "mean", of: (row) => row.in_flight },
  { name: "sent", unit: "bytes", write: bytes, of: (row) => row.response_bytes },
  { name: "rows", unit: "count", write: count, of: (row) => row.rows_returned },
];
const rowsOf = (answer: unknown): LiveTrafficRow[] => (answer as LiveTraffic).rows;
const us = (value: number | null): number | null => (value === null ? null : value / 1000);
const NONE = "No requests in this time.";

export const LISTINGS: readonly LiveListing[] = [
  listing("statements", "Statements", NONE, traffic("statement"), rowsOf),
  listing("clients", "Clients", NONE, traffic("client"), rowsOf),
  listing<LiveNode>("nodes", "Nodes", "Nothing was recorded of a node in this time.", (choices) => [
    { name: "node", unit: "", of: (row) => row.node, open: ({ node }) => choices.choose({ node }) },
    { name: "requests", unit: "per s", of: (row) => row.requests_per_s },
    { name: "errors", unit: "count", write: count, of: (row) => row.errors },
    { name: "p50", unit: "ms", write: milliseconds, of: (row) => row.latency_ms.p50 },
    { name: "p99", unit: "ms", write: milliseconds, of: (row) => row.latency_ms.p99 },
    { name: "max", unit: "ms", write: milliseconds, of: (row) => row.latency_ms.max },
    { name: "threads", unit: "CPUs", of: (row) => row.cpus },
    { name: "GC", unit: "share", write: percent, of: (row) => row.gc_share },
    { name: "most pending", unit: "count", write: count, of: (row) => row.most_pending },
    { name: "in pool", unit: "", of: (row) => row.fullest_pool || null },
    { name: "dropped", unit: "count", write: count, of: (row) => row.dropped },
    { name: "local reads", unit: "per s", of: (row) => row.reads_per_s },
    { name: "local read", unit: "ms", write: milliseconds, of: (row) => us(row.local_read_us) },
    { name: "local writes", unit: "per s", of: (row) => row.writes_per_s },
    { name: "local write", unit: "ms", write: milliseconds, of: (row) => us(row.local_write_us) },
    { name: "pending compactions", unit: "count", write: count, of: (row) => row.pending_compactions },
    { name: "on disk", unit: "bytes", write: bytes, of: (row) => row.live_disk_bytes },
  ]),
  listing<LiveSlow>("slowest", "Slowest", NONE, [
    { name: "began", unit: "UTC", of: (row) => row.start_s, write: utc },
    { name: "took", unit: "ms", write: milliseconds, of: (row) => row.duration_ms },
    { name: "outcome", unit: "", of: (row) => row.outcome },
    { name: "statement", unit: "", of: (row) => row.statement },
    {
      name: "client",
      unit: "",
      of: (row) => (row.client === "" ? null : `${row.client}:${row.client_port}`),
    },
    { name: "node", unit: "", of: (row) => row.node },
    { name: "rows", unit: "count", write: count, of: (row) => row.rows_returned },
  ]),
  listing<LiveGroup>("groups", "Threads", "Threads are not recorded.", [
    { name: "thread group", unit: "", of: (row) => row.group },
    { name: "process", unit: "", of: (row) => row.process || null },
    { name: "running", unit: "CPUs", of: (row) => row.cpus },
    { name: "waiting for a CPU", unit: "CPUs", of: (row) => row.waiting_cpus },
    { name: "migrations", unit: "per s", of: (row) => row.migrations_per_s },
    {
      name: "switches",
      unit: "per s",
      of: (row) => row.voluntary_switches_per_s + row.involuntary_switches_per_s,
    },
  ]),
  listing<LivePool>("pools", "Pools", "Thread pools are not recorded: that takes the agent.", [
    { name: "pool", unit: "", of: (row) => row.pool },
    { name: "node", unit: "", of: (row) => row.node },
    { name: "active", unit: "count", write: count, of: (row) => row.active },
    { name: "pending", unit: "count", write: count, of: (row) => row.pending },
    { name: "most pending", unit: "count", write: count, of: (row) => row.most_pending },
    { name: "blocked", unit: "count", write: count, of: (row) => row.newly_blocked },
    { name: "completed", unit: "per s", of: (row) => row.completed_per_s },
    { name: "size", unit: "count", write: count, of: (row) => row.max_size },
  ]),
  listing<LiveTable>("tables", "Tables", "Tables are not recorded: that takes the agent.", [
    { name: "table", unit: "", of: (row) => row.table },
    { name: "node", unit: "", of: (row) => row.node },
    { name: "reads", unit: "per s", of: (row) => row.reads_per_s },
    { name: "writes", unit: "per s", of: (row) => row.writes_per_s },
    { name: "local read", unit: "ms", write: milliseconds, of: (row) => us(row.local_read_us) },
    { name: "local write", unit: "ms", write: milliseconds, of: (row) => us(row.local_write_us) },
    { name: "SSTables", unit: "count", write: count, of: (row) => row.sstables },
    { name: "on disk", unit: "bytes", write: bytes, of: (row) => row.live_disk_bytes },
    { name: "memtable", unit: "bytes", write: bytes, of: (row) => row.memtable_bytes },
    { name: "pending compactions", unit: "count", write: count, of: (row) => row.pending_compactions },
    { name: "compacting", unit: "count", write: count, of: (row) => row.running_compactions },
    { name: "compacted", unit: "share", write: percent, of: (row) => row.compacted_share },
  ]),
  listing<LiveFile>("files", "Files", "Files are not recorded: add --syscalls summary.", [
    { name: "file", unit: "", of: (row) => row.file || "(unknown)" },
    { name: "reads", unit: "per s", of: (row) => row.reads_per_s },
    { name: "read", unit: "bytes/s", write: bytes, of: (row) => row.read_bytes_per_s },
    { name: "written", unit: "bytes/s", write: bytes, of: (row) => row.written_bytes_per_s },
    { name: "in calls", unit: "ms per s", of: (row) => row.ms_per_s },
    { name: "from disk", unit: "bytes/s", write: bytes, of: (row) => row.from_disk_bytes_per_s },
  ]),
  listing<LivePause>("pauses", "Pauses", "No pause in this time.", [
    { name: "began", unit: "UTC", of: (row) => row.start_s, write: utc },
    { name: "took", unit: "ms", write: milliseconds, of: (row) => row.duration_ms },
    { name: "kind", unit: "", of: (row) => row.kind },
    { name: "what", unit: "", of: (row) => row.what },
    { name: "cause", unit: "", of: (row) => row.cause },
    { name: "node", unit: "", of: (row) => row.node },
  ]),
  listing<LiveValve>("valves", "Valves", "No valve is attached.", [
    { name: "valve", unit: "", of: (row) => row.valve },
    { name: "node", unit: "", of: (row) => row.node },
    { name: "limit", unit: "count", write: count, of: (row) => row.limit },
    { name: "in flight", unit: "mean", of: (row) => row.in_flight },
    { name: "waiting", unit: "mean", of: (row) => row.waiting },
    { name: "completed", unit: "per s", of: (row) => row.throughput_per_s },
    { name: "p99", unit: "ms", write: milliseconds, of: (row) => row.p99_ms },
    { name: "reason", unit: "", of: (row) => row.reason },
  ]),
];
