import { h } from "../dom";
import { clock } from "../format";
import type { Comparison, Listed } from "../model";
import { variants } from "../sections/variants";
import type { Subject } from "./subject";

/** Compares this window with another one, or this recording with another. */
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
      "Choose a good window above and mark it, then choose a bad one: the findings, this table and the flame graph compare the two. Or choose another recording.";
    return [bar, h("p", { class: "missing" }, how)];
  }
  const comparison = await subject.ask<Comparison>("compare", signal, { against, with: other });
  return [bar, ...variants({ comparison })];
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
