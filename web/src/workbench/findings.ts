import { h, setText } from "../dom";
import type { Answer } from "../model";
import { type Explained, type FindingChoice, findings } from "../sections/findings";
import { busy, settle } from "./busy";
import type { Subject } from "./subject";

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
  #listeners: Parameters<FindingChoice["subscribe"]>[0][] = [];

  constructor(private readonly subject: Subject) {
    this.answer = h(
      "section",
      { class: "window-answer", "aria-label": "Answer", "aria-live": "polite" },
      this.#text,
      this.#summary,
    );
    subject.store.subscribe((selection, previous) => {
      for (const listener of this.#listeners) listener(selection, previous);
    });
    const { report } = subject;
    if (subject.window === "" && subject.chosen("against") === "") {
      // The report has the findings of the whole recording.
      this.#shown = "|";
      this.#show(report, report.answer, "");
    }
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
        if (!signal.aborted)
          this.#show({ ...answer, duration_s: subject.report.duration_s }, answer.answer, answer.summary);
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

  #settled(): void {
    settle(this.answer);
    this.cards.removeAttribute("aria-busy");
  }
}
