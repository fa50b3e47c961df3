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
import type { Field } from "../sortable";
import { utc } from "./lines";

/** Where rows of the tables lead to. */
export interface Leads {
  /** Limits the live page. */
  choose(choices: Record<string, string>): void;
  /** Opens everything that was recorded in a stretch of time, in seconds since the Unix epoch. */
  closer(from_s: number, to_s: number, more?: Record<string, string>): void;
  /** Opens the window of the live page in the same way. */
  closerNow(more: Record<string, string>): void;
}

/** Time shown before and after a moment, in seconds. */
const AROUND_S = 1;

/** A table of the live page: its name in the API, and its columns. */
export interface LiveListing {
  id: string;
  title: string;
  /** The rows of an answer. */
  rows(answer: unknown): readonly unknown[];
  fields(leads: Leads): Field<unknown>[];
  /** Whether the choice of a text limits the rows. */
  contains?: (row: unknown, text: string) => boolean;
  nothing: string;
}

function listing<T>(
  id: string,
  title: string,
  nothing: string,
  fields: Field<T>[] | ((leads: Leads) => Field<T>[]),
  rows: (answer: unknown) => readonly T[] = (answer) => answer as T[],
): LiveListing {
  const made = typeof fields === "function" ? fields : () => fields;
  return { id, title, nothing, rows, fields: (leads) => made(leads) as Field<unknown>[] };
}

const traffic = (name: "statement" | "client", leads: Leads): Field<LiveTrafficRow>[] => [
  {
    name,
    unit: "",
    of: (row) => row.name || "(unknown)",
    // One of both limits the page.
    open: (row) => leads.choose({ statement: "", client: "", [name]: row.name, tab: "slowest", sort: "" }),
    opens: (row) => row.name !== "",
  },
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
const nodeField = <T extends { node: string }>(leads: Leads): Field<T> => ({
  name: "node",
  unit: "",
  of: (row) => row.node || null,
  open: ({ node }) => leads.choose({ node }),
});
const around = ({ start_s, duration_ms }: { start_s: number; duration_ms: number }): [number, number] => [
  start_s - AROUND_S,
  start_s + duration_ms / 1000 + AROUND_S,
];
const rowsOf = (answer: unknown): LiveTrafficRow[] => (answer as LiveTraffic).rows;
const us = (value: number | null): number | null => (value === null ? null : value / 1000);
const NONE = "No requests in this time.";

export const LISTINGS: readonly LiveListing[] = [
  {
    ...listing("statements", "Statements", NONE, (leads) => traffic("statement", leads), rowsOf),
    contains: (row, text) => (row as LiveTrafficRow).name.toLowerCase().includes(text.toLowerCase()),
  },
  listing("clients", "Clients", NONE, (leads) => traffic("client", leads), rowsOf),
  listing<LiveNode>("nodes", "Nodes", "Nothing was recorded of a node in this time.", (leads) => [
    nodeField(leads),
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
  listing<LiveSlow>("slowest", "Slowest", NONE, (leads) => [
    {
      name: "began",
      unit: "UTC",
      of: (row) => row.start_s,
      write: utc,
      open: (row) => leads.closer(...around(row)),
    },
    { name: "took", unit: "ms", write: milliseconds, of: (row) => row.duration_ms },
    { name: "outcome", unit: "", of: (row) => row.outcome },
    {
      name: "statement",
      unit: "",
      of: (row) => row.statement || null,
      open: ({ statement }) => leads.choose({ statement, client: "" }),
    },
    {
      name: "client",
      unit: "",
      of: (row) => (row.client === "" ? null : `${row.client}:${row.client_port}`),
      open: ({ client }) => leads.choose({ client, statement: "" }),
    },
    nodeField(leads),
    { name: "rows", unit: "count", write: count, of: (row) => row.rows_returned },
  ]),
  listing<LiveGroup>("groups", "Threads", "Threads are not recorded.", (leads) => [
    {
      name: "thread group",
      unit: "",
      of: (row) => row.group,
      open: ({ group }) => leads.closerNow({ tab: "flame", threads: group }),
    },
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
  listing<LivePool>("pools", "Pools", "Thread pools are not recorded: that takes the agent.", (leads) => [
    { name: "pool", unit: "", of: (row) => row.pool },
    nodeField(leads),
    { name: "active", unit: "count", write: count, of: (row) => row.active },
    { name: "pending", unit: "count", write: count, of: (row) => row.pending },
    { name: "most pending", unit: "count", write: count, of: (row) => row.most_pending },
    { name: "blocked", unit: "count", write: count, of: (row) => row.newly_blocked },
    { name: "completed", unit: "per s", of: (row) => row.completed_per_s },
    { name: "size", unit: "count", write: count, of: (row) => row.max_size },
  ]),
  listing<LiveTable>("tables", "Tables", "Tables are not recorded: that takes the agent.", (leads) => [
    {
      name: "table",
      unit: "",
      of: (row) => row.table,
      // Statements may name the table without its keyspace.
      open: ({ table }) =>
        leads.choose({ tab: "statements", contains: table.split(".").at(-1) ?? "", sort: "" }),
    },
    nodeField(leads),
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
  listing<LiveFile>("files", "Files", "Files are not recorded: add --syscalls summary.", (leads) => [
    {
      name: "file",
      unit: "",
      of: (row) => row.file || "(unknown)",
      open: ({ file }) => leads.closerNow({ tab: "syscalls", file }),
      opens: ({ file }) => file !== "",
    },
    { name: "reads", unit: "per s", of: (row) => row.reads_per_s },
    { name: "read", unit: "bytes/s", write: bytes, of: (row) => row.read_bytes_per_s },
    { name: "written", unit: "bytes/s", write: bytes, of: (row) => row.written_bytes_per_s },
    { name: "in calls", unit: "ms per s", of: (row) => row.ms_per_s },
    { name: "from disk", unit: "bytes/s", write: bytes, of: (row) => row.from_disk_bytes_per_s },
  ]),
  listing<LivePause>("pauses", "Pauses", "No pause in this time.", (leads) => [
    {
      name: "began",
      unit: "UTC",
      of: (row) => row.start_s,
      write: utc,
      open: (row) => leads.closer(...around(row)),
    },
    { name: "took", unit: "ms", write: milliseconds, of: (row) => row.duration_ms },
    { name: "kind", unit: "", of: (row) => row.kind },
    { name: "what", unit: "", of: (row) => row.what },
    { name: "cause", unit: "", of: (row) => row.cause },
    nodeField(leads),
  ]),
  listing<LiveValve>("valves", "Valves", "No valve is attached.", (leads) => [
    {
      name: "valve",
      unit: "",
      of: (row) => row.valve,
      open: () => leads.choose({ tab: "control", sort: "" }),
    },
    nodeField(leads),
    { name: "limit", unit: "count", write: count, of: (row) => row.limit },
    { name: "in flight", unit: "mean", of: (row) => row.in_flight },
    { name: "waiting", unit: "mean", of: (row) => row.waiting },
    { name: "completed", unit: "per s", of: (row) => row.throughput_per_s },
    { name: "p99", unit: "ms", write: milliseconds, of: (row) => row.p99_ms },
    { name: "reason", unit: "", of: (row) => row.reason },
  ]),
];
