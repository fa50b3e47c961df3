import { h, setText } from "../dom";
import type { Answer, Finding } from "../model";
import { type Explained, type FindingChoice, findings, type Linking } from "../sections/findings";
import type { Selection } from "../state";
import { busy, settle } from "./busy";
import { Gone } from "./client";
import { linking } from "./commands";
import { sameFinding } from "./same-finding";
import type { Subject } from "./subject";

/** The window, the one that it is compared with and the response times, for all of the recording. */
const WHOLE = "||";
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
  /** Commands that a finding names lead to the tab that has their answer. */
  readonly #linked: Linking;
  #hasWhole = false;
  /** The findings of the whole recording, once they are there; null if nobody searches for them. */
  #marks: readonly Finding[] | null;
  /** The findings that were listed last, and of which window. */
  #list: Finding[] = [];
  #listed: string | null = null;
  #hasCards = false;
  /** The window in whose list the selected finding has its rank. */
  #ranked: string;
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
    // A recording that is still growing is searched only for what is asked.
    this.#marks = subject.isGrowing ? null : [];
    this.#ranked = this.#window;
    const { store } = subject;
    this.#linked = linking(subject.recording, (shown) =>
      store.link({ more: { ...store.selection.more, sort: "", statement: "", ...shown } }),
    );
    const tell = (selection: Selection, previous: Selection): void => {
      for (const listener of this.#listeners) listener(selection, previous);
    };
    store.subscribe((selection, previous) => {
      if (selection.finding !== previous.finding) {
        this.#ranked = this.#listed ?? this.#window;
        this.#offer();
      }
      tell(selection, previous);
    });
    // After the store has read the address, whose rank is one of its own window.
    addEventListener("popstate", () => {
      this.#ranked = this.#window;
      this.#offer();
      tell(store.selection, store.selection);
    });
  }

  /** The findings of the whole recording, which the overview marks. */
  get marks(): readonly Finding[] {
    return this.#marks ?? this.subject.report.findings;
  }

  /** The window, the one that it is compared with, and the response times. */
  get #window(): string {
    return `${this.subject.window}|${this.subject.chosen("against")}|${this.subject.took}`;
  }

  /** Requests the findings again if the window has changed. */
  update(): void {
    const { subject } = this;
    const against = subject.chosen("against");
    const key = this.#window;
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
        this.#take(key, answer.findings);
        this.#show({ ...answer, duration_s: subject.report.duration_s }, answer.answer, answer.summary);
        if (this.#marks === null) return;
        if (key === WHOLE) this.#mark(answer);
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
        this.#hasCards = false;
        this.#offer();
      });
  }

  /** Takes the findings of a window. The selected finding stays the same one, with the rank that it has now. */
  #take(key: string, list: Finding[]): void {
    const { store } = this.subject;
    const rank = store.selection.finding;
    const [before, ranked, listed] = [this.#list, this.#ranked, this.#listed];
    [this.#list, this.#listed, this.#ranked, this.#hasCards] = [list, key, key, true];
    this.#offer();
    if (rank === null) return;
    const ofRank = (all: readonly Finding[]): Finding | undefined => all.find((one) => one.rank === rank);
    const chosen = ranked === listed ? ofRank(before) : undefined;
    const same = ranked === key ? ofRank(list) : chosen && sameFinding(list, chosen);
    const finding = same?.rank ?? null;
    if (finding !== rank) store.change({ finding }, "correction");
  }

  /** Whether the selected finding, if any, has its rank in the list that is shown. */
  get #isRanked(): boolean {
    return this.subject.store.selection.finding === null || this.#ranked === this.#listed;
  }

  /** Gives the rest of the page the findings whose cards are shown. A rank of another list selects none of them. */
  #offer(): void {
    this.subject.report.findings = this.#hasCards && this.#isRanked ? this.#list : [];
    this.redraw();
  }

  #show(explained: Explained, answer: string, summary: string): void {
    this.#settled();
    this.#listeners = [];
    const { store } = this.subject;
    const selection = () => (this.#isRanked ? store.selection : { ...store.selection, finding: null });
    const choice: FindingChoice = {
      get selection() {
        return selection();
      },
      whole: store.whole,
      change: (patch, change) => store.change(patch, change),
      subscribe: (listener) => this.#listeners.push(listener),
    };
    this.#text.replaceChildren(...this.#linked(answer));
    setText(this.#summary, summary);
    this.cards.replaceChildren(findings({ ...explained, answer: "" }, choice, FIRST_CARDS, this.#linked));
  }

  /** The charts mark the findings of the whole recording, which come after those of the window. */
  async #findWhole(): Promise<void> {
    if (this.#hasWhole) return;
    this.#hasWhole = true;
    const { client, recording } = this.subject;
    try {
      this.#mark(await client.get<Answer>("answer", { recording }));
    } catch (cause) {
      this.#hasWhole = false;
      if (!(cause instanceof Gone)) return;
      await client.back();
      await this.#findWhole();
    }
  }

  #mark({ findings }: Answer): void {
    this.#marks = findings;
    this.#hasWhole = true;
    this.redraw();
  }

  #settled(): void {
    settle(this.answer);
    this.cards.removeAttribute("aria-busy");
  }
}
