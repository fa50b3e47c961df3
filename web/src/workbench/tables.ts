import { TIME } from "../charts/rows";
import { h } from "../dom";
import { bytes, count, digits3, milliseconds, percent, plural } from "../format";
import type {
  ClientFigures,
  FileIo,
  GcFigures,
  Happened,
  Io,
  LatencyCell,
  NodeGc,
  SharedValue,
  SharedValues,
  SlowRequest,
  StatementDetail,
  StatementFigures,
  TableHealth,
  TableIo,
  TrafficTable,
} from "../model";
import { filterButtons, filtersOf, rangeFields } from "./filters";
import { type Field, sortable } from "./sortable";
import type { Subject } from "./subject";

const missing = (text: string) => h("p", { class: "missing" }, text);

/** Columns that the tables of statements and clients share. */
function figures<T extends StatementFigures | ClientFigures>(): Field<T>[] {
  return [
    { name: "time", unit: "share", write: percent, of: (row) => row.time_share },
    { name: "requests", unit: "count", write: count, of: (row) => row.requests },
    { name: "rate", unit: "per s", of: (row) => row.requests_per_s },
    { name: "errors", unit: "count", write: count, of: (row) => row.errors },
    { name: "p50", unit: "ms", write: milliseconds, of: (row) => row.p50_ms },
    { name: "p99", unit: "ms", write: milliseconds, of: (row) => row.p99_ms },
    { name: "max", unit: "ms", write: milliseconds, of: (row) => row.max_ms },
    { name: "sent", unit: "bytes", write: bytes, of: (row) => row.response_bytes },
  ];
}

export async function statements(subject: Subject, signal: AbortSignal): Promise<HTMLElement[]> {
  const operation = subject.chosen("statement");
  const parameters = filtersOf(subject);
  if (operation !== "") return statement(subject, signal, operation);
  const table = await subject.ask<TrafficTable<StatementFigures>>("statements", signal, parameters);
  const filters = filter(subject, "contains", "Statements that contain");
  const bar = h("div", { class: "filters" }, filters, ...filterButtons(subject));
  if (table.rows.length === 0)
    return [bar, missing("No such requests in this window. Choose a longer one, or other filters.")];
  const fields: Field<StatementFigures>[] = [
    {
      name: "statement",
      unit: "",
      of: (row) => (row.operation === "" ? "(unknown statement)" : row.operation),
      open: (row) => subject.choose({ statement: row.operation, sort: "" }),
    },
    ...figures<StatementFigures>(),
    { name: "rows", unit: "count", write: count, of: (row) => row.rows_returned },
    { name: "clients", unit: "count", write: count, of: (row) => row.clients },
    { name: "levels", unit: "", of: (row) => Object.keys(row.consistency).join(", ") },
  ];
  return [bar, sortable(subject, "Statements", fields, table.rows)];
}

async function statement(subject: Subject, signal: AbortSignal, operation: string): Promise<HTMLElement[]> {
  const detail = await subject.ask<StatementDetail>("statement", signal, {
    ...filtersOf(subject),
    operation,
  });
  const back = h(
    "button",
    { type: "button", onclick: () => subject.choose({ statement: "", sort: "" }) },
    "← All statements",
  );
  return [
    h("div", { class: "filters" }, back, ...filterButtons(subject)),
    h(
      "pre",
      { class: "cql", tabindex: 0, role: "region", "aria-label": "Statement" },
      h("code", {}, operation),
    ),
    h("h3", {}, "Response times"),
    histogram(detail.histogram),
    h("h3", {}, "Slowest requests"),
    slowTable(subject, detail.slowest),
  ];
}

/** A bar for each class of times, on a log scale of counts, so that a single slow request is visible. */
function histogram(cells: readonly LatencyCell[]): HTMLElement {
  const most = Math.log10(1 + Math.max(1, ...cells.map(({ requests }) => requests)));
  const rows = cells.map(({ from_ms, to_ms, requests }) => {
    const bar = h("span", { class: "bar-of" });
    bar.style.width = `${(Math.log10(1 + requests) / most) * 100}%`;
    return h(
      "tr",
      {},
      h("th", { scope: "row", class: "number" }, `${milliseconds(from_ms)} – ${milliseconds(to_ms)}`),
      h("td", { class: "number" }, count(requests)),
      h("td", { class: "bars" }, bar),
    );
  });
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Response times as a histogram" },
    h(
      "table",
      { class: "histogram" },
      h("caption", {}, "Requests by response time; the bars are on a log scale"),
      h("tbody", {}, ...rows),
    ),
  );
}

