import { h, setText } from "../dom";
import type { Answer } from "../model";
import { type Explained, type FindingChoice, findings } from "../sections/findings";
import { busy, settle } from "./busy";
import type { Subject } from "./subject";

/** The window and the one that it is compared with, for the whole recording. */
const WHOLE = "|";
/** Cards that are open at first; the charts come below them. */
const FIRST_CARDS = 3;

/** The findings of the window: the answer above the charts, and their cards. */
export class Findings {
  readonly answer: HTMLElement;
  readonly cards = h("div", { class: "window-findings" });
  readonly #text = h("p", { class: "answer" });
  readonly #summary = h("p", { class: "note" });
  #asked: AbortController | null = null;
  #shown: string | null = null;
  #hasWhole = false;
  #listeners: Parameters<FindingChoice["subscribe"]>[0][] = [];

  constructor(
    private readonly subject: Subject,
    private readonly redraw: () => void,
  ) {
    this.answer = h(
      "section",
      { class: "window-answer", "aria-label": "Answer", "aria-live": "polite" },
      this.#text,
      this.#summary,
    );
    subject.store.subscribe((selection, previous) => {
      for (const listener of this.#listeners) listener(selection, previous);
    });
  }

  /** Requests the findings again if the window has changed. */
  update(): void {
    const { subject } = this;
    const [window, against] = [subject.window, subject.chosen("against")];
    const key = `${window}|${against}`;
    if (key === this.#shown) return;
    this.#shown = key;
    this.#asked?.abort();
    this.#asked = new AbortController();
    const { signal } = this.#asked;
    busy(this.answer, "Searching for findings …");
    this.cards.setAttribute("aria-busy", "true");
    subject
      .ask<Answer>("answer", signal, { against })
      .then((answer) => {
        if (signal.aborted) return;
        this.#show({ ...answer, duration_s: subject.report.duration_s }, answer.answer, answer.summary);
        // A recording that is still growing is searched only for what is asked.
        if (key === WHOLE || subject.isGrowing) this.#mark(answer);
        else void this.#findWhole();
      })
      .catch((cause: unknown) => {
        if (signal.aborted) return;
        this.#shown = null;
        const why = cause instanceof Error ? cause.message : String(cause);
        this.#settled();
        setText(this.#text, why);
        setText(this.#summary, "");
        this.cards.replaceChildren();
      });
  }

  #show(explained: Explained, answer: string, summary: string): void {
    this.#settled();
    this.#listeners = [];
    const { store } = this.subject;
    const choice: FindingChoice = {
      get selection() {
        return store.selection;
      },
      whole: store.whole,
      change: (patch, change) => store.change(patch, change),
      subscribe: (listener) => this.#listeners.push(listener),
    };
    setText(this.#text, answer);
    setText(this.#summary, summary);
    this.cards.replaceChildren(findings({ ...explained, answer: "" }, choice, FIRST_CARDS));
  }

  /** The charts mark the findings of the whole recording, which come after those of the window. */
  async #findWhole(): Promise<void> {
    if (this.#hasWhole) return;
    this.#hasWhole = true;
    const { client, recording } = this.subject;
    const answer = await client.get<Answer>("answer", { recording }).catch(() => null);
    if (answer) this.#mark(answer);
    else this.#hasWhole = false;
  }

  #mark({ findings }: Answer): void {
    this.subject.report.findings = findings;
    this.redraw();
  }

  #settled(): void {
    settle(this.answer);
    this.cards.removeAttribute("aria-busy");
  }
}
