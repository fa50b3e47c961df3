import { h, setText } from "../../dom";
import { span } from "../../format";
import type { Answer, LiveFindings, LiveView } from "../../model";
import { SEVERITY } from "../../sections/findings";
import { busy, settle } from "../busy";
import { type Client, Gone } from "../client";
import { linking } from "../commands";
import { utc } from "./lines";

/** Findings that are older than this have the colour of a warning. */
const OLD_S = 60;
/** How often the findings of the last minute are requested. The server searches for new ones less often. */
const EACH_MS = 5_000;
const MOST = 4;

/** The causes that delayed the requests of the last minute, or of a paused window. */
export class RecentFindings {
  readonly #answer = h("p", { class: "answer" });
  readonly #of = h("p", { class: "quiet" });
  readonly #list = h("ul", { class: "recent" });
  readonly root = h(
    "section",
    { class: "window-answer", "aria-label": "Findings" },
    this.#answer,
    this.#of,
    this.#list,
  );
  #askAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  /** The node whose findings are shown, with those about none; empty for all. */
  #node = "";
  /** The paused window whose findings are wanted; empty for those of the last minute, null for none. */
  #wanted: string | null = null;
  #found: Found = NOTHING_FOUND;
  /** The newest moment that the page shows, in seconds since the Unix epoch. */
  #now_s = 0;
  /** The window whose findings are shown; null at first. */
  #shown: string | null = null;

  constructor(
    private readonly client: Client,
    private readonly recording: string,
    /** The address of everything that was recorded in a time. */
    private readonly open: (window: { from_s: number; to_s: number }, more: Record<string, string>) => string,
  ) {}

  /** Shows nothing until it is updated. */
  clear(): void {
    this.#wanted = this.#shown = null;
    this.#show(NOTHING_FOUND);
  }

  update({ totals, kept_to_s }: LiveView, isPaused: boolean, node: string): void {
    this.#now_s = kept_to_s;
    this.#writeAge();
    if (node !== this.#node) {
      this.#node = node;
      this.#write();
    }
    this.#wanted = isPaused ? `${totals.from_s}-${totals.to_s}` : "";
    this.#askIfDue();
  }

  #askIfDue(): void {
    const at = this.#wanted;
    if (at === null) return;
    const isDue = at !== this.#shown || (at === "" && performance.now() >= this.#askAt);
    if (this.#isAsking || !isDue) return;
    if (at !== this.#shown) busy(this.root, "Searching for findings …");
    this.#isAsking = true;
    this.#ask(at)
      .catch((cause: unknown) => {
        if (at === this.#wanted)
          this.#show({ ...NOTHING_FOUND, answer: cause instanceof Error ? cause.message : String(cause) });
        // One that is gone may come back.
        return cause instanceof Gone ? null : at;
      })
      .then((shown) => {
        this.#shown = at === this.#wanted ? shown : null;
        this.#askAt = performance.now() + EACH_MS;
        this.#isAsking = false;
        // Another window may have been chosen meanwhile.
        if (this.#wanted !== at) this.#askIfDue();
      });
  }

  /** Shows the findings of a window if it is still wanted. Returns it, or null if there are none yet. */
  async #ask(at: string): Promise<string | null> {
    const { recording } = this;
    if (at !== "") {
      const { answer, findings } = await this.client.get<Answer>("answer", { recording, at });
      const [from_s, to_s] = at.split("-").map(Number);
      if (at === this.#wanted && from_s !== undefined && to_s !== undefined)
        this.#show({ answer, findings, window: { from_s, to_s }, isOfLast: false, failed: "" });
      return at;
    }
    const found = await this.client.get<LiveFindings | null>("live-findings", { recording });
    if (found === null) return null;
    const failed = found.error === "" ? "" : ` The next search failed: ${found.error}`;
    const { answer, findings, from_s, to_s } = found;
    if (at === this.#wanted)
      this.#show({ answer, findings, window: { from_s, to_s }, isOfLast: true, failed });
    return at;
  }

  #show(found: Found): void {
    settle(this.root);
    this.#found = found;
    this.#write();
  }

  /** Writes of which time the findings are, and how long ago that was. */
  #writeAge(): void {
    const { window, isOfLast, failed } = this.#found;
    if (window === null) {
      setText(this.#of, "");
      return;
    }
    const age_s = Math.max(0, Math.round(this.#now_s - window.to_s));
    const ago = isOfLast
      ? `, ${age_s < 1 ? "now" : `${age_s < 180 ? `${age_s}\u00a0s` : span(age_s)} ago`}`
      : "";
    setText(this.#of, `Found in ${utc(window.from_s)} – ${utc(window.to_s)} UTC${ago}.${failed}`);
    this.#of.classList.toggle("old", isOfLast && age_s > OLD_S);
  }

  /** Writes what was found, as far as it is about the node. The answer is about all nodes. */
  #write(): void {
    const { answer, findings, window } = this.#found;
    const text = this.#node === "" || answer === "" ? answer : `All nodes: ${answer}`;
    const linked = linking(this.recording, (shown) => (window === null ? "" : this.open(window, shown)));
    this.#answer.replaceChildren(...(window === null ? [text] : linked(text)));
    this.#writeAge();
    this.#list.replaceChildren(
      ...findings
        .filter(({ node }) => this.#node === "" || node === "" || node === this.#node)
        .slice(0, MOST)
        .map(({ severity, title, next, rank }) =>
          h(
            "li",
            { class: severity, title: next },
            h(
              "span",
              { class: "severity" },
              `${SEVERITY[severity].icon} `,
              h("span", { class: "visually-hidden" }, SEVERITY[severity].word),
            ),
            window === null ? title : h("a", { href: this.open(window, { finding: String(rank) }) }, title),
          ),
        ),
    );
  }
}

/** The findings of a search, with their time. */
interface Found {
  answer: string;
  findings: Answer["findings"];
  /** In seconds since the Unix epoch; null if nothing was found yet. */
  window: { from_s: number; to_s: number } | null;
  /** Whether it is of the last minute, and so grows old. */
  isOfLast: boolean;
  /** Why the next search failed. */
  failed: string;
}

const NOTHING_FOUND: Found = { answer: "", findings: [], window: null, isOfLast: false, failed: "" };
