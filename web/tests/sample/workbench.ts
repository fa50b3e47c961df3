import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type {
  Answer,
  Controls,
  Finding,
  Listed,
  LiveFindings,
  Queried,
  Saved,
  Schema,
  SharedValues,
  SlowRequest,
  StatementFigures,
  TrafficTable,
  WindowChanges,
} from "../../src/model";
import { flameOfMinute } from "./flame";
import { LIVE_END_S, LIVE_NODES, LIVE_SLOWEST, LIVE_STATEMENTS, LIVE_TABLES, liveOf } from "./live";
import { overloadReport } from "./reports";

const PARTS = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "dist", "workbench");
const TOKEN = "0123456789abcdef";
const CONTENT: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css" };

/** A substitute for `helenus serve`, whose answers contain their window. */
export class WorkbenchServer {
  readonly asked: URL[] = [];
  /** The findings of the live page; null while the first search goes on. */
  found: LiveFindings | null = null;
  readonly #recordings = [listed("run.helenus")];
  #liveEnd_s = LIVE_END_S;
  /** Answers that wait until they are released. */
  readonly #held = new Map<string, Promise<void>>();
  readonly #server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
    if (pathname.startsWith("/api/")) {
      await this.#held.get(pathname.slice("/api/".length));
      const [status, body] = this.#answer(request);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      return;
    }
    const name = pathname === "/" ? "workbench.html" : pathname.slice(1);
    const text = readFileSync(join(PARTS, name), "utf8").replace("HELENUS_NONCE", "thenonce");
    // The content security policy of crates/helenus/src/serve.
    const policy =
      "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-thenonce'; style-src-attr 'unsafe-inline'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    response
      .writeHead(200, {
        "content-type": CONTENT[name.split(".").at(-1) ?? ""] ?? "text/plain",
        "content-security-policy": policy,
      })
      .end(text);
  });
  #port = 0;
  #token = TOKEN;

  async start(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(this.#port, "127.0.0.1", done));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** Ends it and starts another one in its place, with a token of its own. */
  async replace(): Promise<void> {
    await this.stop();
    this.#token = [...this.#token].reverse().join("");
    await this.start();
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  get link(): string {
    return `${this.address}#token=${this.#token}`;
  }

  /** Adds a recording that grows. */
  grow(name: string): void {
    this.#recordings.push({ ...listed(name), is_closed: false, is_growing: true });
  }

  /** Adds a recording whose recorder was killed. */
  abandon(name: string): void {
    this.#recordings.push({ ...listed(name), is_closed: false });
  }

  /** Lets time pass for the recordings that grow. */
  pass(seconds: number): void {
    this.#liveEnd_s += seconds;
  }

  /** Keeps an answer back until the returned function is called. */
  hold(name: string): () => void {
    let release = (): void => {};
    this.#held.set(
      name,
      new Promise((done) => {
        release = done;
      }),
    );
    return () => {
      this.#held.delete(name);
      release();
    };
  }

  /** The windows that an answer was asked for. */
  windowsOf(name: string): (string | null)[] {
    return this.asked
      .filter(({ pathname }) => pathname === `/api/${name}`)
      .map(({ searchParams }) => searchParams.get("t"));
  }

  #answer(request: IncomingMessage): [number, unknown] {
    const url = new URL(request.url ?? "/", this.address);
    if (request.headers.authorization !== `Bearer ${this.#token}`)
      return [401, { error: "the token is missing or wrong: open the link that helenus serve printed" }];
    if (url.pathname !== "/api/ping") this.asked.push(url);
    const window = url.searchParams.get("t") ?? "the whole recording";
    switch (url.pathname) {
      case "/api/ping":
        return [200, true];
      case "/api/recordings":
        return [200, this.#recordings];
      case "/api/save":
        return [200, this.#save(`${url.searchParams.get("name")}.helenus`)];
      case "/api/live": {
        const node = url.searchParams.get("node");
        if (node !== null && !LIVE_NODES.some((one) => one.node === node))
          return [422, { error: `nothing was recorded of a node ${node} in the last minutes` }];
        const length = url.searchParams.get("length") ?? "60";
        if (!/^\d+$/.test(length)) return [422, { error: "length= takes seconds" }];
        return [200, liveOf(Number(length), node, this.#liveEnd_s)];
      }
      case "/api/live-table":
        return [200, LIVE_ROWS[url.searchParams.get("of") ?? ""] ?? []];
      case "/api/live-findings":
        return [200, this.found];
      case "/api/slowest":
        return [200, SLOWEST];
      case "/api/controls":
        return [200, CONTROLS];
      case "/api/setting-now":
        return [200, { value: url.searchParams.get("name") === "threads" ? "read=32" : "64" }];
      case "/api/shared":
        return [200, SHARED];
      case "/api/changes":
        return [200, CHANGES];
      case "/api/report":
        // The findings come with the answer.
        return [200, { ...overloadReport(), findings: [], answer: "" }];
      case "/api/answer":
        return [200, answer(window)];
      case "/api/statements":
        return [200, statements(window)];
      case "/api/flame":
        return [200, flameOfMinute()];
      case "/api/flame-events":
        return [200, [["cpu", 1200]]];
      case "/api/schema":
        return [200, SCHEMA];
      case "/api/sql":
        if (url.searchParams.get("q")?.includes("wrong")) return [422, { error: "no column wrong" }];
        return [200, QUERIED];
      default:
        return [200, []];
    }
  }

  #save(name: string): Saved {
    this.#recordings.push(listed(name));
    return { name, path: `/var/tmp/${name}`, rows: 12, bytes: 3456 };
  }
}

function listed(name: string): Listed {
  return {
    name,
    title: "A run",
    created: "2026-11-27T20:00:00Z",
    nodes: ["127.0.0.1"],
    requests: 1000,
    is_closed: true,
    is_growing: false,
  };
}

function answer(window: string): Answer {
  return {
    answer: `What delayed requests in ${window}.`,
    summary: `Requests of ${window}.`,
    provider: "load",
    requests: 100,
    judged_requests: 100,
    slow_requests: 1,
    median_ms: 1,
    slow_threshold_ms: 10,
    slow_threshold_name: "p99",
    missing: [],
    findings: findingsIn(window),
  };
}

/** One finding of the window alone, and one of the collections, which is more important in a part of the recording. */
function findingsIn(window: string): Finding[] {
  const [one, other] = overloadReport().findings as [Finding, Finding];
  const own: Finding = { ...one, finding: "outlier", title: `Found in ${window}`, start_s: 5, end_s: 15 };
  const [start, end] = window.split("-").map(Number);
  const isPart = end !== undefined;
  const share = isPart ? "86 %" : "12 %";
  const collections: Finding = {
    ...other,
    finding: "gc-pause",
    title: `Collections delayed ${share} of the slow requests`,
    next: "see what stayed after each: `helenus gc RECORDING`; then record with `helenus record --node ADDRESS`.",
    start_s: 40,
    end_s: 50,
  };
  const has = !isPart || ((start ?? 0) <= 45 && end >= 45);
  return (isPart ? [collections, own] : [own, collections])
    .filter((finding) => finding === own || has)
    .map((finding, place) => ({ ...finding, rank: place + 1 }));
}

function statements(window: string): TrafficTable<StatementFigures> {
  const row = (operation: string, requests: number, p99_ms: number): StatementFigures => ({
    operation,
    statement: operation,
    kind: "SELECT",
    keyspace: "ks",
    table: "t",
    clients: 1,
    requests,
    requests_per_s: requests,
    errors: 0,
    time_share: 0.5,
    total_ms: 100,
    p50_ms: 1,
    p99_ms,
    max_ms: p99_ms * 2,
    request_bytes: 10,
    response_bytes: 20,
    rows_returned: 5,
    most_rows: 5,
    further_pages: 0,
    largest_response_bytes: 20,
    errors_by_outcome: {},
    consistency: { ONE: 1 },
  });
  return {
    provider: "load",
    seconds: 1,
    weight: 1,
    rows: [row(`SELECT a FROM t /* ${window} */`, 10, 9), row("SELECT b FROM t", 20, 3)],
  };
}

const LIVE_ROWS: Record<string, unknown> = {
  nodes: LIVE_NODES,
  statements: LIVE_STATEMENTS,
  clients: { ...LIVE_STATEMENTS, rows: [] },
  slowest: LIVE_SLOWEST,
  tables: LIVE_TABLES,
};

const SLOWEST: SlowRequest[] = [
  {
    start_ns: 1_795_810_000e9,
    response_ms: 80,
    client: "10.0.0.7",
    client_port: 4711,
    node: "127.0.0.1",
    operation: "SELECT a FROM t",
    rows_returned: 1,
    response_bytes: 100,
    consistency: "QUORUM",
    outcome: "ok",
  },
];

const CONTROLS: Controls = {
  is_allowed: true,
  nodes: ["10.0.0.1", "10.0.0.2"],
  points: ["cql.read"],
  stages: ["read"],
  laws: ["fixed", "throughput"],
  settings: ["compaction-throughput", "threads"].map((name) => ({
    name,
    what: `What ${name} does.`,
    form: name === "threads" ? "STAGE=N" : "N",
    is_of_table: false,
  })),
  strategies: ["avoid-interrupts"],
  sources: [{ name: "stacks", value: "on", values: ["on", "off"] }],
  made: [],
};

const SHARED: SharedValues = {
  requests: 40,
  others: 960,
  values: [
    { what: "client", value: "10.0.0.7", requests: 40, share: 1, others_share: 0.2 },
    { what: "level", value: "QUORUM", requests: 30, share: 0.75, others_share: 0.5 },
  ],
};

const RATE = { requests_per_s: 50, p50_ms: 1, p99_ms: 4, in_flight: 0.2, errors_per_s: 0 };

const CHANGES: WindowChanges = {
  statements: [{ operation: "SELECT a FROM t", before: RATE, now: { ...RATE, p99_ms: 80, in_flight: 3 } }],
  settings: [{ node: "127.0.0.1", setting: "compaction-throughput", before: "64", now: "0" }],
  frames: [
    {
      frame: "Lz4.decompress",
      before_own_share: 0.02,
      now_own_share: 0.4,
      before_share: 0.02,
      now_share: 0.4,
    },
  ],
  figures: [{ name: "response_p99", unit: "ms", meaning: "99th percentile", before: 4, now: 80 }],
};

const SCHEMA: Schema[] = [
  {
    table: "requests",
    meaning: "One row per request.",
    rows: 1000,
    columns: [{ name: "start_ns", unit: "ns since the Unix epoch", meaning: "When it was sent." }],
  },
];

const QUERIED: Queried = {
  columns: [
    { name: "operation", is_number: false },
    { name: "requests", is_number: true },
  ],
  rows: [["read", 12345]],
  is_cut: false,
  seconds: 0.01,
};
