import { h, setText } from "../../dom";
import type { Answer, LiveFindings, LiveView } from "../../model";
import { SEVERITY } from "../../sections/findings";
import { busy, settle } from "../busy";
import { type Client, Gone } from "../client";
import { utc } from "./lines";

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
    this.#list,
    this.#of,
  );
  #askAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  /** The node whose findings are shown, with those about none; empty for all. */
  #node = "";
  /** The paused window whose findings are wanted; empty for those of the last minute, null for none. */
  #wanted: string | null = null;
  #found: { answer: string; findings: Answer["findings"]; of: string } = { answer: "", findings: [], of: "" };
  /** The window whose findings are shown; null at first. */
  #shown: string | null = null;

  constructor(
    private readonly client: Client,
    private readonly recording: string,
  ) {}

  /** Shows nothing until it is updated. */
  clear(): void {
    this.#wanted = this.#shown = null;
    this.#show("", [], "");
  }

  update({ totals }: LiveView, isPaused: boolean, node: string): void {
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
        if (at === this.#wanted) this.#show(cause instanceof Error ? cause.message : String(cause), [], "");
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
      if (at === this.#wanted) this.#show(answer, findings, "");
      return at;
    }
    const found = await this.client.get<LiveFindings | null>("live-findings", { recording });
    if (found === null) return null;
    const failed = found.error === "" ? "" : ` The next search failed: ${found.error}`;
    const of = `${utc(found.from_s)} to ${utc(found.to_s)} UTC.${failed}`;
    if (at === this.#wanted) this.#show(found.answer, found.findings, of);
    return at;
  }

  #show(answer: string, findings: Answer["findings"], of: string): void {
    settle(this.root);
    this.#found = { answer, findings, of };
    this.#write();
  }

  /** Writes what was found, as far as it is about the node. The answer is about all nodes. */
  #write(): void {
    const { answer, findings, of } = this.#found;
    setText(this.#answer, this.#node === "" || answer === "" ? answer : `All nodes: ${answer}`);
    setText(this.#of, of);
    this.#list.replaceChildren(
      ...findings
        .filter(({ node }) => this.#node === "" || node === "" || node === this.#node)
        .slice(0, MOST)
        .map(({ severity, title, next }) =>
          h(
            "li",
            { class: severity, title: next },
            h(
              "span",
              { class: "severity" },
              `${SEVERITY[severity].icon} `,
              h("span", { class: "visually-hidden" }, SEVERITY[severity].word),
            ),
            title,
          ),
        ),
    );
  }
}
