import { h } from "../dom";
import { milliseconds } from "../format";
import type { Parameters } from "./client";
import type { Subject } from "./subject";

/** A range of response times in the address, such as `20-80` or `20-`, in milliseconds; null without one that can be. */
export function rangeOf(text: string): { from_ms: number; below_ms: number | null } | null {
  const parts = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)?$/.exec(text);
  if (!parts) return null;
  const [from_ms, below_ms] = [Number(parts[1]), parts[2] === undefined ? null : Number(parts[2])];
  return below_ms === null || from_ms < below_ms ? { from_ms, below_ms } : null;
}

/** Writes a range for the address. */
export function writtenRange(from_ms: number, below_ms: number | null): string {
  const write = (value: number): string => String(Number(value.toPrecision(6)));
  return `${write(from_ms)}-${below_ms === null ? "" : write(below_ms)}`;
}

/** "20 ms – 80 ms", "20 ms and longer". */
export function rangeText(text: string): string {
  const range = rangeOf(text);
  if (range === null) return text;
  return range.below_ms === null
    ? `${milliseconds(range.from_ms)} and longer`
    : `${milliseconds(range.from_ms)} – ${milliseconds(range.below_ms)}`;
}

/** Choices that limit the requests of the lists, each with its words. */
const NAMES: [name: string, words: (value: string) => string][] = [
  ["client", (value) => `Client ${value} alone`],
  ["node", (value) => `Node ${value} alone`],
  ["table", (value) => `Table ${value} alone`],
];

/** The limits of the lists of requests, as parameters of a query. */
export function filtersOf(subject: Subject): Parameters {
  const names = ["contains", ...NAMES.map(([name]) => name)];
  return Object.fromEntries(names.map((name) => [name, subject.chosen(name)]));
}

/** The limits of the lists as buttons that remove them. */
export function filterButtons(subject: Subject): HTMLElement[] {
  return NAMES.filter(([name]) => subject.chosen(name) !== "").map(([name, words]) =>
    h(
      "button",
      { type: "button", title: "Show all", onclick: () => subject.choose({ [name]: "" }) },
      `${words(subject.chosen(name))} ×`,
    ),
  );
}

/** The button that removes the range of response times, which limits all tabs; none without a range. */
export function rangeButton(subject: Subject): HTMLElement[] {
  const took = subject.chosen("took");
  if (took === "") return [];
  return [
    h(
      "button",
      {
        type: "button",
        class: "chosen-range",
        title: "Show the requests of all response times",
        onclick: () => subject.choose({ took: "" }),
      },
      `Requests of ${rangeText(took)} ×`,
    ),
  ];
}

/** Fields for a range of response times. */
export function rangeFields(subject: Subject): HTMLElement {
  const range = rangeOf(subject.chosen("took"));
  const field = (label: string, value: number | null | undefined): HTMLInputElement =>
    h("input", {
      type: "number",
      min: 0,
      step: "any",
      value: value ?? "",
      class: "ms",
      "aria-label": label,
    });
  const from = field("Response times from, in ms", range?.from_ms);
  const below = field("Response times below, in ms", range?.below_ms);
  const choose = (): void => {
    const [low, high] = [Number(from.value), below.value === "" ? null : Number(below.value)];
    const isWhole = from.value === "" && high === null;
    if (isWhole) subject.choose({ took: "" });
    else if (high === null || low < high) subject.choose({ took: writtenRange(low, high) });
    else below.setCustomValidity("This is not above the other bound.");
    below.reportValidity();
    below.setCustomValidity("");
  };
  from.addEventListener("change", choose);
  below.addEventListener("change", choose);
  return h("span", { class: "range" }, "Response times from ", from, " to ", below, " ms");
}
