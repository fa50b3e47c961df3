import { sameWindow, type Window } from "../charts/window";
import type { Report } from "../model";
import type { Store } from "../state";
import type { Theme } from "../theme";
import { Choices } from "./choices";
import type { Client, Parameters } from "./client";

/** The shown recording, and the choices of its page. */
export class Subject extends Choices {
  constructor(
    readonly client: Client,
    readonly recording: string,
    readonly report: Report,
    store: Store,
    readonly theme: Theme,
    /** Whether it is still being recorded. */
    readonly isGrowing: boolean,
  ) {
    super(store);
  }

  /** The window as parameters of a query; empty for the whole recording. */
  get window(): string {
    const { selection, whole } = this.store;
    return sameWindow(selection.window, whole) ? "" : written(selection.window);
  }

  /** The range of response times in ms, such as `20-80`, to which all answers are limited; empty for all. */
  get took(): string {
    return this.chosen("took");
  }

  /** The recording, the window and the response times as parameters. The start of a growing recording moves as old rows are deleted. */
  get asked(): Parameters {
    const zero = this.isGrowing ? this.report.start_ns : null;
    return { recording: this.recording, t: this.window, zero, took: this.took };
  }

  /** Sends a query about the window. */
  ask<T>(name: string, signal: AbortSignal, parameters: Parameters = {}): Promise<T> {
    return this.client.get<T>(name, { ...this.asked, ...parameters }, signal);
  }
}

export function written({ start, end }: Window): string {
  return `${Number(start.toFixed(6))}-${Number(end.toFixed(6))}`;
}
