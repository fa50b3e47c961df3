import type { LatencyKind } from "./charts/plot";
import { fitInto, sameWindow, type Window } from "./charts/window";
import { tellAll } from "./failure";

/** Everything that a user can select, which is what a link contains. */
export interface Selection {
  readonly window: Window;
  readonly latency: LatencyKind;
  /** Id of the chart that a link points at. */
  readonly chart: string | null;
  /** Rank of the finding that is shown. */
  readonly finding: number | null;
  /** Rectangle of the spectrogram. */
  readonly area: Area | null;
  /** Names by which the spectrogram is filtered; null for all, empty for names without a number of their own. */
  readonly call: string | null;
  readonly group: string | null;
  readonly file: string | null;
  /** Choices of pages with more than the charts, such as the tab of the workbench. */
  readonly more: Readonly<Record<string, string>>;
}

/** Bounds in seconds of the run and in nanoseconds of duration; the upper ones are not included, null is none. */
export interface Area {
  readonly from_s: number;
  readonly to_s: number;
  readonly low_ns: number;
  readonly high_ns: number | null;
}

const NAMES = ["call", "group", "file"] as const;
const KNOWN = new Set<string>(["t", "chart", "latency", "finding", "area", ...NAMES]);

export function wholeSelection(whole: Window): Selection {
  return {
    window: whole,
    latency: "response",
    chart: null,
    finding: null,
    area: null,
    call: null,
    group: null,
    file: null,
    more: {},
  };
}

/**
 * Reads `#t=12.5-20&chart=heatmap&latency=service&finding=2&area=12-13,1000-2000&call=pread64`; missing and
 * invalid parts have their defaults.
 */
export function parseHash(hash: string, whole: Window): Selection {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const selection: { -readonly [K in keyof Selection]: Selection[K] } = wholeSelection(whole);
  const times = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(fields.get("t") ?? "");
  if (times) {
    const [start, end] = [Number(times[1]), Number(times[2])];
    if (start < end && start < whole.end)
      selection.window = fitInto({ start, end: Math.min(end, whole.end) }, whole);
  }
  if (fields.get("latency") === "service") selection.latency = "service";
  const chart = fields.get("chart");
  if (chart !== null && /^[a-z0-9-]+$/.test(chart)) selection.chart = chart;
  const finding = fields.get("finding");
  if (finding !== null && /^\d+$/.test(finding)) selection.finding = Number(finding);
  const area = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?),(\d+)-(\d*)$/.exec(fields.get("area") ?? "");
  if (area) {
    const [from_s, to_s, low_ns] = [Number(area[1]), Number(area[2]), Number(area[3])];
    const high_ns = area[4] === "" ? null : Number(area[4]);
    if (from_s < to_s && (high_ns === null || low_ns < high_ns))
      selection.area = { from_s, to_s, low_ns, high_ns };
  }
  for (const name of NAMES) selection[name] = fields.get(name);
  selection.more = Object.fromEntries(
    [...fields].filter(([name, value]) => !KNOWN.has(name) && value !== ""),
  );
  return selection;
}

/**
 * The shortest hash that parseHash turns into this selection, with a precision of a thousandth of the window.
 */
export function formatHash(selection: Selection, whole: Window): string {
  const fields: string[] = [];
  const { start, end } = selection.window;
  if (!sameWindow(selection.window, whole)) {
    const decimals = Math.min(6, Math.max(0, Math.ceil(3 - Math.log10(end - start) - 1e-6)));
    const write = (time: number): string => String(Number(time.toFixed(decimals)));
    fields.push(`t=${write(start)}-${write(end)}`);
  }
  if (selection.chart !== null) fields.push(`chart=${selection.chart}`);
  if (selection.latency !== "response") fields.push(`latency=${selection.latency}`);
  if (selection.finding !== null) fields.push(`finding=${selection.finding}`);
  if (selection.area !== null) {
    const { from_s, to_s, low_ns, high_ns } = selection.area;
    const write = (time: number): string => String(Number(time.toFixed(6)));
    fields.push(`area=${write(from_s)}-${write(to_s)},${low_ns}-${high_ns ?? ""}`);
  }
  for (const name of NAMES) {
    const value = selection[name];
    if (value !== null) fields.push(`${name}=${encodeURIComponent(value)}`);
  }
  for (const [name, value] of Object.entries(selection.more))
    if (value !== "") fields.push(`${name}=${encodeURIComponent(value)}`);
  return fields.join("&");
}

/**
 * `step`: a selection with its own entry in the history. `motion`: one of many small changes (a drag, a held
 * key) that share one entry. `correction`: of the entry that is there.
 */
export type Change = "step" | "motion" | "correction";

type Listener = (selection: Selection, previous: Selection) => void;

/**
 * Browsers refuse more than some 200 history entries in 30 s, so a motion is written only after it has
 * paused.
 */
const REST_MS = 250;

/** The selection, which is the same in the page and in its address. */
export class Store {
  #selection: Selection;
  #listeners: Listener[] = [];
  #resting: ReturnType<typeof setTimeout> | null = null;

  constructor(readonly whole: Window) {
    this.#selection = parseHash(location.hash, whole);
    addEventListener("popstate", () => {
      this.#cancelRest();
      this.#apply(parseHash(location.hash, whole));
    });
  }

  get selection(): Selection {
    return this.#selection;
  }

  subscribe(listener: Listener): void {
    this.#listeners.push(listener);
  }

  change(patch: Partial<Selection>, change: Change = "step"): void {
    this.#apply({ ...this.#selection, ...patch });
    if (change === "correction") {
      // The entry of a motion is still to be written.
      if (this.#resting === null) this.#write("replaceState");
      return;
    }
    this.#cancelRest();
    if (change === "step") this.#write();
    else this.#resting = setTimeout(() => this.#write(), REST_MS);
  }

  /** Back to the whole run. */
  reset(): void {
    this.change({ window: this.whole, finding: null });
  }

  /** Address of this page with another selection. */
  link(patch: Partial<Selection>): string {
    return `${location.href.split("#")[0]}#${formatHash({ ...this.#selection, ...patch }, this.whole)}`;
  }

  #apply(selection: Selection): void {
    const previous = this.#selection;
    this.#selection = selection;
    tellAll(this.#listeners, selection, previous);
  }

  #write(how: "pushState" | "replaceState" = "pushState"): void {
    this.#resting = null;
    const hash = formatHash(this.#selection, this.whole);
    if (hash === location.hash.replace(/^#/, "")) return;
    history[how](null, "", `#${hash}`);
  }

  #cancelRest(): void {
    if (this.#resting !== null) clearTimeout(this.#resting);
    this.#resting = null;
  }
}
