import { h } from "../dom";
import { clock, digits3, milliseconds, NOTHING, orNothing, percent } from "../format";
import type {
  Comparison,
  FigureChange,
  FrameChange,
  Listed,
  SettingChange,
  StatementChange,
  StatementRate,
  WindowChanges,
} from "../model";
import { variants } from "../sections/variants";
import { type Field, sortable } from "./sortable";
import type { Subject } from "./subject";

/** Lists the changes from another window to this one, or compares this recording with another. */
export async function compared(subject: Subject, signal: AbortSignal): Promise<HTMLElement[]> {
  const [against, other] = [subject.chosen("against"), subject.chosen("with")];
  const recordings = await subject.client.get<Listed[]>("recordings", {}, signal);
  const others = recordings.filter(({ name, is_closed }) => name !== subject.recording && is_closed);
  const select = h(
    "select",
    { "aria-label": "Another recording" },
    h("option", { value: "" }, "this recording"),
    ...others.map(({ name, title }) =>
      h("option", { value: name, selected: name === other }, `${name}: ${title}`),
    ),
  );
  select.addEventListener("change", () => subject.choose({ with: select.value }));
  const bar = h("div", { class: "filters" }, h("label", {}, "Compare with ", select), ...marker(subject));
  if (against === "" && other === "") {
    const how =
      "Choose a good window above and mark it, then choose a bad one: this tab then has what changed by statement, setting and frame, and the findings and the flame graph compare the two. Or choose another recording.";
    return [bar, h("p", { class: "missing" }, how)];
  }
  if (other !== "") {
    const comparison = await subject.ask<Comparison>("compare", signal, { against, with: other });
    return [bar, ...variants({ comparison }, "Figures")];
  }
  if (against === subject.window)
    return [bar, h("p", { class: "missing" }, "This is the marked window itself: choose another one.")];
  return [bar, ...changes(subject, await subject.ask<WindowChanges>("changes", signal, { against }))];
}

/** The part of a change that says more, signed: "+12 ms". */
const difference = (before: number, now: number, write: (value: number) => string): string =>
  `${now < before ? "−" : "+"}${write(Math.abs(now - before))}`;

function changes(subject: Subject, { statements, settings, frames, figures }: WindowChanges): HTMLElement[] {
  const of =
    (side: "before" | "now", figure: keyof StatementRate) =>
    (row: StatementChange): number | null =>
      row[side]?.[figure] ?? null;
  const both = (name: string, unit: string, figure: keyof StatementRate): Field<StatementChange>[] => {
    const write = unit === "ms" ? milliseconds : digits3;
    return [
      { name: `${name}, before`, unit, write, of: of("before", figure) },
      { name: `${name}, now`, unit, write, of: of("now", figure) },
    ];
  };
  const byStatement: Field<StatementChange>[] = [
    {
      name: "statement",
      unit: "",
      of: (row) => row.operation || "(unknown statement)",
      open: (row) => subject.choose({ tab: "statements", statement: row.operation, sort: "" }),
      opens: (row) => row.operation !== "",
    },
    {
      name: "change",
      unit: "in flight",
      write: (value) => difference(0, value, digits3),
      of: (row) => (row.now?.in_flight ?? 0) - (row.before?.in_flight ?? 0),
    },
    ...both("requests", "per s", "requests_per_s"),
    ...both("p50", "ms", "p50_ms"),
    ...both("p99", "ms", "p99_ms"),
    ...both("errors", "per s", "errors_per_s"),
  ];
  const bySetting: Field<SettingChange>[] = [
    { name: "setting", unit: "", of: (row) => row.setting },
    { name: "node", unit: "", of: (row) => row.node },
    { name: "before", unit: "", of: (row) => row.before ?? NOTHING },
    { name: "now", unit: "", of: (row) => row.now ?? NOTHING },
  ];
  const byFrame: Field<FrameChange>[] = [
    { name: "frame", unit: "", of: (row) => row.frame },
    {
      name: "change",
      unit: "own share",
      write: (value) => difference(0, value, percent),
      of: (row) => row.now_own_share - row.before_own_share,
    },
    { name: "own, before", unit: "share", write: percent, of: (row) => row.before_own_share },
    { name: "own, now", unit: "share", write: percent, of: (row) => row.now_own_share },
    { name: "with callees, before", unit: "share", write: percent, of: (row) => row.before_share },
    { name: "with callees, now", unit: "share", write: percent, of: (row) => row.now_share },
  ];
  const byFigure: Field<FigureChange>[] = [
    { name: "figure", unit: "", of: (row) => row.name.replaceAll("_", " ") },
    { name: "before", unit: "value", write: digits3, of: (row) => row.before },
    { name: "now", unit: "value", write: digits3, of: (row) => row.now },
    {
      name: "now / before",
      unit: "ratio",
      write: digits3,
      of: (row) => (row.before === 0 ? null : row.now / row.before),
    },
    { name: "unit", unit: "", of: (row) => row.unit },
    { name: "meaning", unit: "", of: (row) => row.meaning },
  ];
  return [
    h("p", { class: "note" }, sentence({ statements, settings, frames, figures })),
    ...section(subject, "By statement", byStatement, statements, "No request in either window."),
    ...section(subject, "By setting", bySetting, settings, "No setting and no valve changed."),
    ...section(subject, "By frame", byFrame, frames, "No stacks were sampled in one of the windows."),
    ...section(subject, "Figures", byFigure, figures, "One of the windows has no measured request."),
  ];
}

function section<T>(
  subject: Subject,
  title: string,
  fields: Field<T>[],
  rows: readonly T[],
  nothing: string,
): HTMLElement[] {
  const body =
    rows.length === 0 ? h("p", { class: "missing" }, nothing) : sortable(subject, title, fields, rows);
  return [h("h3", {}, title), body];
}

/** The largest change of each kind. */
export function sentence({ statements, settings, frames }: WindowChanges): string {
  const [statement, setting, frame] = [statements[0], settings[0], frames[0]];
  const time = (rate: StatementRate | null | undefined): string => orNothing(rate?.p99_ms, milliseconds);
  const parts: string[] = [];
  if (statement)
    parts.push(
      `The time of ${statement.operation || "unknown statements"} changed most: p99 ${time(statement.before)} before, ${time(statement.now)} now.`,
    );
  const more = settings.length < 2 ? "" : `, and ${settings.length - 1} more`;
  parts.push(
    setting
      ? `${setting.setting} changed from ${setting.before ?? NOTHING} to ${setting.now ?? NOTHING}${more}.`
      : "No setting changed.",
  );
  if (frame)
    parts.push(
      `${frame.frame} has ${percent(frame.now_own_share)} of the CPU samples, ${percent(frame.before_own_share)} before.`,
    );
  return parts.join(" ");
}

/** Marks the window for comparison, or clears the mark. */
export function marker(subject: Subject): HTMLElement[] {
  const against = subject.chosen("against");
  if (against === "") {
    const mark = h(
      "button",
      {
        type: "button",
        disabled: subject.window === "",
        title: "Findings, flame graphs and comparisons of other windows are then against this one",
        onclick: () => subject.choose({ against: subject.window }),
      },
      "Mark this window as good",
    );
    return [mark];
  }
  const [from, to] = against.split("-").map((edge) => clock(Number(edge), 0.1, subject.report.duration_s));
  const clear = h(
    "button",
    { type: "button", title: "Compare with no window", onclick: () => subject.choose({ against: "" }) },
    `Compared with ${from} – ${to} s ×`,
  );
  return [clear];
}
