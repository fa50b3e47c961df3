import type { Store } from "../state";

/** Selections that the page keeps in its address, besides those of the charts. */
export class Choices {
  constructor(readonly store: Store) {}

  /** The chosen value; empty without a choice. */
  chosen(name: string): string {
    return this.store.selection.more[name] ?? "";
  }

  choose(choices: Record<string, string>): void {
    const more = Object.entries({ ...this.store.selection.more, ...choices });
    this.store.change({ more: Object.fromEntries(more.filter(([, value]) => value !== "")) });
  }
}