export async function clients(subject: Subject, signal: AbortSignal): Promise<HTMLElement[]> {
  const table = await subject.ask<TrafficTable<ClientFigures>>("clients", signal, {
    ...filtersOf(subject),
    client: "",
  });
  if (table.rows.length === 0) return [missing("No requests in this window.")];
  const fields: Field<ClientFigures>[] = [
    {
      name: "client",
      unit: "",
      of: (row) => (row.client === "" ? "(load driver)" : row.client),
      open: (row) => subject.choose({ tab: "statements", client: row.client, statement: "", sort: "" }),
      opens: (row) => row.client !== "",
    },
    ...figures<ClientFigures>(),
    { name: "in flight", unit: "mean", of: (row) => row.in_flight },
    { name: "connections", unit: "count", write: count, of: (row) => row.connections },
    { name: "driver", unit: "", of: (row) => row.drivers.join(", ") },
  ];
  return [sortable(subject, "Clients", fields, table.rows)];
}

export async function slowest(subject: Subject, signal: AbortSignal): Promise<HTMLElement[]> {
  const filters = filtersOf(subject);
  const isPart = subject.took !== "" || Object.values(filters).some((value) => value !== "");
  const [requests, shared] = await Promise.all([
    subject.ask<SlowRequest[]>("slowest", signal, filters),
    isPart ? subject.ask<SharedValues>("shared", signal, filters) : null,
  ]);
  const bar = h("div", { class: "filters" }, rangeFields(subject), ...filterButtons(subject));
  if (requests.length === 0) return [bar, missing("No such requests in this window.")];
  const note =
    "A click on a time shows what happened around it. A rectangle in the latency heatmap lists its requests here.";
  return [
    bar,
    ...(shared === null ? [] : inCommon(subject, shared)),
    shared !== null && h("h3", {}, "Slowest requests"),
    h("p", { class: "note" }, `The ${count(requests.length)} slowest. ${note}`),
    slowTable(subject, requests),
  ].filter((part) => part !== false);
}

/** Compares the values of the chosen requests with those of the others of the same time. */
function inCommon(subject: Subject, { requests, others, values }: SharedValues): HTMLElement[] {
  const open: Record<string, (value: string) => Record<string, string>> = {
    statement: (statement) => ({ tab: "statements", statement, sort: "" }),
    client: (client) => ({ client, sort: "" }),
    node: (node) => ({ node, sort: "" }),
    table: (table) => ({ table, sort: "" }),
  };
  const fields: Field<SharedValue>[] = [
    { name: "what", unit: "", of: (row) => row.what },
    {
      name: "value",
      unit: "",
      of: (row) => row.value,
      open: ({ what, value }) => subject.choose(open[what]?.(value) ?? {}),
      opens: ({ what }) => what in open,
    },
    { name: "of these", unit: "share", write: percent, of: (row) => row.share },
    { name: "of the others", unit: "share", write: percent, of: (row) => row.others_share },
    { name: "requests", unit: "count", write: count, of: (row) => row.requests },
  ];
  const title = `What these ${plural(requests, "request")} have in common`;
  if (values.length === 0)
    return [
      h("h3", {}, title),
      missing(
        `No statement, table, client, connection, node, level or outcome is clearly more frequent among them than among the other ${count(others)} of this window. The findings above say what delayed them.`,
      ),
    ];
  return [
    h("h3", {}, title),
    h("p", { class: "note" }, `Beside the other ${count(others)} requests of this window.`),
    sortable(subject, "What these requests have in common", fields, values),
  ];
}

