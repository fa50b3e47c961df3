import type { Store } from "../state";

/** Choices of a page that the address holds, beside those of the charts. */
export class Choices {
  constructor(readonly store: Store) {}

  /** Empty where nothing was chosen. */
  chosen(name: string): string {
    return this.store.selection.more[name] ?? "";
  }

  choose(choices: Record<string, string>): void {
    const more = Object.entries({ ...this.store.selection.more, ...choices });
    this.store.change({ more: Object.fromEntries(more.filter(([, value]) => value !== "")) });
  }
}
