import { h } from "../dom";
import { count, milliseconds, NOTHING, orNothing, perSecond, plural, span } from "../format";
import type { Probe, Report } from "../model";

/** The figures of one probe. */
export interface ByVariant {
  probe: string;
  /** Figures by variant; the key is null without variants. */
  of: Map<string | null, Probe>;
}

/** Where the time of the metered methods went, by own time; empty without probes. */
export function probes(report: Report): HTMLElement[] {
  if (report.probes.length === 0) return [];
  const variants = variantsOf(report);
  const all = byProbe(report.probes);
  const { heads, row } = variants === null ? plain() : compared(variants);
  const leftOut = report.probes_left_out;
  return [
    h(
      "section",
      { id: "probes", tabindex: -1, "aria-labelledby": "probes-title" },
      h("h2", { id: "probes-title" }, "Probes"),
      h(
        "p",
        { class: "note" },
        "Own time is without that of callees that have probes of their own. ",
        variants !== null &&
          `Over the runs that were not cut short; in brackets the ratio to ${variants[0]}, without an interval: what a change was worth is said under Variants. `,
        leftOut > 0 && `Not shown: ${plural(leftOut, "probe")} with less own time.`,
      ),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Probes as a table" },
        h(
          "table",
          {},
          h("caption", { class: "visually-hidden" }, "What probes metered, the most own time first"),
          h("thead", {}, ...heads),
          h("tbody", {}, ...all.map(row)),
        ),
      ),
    ),
  ];
}

/** The baseline and then the others; null where the probes were not metered by variant. */
export function variantsOf({ probes, comparison }: Pick<Report, "probes" | "comparison">): string[] | null {
  const names = new Set(probes.map(({ variant }) => variant).filter((name) => name !== null));
  if (names.size === 0) return null;
  const baseline = comparison?.baseline ?? [...names][0] ?? "";
  return [baseline, ...[...names].filter((name) => name !== baseline).sort()];
}

/** Groups the rows by probe, in order of first appearance. */
export function byProbe(rows: readonly Probe[]): ByVariant[] {
  const all = new Map<string, ByVariant>();
  for (const row of rows) {
    const one = all.get(row.probe) ?? { probe: row.probe, of: new Map() };
    one.of.set(row.variant, row);
    all.set(row.probe, one);
  }
  return [...all.values()];
}

interface Table {
  heads: HTMLElement[];
  row(one: ByVariant): HTMLElement;
}

function plain(): Table {
  const titles = ["Calls", "Total", "Own", "Mean", "Own per call", "Longest"];
  return {
    heads: [h("tr", {}, h("th", { scope: "col" }, "Probe"), ...titles.map((title) => head(title)))],
    row: ({ probe, of }) => {
      const metered = of.get(null);
      return h(
        "tr",
        {},
        name(probe, of),
        cell(metered && perSecond(metered.calls_per_s)),
        cell(metered && span(metered.total_s)),
        cell(metered && span(metered.own_s)),
        cell(metered && orNothing(metered.mean_us, microseconds)),
        cell(metered && orNothing(metered.own_mean_us, microseconds)),
        cell(metered && milliseconds(metered.max_ms)),
      );
    },
  };
}

const FIGURES: { title: string; of(probe: Probe): number | null; write(value: number): string }[] = [
  { title: "Calls", of: ({ calls_per_s }) => calls_per_s, write: perSecond },
  { title: "Mean", of: ({ mean_us }) => mean_us, write: microseconds },
  { title: "Own per call", of: ({ own_mean_us }) => own_mean_us, write: microseconds },
];

/** Before and after side by side: the baseline, then each variant with its ratios to it. */
function compared(variants: readonly string[]): Table {
  const [baseline = "", ...others] = variants;
  const group = (title: string, columns: number) =>
    h("th", { scope: "colgroup", colspan: columns, class: "group" }, title);
  const titles = FIGURES.map(({ title }) => title);
  return {
    heads: [
      h(
        "tr",
        {},
        h("th", { scope: "col", rowspan: 2 }, "Probe"),
        group(baseline, 1 + FIGURES.length),
        ...others.map((other) => group(other, FIGURES.length)),
      ),
      h(
        "tr",
        {},
        ...["Own", ...titles].map((title, index) => head(title, index === 0)),
        ...others.flatMap(() => titles.map((title, index) => head(title, index === 0))),
      ),
    ],
    row: ({ probe, of }) => {
      const before = of.get(baseline);
      return h(
        "tr",
        {},
        name(probe, of),
        cell(before && span(before.own_s), true),
        ...FIGURES.map((figure) => cell(before && orNothing(figure.of(before), figure.write))),
        ...others.flatMap((other) => {
          const after = of.get(other);
          return FIGURES.map((figure, index) => {
            const ratio = ratioOf(before && figure.of(before), after && figure.of(after));
            return cell(
              after && orNothing(figure.of(after), figure.write),
              index === 0,
              ratio === null ? "" : ` (${ratio.toFixed(2)})`,
            );
          });
        }),
      );
    },
  };
}

/** After to before; null where one is not known or before is 0. */
export function ratioOf(before: number | null | undefined, after: number | null | undefined): number | null {
  return before && after !== null && after !== undefined ? after / before : null;
}

/** A note below a probe that was switched off, because its small figures would look like a gain. */
function name(probe: string, of: ByVariant["of"]): HTMLElement {
  const off = [...of].filter(([, { off_reason }]) => off_reason !== null);
  return h(
    "th",
    { scope: "row" },
    probe,
    ...off.map(([variant, { off_reason }]) =>
      h(
        "span",
        { class: "off quiet" },
        `switched off${variant === null ? "" : ` in ${variant}`}: ${off_reason}`,
      ),
    ),
    ...[...of].flatMap(([variant, { failed }]) =>
      failed === 0
        ? []
        : [
            h(
              "span",
              { class: "off quiet" },
              `${count(failed)} failed${variant === null ? "" : ` in ${variant}`}`,
            ),
          ],
    ),
  );
}

function head(title: string, first = false): HTMLElement {
  return h("th", { scope: "col", class: first ? "number group" : "number" }, title);
}

function cell(text: string | undefined, first = false, ratio = ""): HTMLElement {
  return h(
    "td",
    { class: first ? "number group" : "number" },
    text ?? NOTHING,
    ratio !== "" && h("span", { class: "quiet" }, ratio),
  );
}

function microseconds(value: number): string {
  return milliseconds(value / 1000);
}