function slowTable(subject: Subject, requests: readonly SlowRequest[]): HTMLElement {
  // Precise to a microsecond; the exact numbers are in the texts, because JSON can't hold them.
  const start = (row: SlowRequest): number => row.start_ns / 1e9 - Number(subject.report.start_ns) / 1e9;
  const fields: Field<SlowRequest>[] = [
    { ...TIME, name: "due", of: start, open: (row) => around(subject, start(row), row.response_ms / 1000) },
    { name: "response", unit: "ms", write: milliseconds, of: (row) => row.response_ms },
    { name: "outcome", unit: "", of: (row) => row.outcome },
    {
      name: "statement",
      unit: "",
      of: (row) => row.operation || null,
      open: ({ operation }) => subject.choose({ tab: "statements", statement: operation, sort: "" }),
    },
    {
      name: "node",
      unit: "",
      of: (row) => row.node,
      open: ({ node }) => subject.choose({ tab: "slowest", node, sort: "" }),
    },
    {
      name: "client",
      unit: "",
      of: (row) => (row.client === "" ? null : `${row.client}:${row.client_port}`),
      open: ({ client }) => subject.choose({ tab: "slowest", client, sort: "" }),
    },
    { name: "rows", unit: "count", write: count, of: (row) => row.rows_returned },
    { name: "answer", unit: "bytes", write: bytes, of: (row) => row.response_bytes },
    { name: "level", unit: "", of: (row) => row.consistency || null },
  ];
  return sortable(subject, "Slowest requests", fields, requests);
}

/** Shows the statements about a table. */
function ofTable(subject: Subject, table: string): void {
  subject.choose({ tab: "statements", table, statement: "", sort: "" });
}

/** Shows the statements that a node coordinated. */
function ofNode(subject: Subject, node: string): void {
  subject.choose({ tab: "statements", node, statement: "", sort: "" });
}

/** Shows the charts around a request. */
function around(subject: Subject, start: number, length: number): void {
  const { store } = subject;
  const room = Math.max(length, 0.5);
  const window = { start: Math.max(0, start - room), end: Math.min(store.whole.end, start + length + room) };
  store.change({ window, finding: null, more: { ...store.selection.more, tab: "" } });
}

export async function files(subject: Subject, signal: AbortSignal): Promise<HTMLElement[]> {
  const io = await subject.ask<Io>("files", signal);
  if (io.files.length === 0 && io.tables.length === 0)
    return [missing("No I/O by file in this window. Record with --syscalls summary.")];
  const of: Field<TableIo>[] = [
    { name: "table", unit: "", of: (row) => row.table, open: ({ table }) => ofTable(subject, table) },
    {
      name: "read for requests",
      unit: "bytes",
      write: bytes,
      of: (row) => row.reads.bytes + row.mapped_reads.bytes,
    },
    { name: "returned", unit: "bytes", write: bytes, of: (row) => row.returned_bytes },
    { name: "read per returned", unit: "ratio", of: (row) => row.amplification },
    { name: "from disk", unit: "bytes", write: bytes, of: (row) => row.from_disk_bytes },
    { name: "background reads", unit: "bytes", write: bytes, of: (row) => row.background_reads.bytes },
    { name: "written", unit: "bytes", write: bytes, of: (row) => row.writes.bytes },
  ];
  const by: Field<FileIo>[] = [
    {
      name: "file",
      unit: "",
      of: (row) => row.file,
      open: ({ file }) =>
        subject.store.change({ file, more: { ...subject.store.selection.more, tab: "syscalls", sort: "" } }),
      opens: ({ file }) => subject.report.spectrogram?.files.includes(file) ?? false,
    },
    { name: "reads", unit: "count", write: count, of: (row) => row.reads.calls + row.background_reads.calls },
    { name: "read", unit: "bytes", write: bytes, of: (row) => row.reads.bytes + row.background_reads.bytes },
    {
      name: "reading",
      unit: "ms",
      write: milliseconds,
      of: (row) => row.reads.total_ms + row.background_reads.total_ms,
    },
    { name: "writes", unit: "count", write: count, of: (row) => row.writes.calls },
    { name: "written", unit: "bytes", write: bytes, of: (row) => row.writes.bytes },
    { name: "from disk", unit: "bytes", write: bytes, of: (row) => row.from_disk_bytes },
  ];
  return [
    h("h3", {}, "By table"),
    sortable(subject, "I/O by table", of, io.tables),
    h("h3", {}, "By file"),
    sortable(subject, "I/O by file", by, io.files),
  ];
}

