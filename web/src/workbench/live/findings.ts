import { h, setText } from "../../dom";
import type { Answer, LiveView } from "../../model";
import { SEVERITY } from "../../sections/findings";
import type { Client } from "../client";

/** The shortest interval at which the live figures are explained again. */
const EACH_MS = 10_000;
const MOST = 4;

/** The causes that delayed the requests of the window, requested again every few seconds. */
export class RecentFindings {
  readonly #answer = h("p", { class: "answer" });
  readonly #list = h("ul", { class: "recent" });
  readonly root = h(
    "section",
    { class: "window-answer", "aria-label": "Findings" },
    this.#answer,
    this.#list,
  );
  #askedAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;

  constructor(
    private readonly client: Client,
    private readonly recording: string,
  ) {}

  update({ totals }: LiveView): void {
    if (this.#isAsking || performance.now() - this.#askedAt < EACH_MS) return;
    this.#isAsking = true;
    const at = `${totals.from_s}-${totals.to_s}`;
    this.client
      .get<Answer>("answer", { recording: this.recording, at })
      .then((answer) => this.#show(answer))
      .catch((cause: unknown) => {
        setText(this.#answer, cause instanceof Error ? cause.message : String(cause));
        this.#list.replaceChildren();
      })
      .finally(() => {
        this.#isAsking = false;
        this.#askedAt = performance.now();
      });
  }

  #show({ answer, findings }: Answer): void {
    setText(this.#answer, answer);
    this.#list.replaceChildren(
      ...findings
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
