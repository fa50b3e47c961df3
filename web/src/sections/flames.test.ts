import { expect, test } from "vitest";
import type { FlameScope } from "../model";
import { type Selection, wholeSelection } from "../state";
import { inTheWindow } from "./flames";

const SCOPE: FlameScope = { first: 0, end: 60_000, step_ns: 1e6, binned: false, unit: 1, times: "" };

/** A store without a page. */
function storeOf(duration_s: number) {
  const whole = { start: 0, end: duration_s };
  const listeners: ((selection: Selection, previous: Selection) => void)[] = [];
  const store = {
    whole,
    selection: wholeSelection(whole),
    subscribe: (listener: (selection: Selection, previous: Selection) => void) => listeners.push(listener),
    change: (patch: Partial<Selection>) => {
      const previous = store.selection;
      store.selection = { ...previous, ...patch };
      for (const listener of listeners) listener(store.selection, previous);
    },
  };
  return store;
}

test("a stretch is the window of the charts, and the other way round", () => {
  const store = storeOf(61);
  const choice = inTheWindow(store, SCOPE, 0.25);
  let told = 0;
  choice.onChange(() => {
    told += 1;
  });
  expect(choice.current()).toBeNull();
  choice.choose({ from: 5000, to: 5300 });
  expect(store.selection.window).toEqual({ start: 5.25, end: 5.55 });
  expect(choice.current()).toEqual({ from: 5000, to: 5300 });
  store.change({ window: { start: 10.25, end: 12.25 } });
  expect(choice.current()).toEqual({ from: 10_000, to: 12_000 });
  store.change({ latency: "service" });
  choice.choose(null);
  expect(store.selection.window).toEqual(store.whole);
  expect([choice.current(), told]).toEqual([null, 3]);
});

test("a window before the first sample is a stretch without any", () => {
  const store = storeOf(61);
  const choice = inTheWindow(store, SCOPE, 5);
  store.change({ window: { start: 1, end: 2 } });
  expect(choice.current()).toEqual({ from: -4000, to: -3000 });
});
