import { h } from "../dom";
import { count, digits3, NOTHING, orNothing, percent, plural } from "../format";
import type { Comparison, Ratio, Report, Variant, Verdict } from "../model";

/**
 * The bars reach from the inverse of one of these ratios to the ratio, on a logarithmic scale; the first one
 * that has space for all values is used.
 */
const WIDTHS = [2, 5, 10, 100, 1000];

const VERDICTS: Record<Verdict, { mark: string; name: string }> = {
  better: { mark: "▲", name: "better" },
  worse: { mark: "▼", name: "worse" },
  "no-difference": { mark: "=", name: "no difference" },
  "still-compiling": { mark: "?", name: "can't tell: a JVM was still compiling" },
  "not-enough": { mark: "?", name: "not enough" },
};

/** The effect of each variant of an experiment; empty for other recordings. */
export function variants({ comparison }: Pick<Report, "comparison">, title = "Variants"): HTMLElement[] {
  if (comparison === null) return [];
  const section = h(
    "section",
    { id: "variants", tabindex: -1, "aria-labelledby": "variants-title" },
    h("h2", { id: "variants-title" }, title),
    h("p", { class: "note" }, how(comparison)),
  );
  if (comparison.remarks.length > 0)
    section.append(h("ul", { class: "remarks" }, ...comparison.remarks.map((remark) => h("li", {}, remark))));
  if (comparison.variants.length === 0)
    section.append(
      h(
        "p",
        { class: "missing" },
        "No variant was run to its end in a block in which the baseline was, too: nothing can be compared.",
      ),
    );
  const widest = widestOf(comparison.variants);
  for (const variant of comparison.variants)
    section.append(h("h3", {}, variant.sentence), table(variant, comparison, widest));
  return [section];
}

function how({ baseline, run_unit, paired, confidence, resamples, margin, cut_short }: Comparison): string {
  const pairs = paired ? `, ${run_unit} by ${run_unit}` : "";
  const cut = cut_short > 0 ? ` ${plural(cut_short, "run")} cut short: in nothing here.` : "";
  return (
    `Ratios of means to those of ${baseline}${pairs}, with ${percent(confidence)} intervals from a bootstrap of ` +
    `${count(resamples)} resamples; a difference below ${percent(margin)} is none. Better and worse allow for all figures ` +
    `of a variant together.${cut}`
  );
}

function table(variant: Variant, comparison: Comparison, widest: number): HTMLElement {
  const head = (name: string, number = true) =>
    h("th", { scope: "col", class: number ? "number" : null }, name);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": `${variant.name} as a table` },
    h(
      "table",
      { class: "ratios" },
      h("caption", { class: "visually-hidden" }, `${variant.name} against ${comparison.baseline}`),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          head("Figure", false),
          head("Unit", false),
          head(comparison.baseline),
          head(variant.name),
          head("Ratio"),
          head("Interval"),
          head(`1/${widest} … 1 … ${widest}`, false),
          head("Verdict", false),
        ),
      ),
      h("tbody", {}, ...variant.metrics.map((ratio) => row(ratio, comparison, widest))),
    ),
  );
}

function row(ratio: Ratio, { run_unit }: Comparison, widest: number): HTMLElement {
  const number = (text: string) => h("td", { class: "number" }, text);
  const two = (value: number) => value.toFixed(2);
  const { mark, name } = VERDICTS[ratio.verdict];
  const interval =
    ratio.low === null && ratio.high === null
      ? NOTHING
      : `${orNothing(ratio.low, two)} – ${orNothing(ratio.high, two)}`;
  return h(
    "tr",
    { class: `verdict-${ratio.verdict}` },
    h("th", { scope: "row", title: ratio.meaning }, ratio.name.replaceAll("_", " ")),
    h("td", {}, ratio.unit),
    number(digits3(ratio.baseline)),
    number(digits3(ratio.variant)),
    number(orNothing(ratio.ratio, two)),
    number(interval),
    h("td", {}, bar(ratio, widest)),
    h(
      "td",
      { class: "verdict" },
      `${mark} ${name}`,
      ratio.verdict === "not-enough" && ` ${run_unit}s${needed(ratio)}`,
    ),
  );
}

function needed({ ratio, runs_needed }: Ratio): string {
  if (ratio === null) return ", the baseline's is 0";
  return runs_needed === null ? ", over 1000 needed" : `, about ${count(runs_needed)} needed`;
}

/**
 * The common scale of all variants' bars. An interval that is too wide for a verdict is cut and gets an arrow, to leave
 * room for the others.
 */
export function widestOf(variants: readonly Pick<Variant, "metrics">[]): number {
  const reach = variants
    .flatMap(({ metrics }) => metrics)
    .flatMap(({ ratio, low, high, verdict }) => (verdict === "not-enough" ? [ratio] : [ratio, low, high]))
    .map((one) => (one === null || one <= 0 ? 1 : Math.max(one, 1 / one)));
  const most = Math.max(1, ...reach);
  return WIDTHS.find((width) => most <= width) ?? WIDTHS.at(-1) ?? 2;
}

/** Position of a ratio on a bar that reaches to `widest`: 0 to 1. */
export function placeOf(ratio: number, widest: number): number {
  const place = 0.5 + Math.log(ratio) / Math.log(widest) / 2;
  return Math.min(1, Math.max(0, place));
}

/** The interval as a bar around the ratio; the line in the middle is 1. The figures are printed beside it. */
function bar({ ratio, low, high }: Ratio, widest: number): HTMLElement {
  const strip = h("div", { class: "ratio-bar", "aria-hidden": "true" }, h("span", { class: "one" }));
  if (low !== null || high !== null) {
    // A one-sided interval, whose other end is infinite.
    const [least, most] = [low ?? 0, high ?? Number.POSITIVE_INFINITY];
    const [from, to] = [placeOf(least, widest), placeOf(most, widest)];
    const beyond = [least < 1 / widest && "beyond-left", most > widest && "beyond-right"].filter(Boolean);
    const interval = h("span", { class: ["interval", ...beyond].join(" ") });
    interval.style.left = `${from * 100}%`;
    interval.style.width = `${Math.max(0.01, to - from) * 100}%`;
    strip.append(interval);
  }
  if (ratio !== null) {
    const point = h("span", { class: "point" });
    point.style.left = `${placeOf(ratio, widest) * 100}%`;
    strip.append(point);
  }
  return strip;
}