export async function tables(subject: Subject, signal: AbortSignal): Promise<HTMLElement[]> {
  const all = await subject.ask<TableHealth[]>("tables", signal);
  const rows = all.filter(({ table }) => !/^system[._]/.test(table));
  if (rows.length === 0)
    return [missing("No figures of tables in this window. They are recorded with the agent, or by CQL.")];
  const us = (value: number | null): number | null => (value === null ? null : value / 1000);
  const fields: Field<TableHealth>[] = [
    { name: "table", unit: "", of: (row) => row.table, open: ({ table }) => ofTable(subject, table) },
    { name: "node", unit: "", of: (row) => row.node, open: ({ node }) => ofNode(subject, node) },
    { name: "reads", unit: "per s", of: (row) => row.reads_per_s },
    { name: "writes", unit: "per s", of: (row) => row.writes_per_s },
    { name: "local read", unit: "ms", write: milliseconds, of: (row) => us(row.local_read_us) },
    { name: "local write", unit: "ms", write: milliseconds, of: (row) => us(row.local_write_us) },
    { name: "SSTables", unit: "count", write: count, of: (row) => row.sstables },
    { name: "SSTables per read", unit: "p95", of: (row) => row.sstables_per_read_p95 },
    { name: "tombstones per slice", unit: "p95", of: (row) => row.tombstones_per_slice_p95 },
    { name: "on disk", unit: "bytes", write: bytes, of: (row) => row.live_disk_bytes },
    { name: "droppable", unit: "share", write: percent, of: (row) => row.droppable_ratio },
    { name: "largest partition", unit: "bytes", write: bytes, of: (row) => row.max_partition_bytes },
    { name: "pending compactions", unit: "count", write: count, of: (row) => row.pending_compactions },
  ];
  return [sortable(subject, "Tables", fields, rows)];
}

export async function collections(subject: Subject, signal: AbortSignal): Promise<HTMLElement[]> {
  const nodes = await subject.ask<NodeGc[]>("gc", signal);
  if (nodes.length === 0) return [missing("No collections in this window.")];
  const from = subject.store.selection.window.start;
  const fields: Field<GcFigures>[] = [
    {
      ...TIME,
      name: "from",
      of: (row) => from + row.start_s,
      open: ({ start_s, length_s }) => around(subject, from + start_s, length_s),
    },
    { name: "length", unit: "s", of: (row) => row.length_s },
    { name: "young", unit: "count", write: count, of: (row) => row.young },
    { name: "old", unit: "count", write: count, of: (row) => row.old },
    { name: "full", unit: "count", write: count, of: (row) => row.full },
    { name: "paused", unit: "share", write: percent, of: (row) => row.paused_share },
    { name: "pause p50", unit: "ms", write: milliseconds, of: (row) => row.pause_p50_ms },
    { name: "longest", unit: "ms", write: milliseconds, of: (row) => row.pause_max_ms },
    { name: "allocated", unit: "bytes/s", write: bytes, of: (row) => row.allocated_bytes_per_s },
    { name: "kept", unit: "bytes/s", write: bytes, of: (row) => row.kept_bytes_per_s },
    { name: "heap after", unit: "bytes", write: bytes, of: (row) => row.heap_after_bytes },
  ];
  return nodes.flatMap((node) => [
    h("h3", {}, `${node.node}: ${node.collectors.join(", ")}`),
    h("p", { class: "note" }, gcSentence(node.whole)),
    sortable(subject, `Collections of ${node.node}`, fields, node.intervals),
  ]);
}

function gcSentence(whole: GcFigures): string {
  const longest =
    whole.pause_max_ms === null ? "" : `, the longest pause ${milliseconds(whole.pause_max_ms)}`;
  const rate =
    whole.allocated_bytes_per_s === null ? "" : `; ${bytes(whole.allocated_bytes_per_s)}/s allocated`;
  return `${count(whole.young)} young, ${count(whole.old)} old and ${count(whole.full)} full collections in ${digits3(whole.length_s)} s: paused for ${percent(whole.paused_share)} of the time${longest}${rate}.`;
}

export async function events(subject: Subject, signal: AbortSignal): Promise<HTMLElement[]> {
  const happened = await subject.ask<Happened[]>("events", signal);
  if (happened.length === 0)
    return [missing("No event in this window: neither the nodes' logs nor their settings tell of any.")];
  const fields: Field<Happened>[] = [
    { ...TIME, name: "time", of: (row) => row.time_s, open: (row) => around(subject, row.time_s, 0) },
    { name: "node", unit: "", of: (row) => row.node, open: ({ node }) => ofNode(subject, node) },
    { name: "what", unit: "", of: (row) => row.what },
  ];
  return [sortable(subject, "Events", fields, happened)];
}

/** A field that filters by text, which the address holds. */
function filter(subject: Subject, name: string, label: string): HTMLElement {
  const field = h("input", {
    type: "search",
    value: subject.chosen(name),
    placeholder: label,
    "aria-label": label,
  });
  field.addEventListener("change", () => subject.choose({ [name]: field.value.trim() }));
  return field;
}
