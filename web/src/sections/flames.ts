import { h } from "../dom";
import { caption, flameGraph } from "../flame/graph";
import type { Report } from "../model";
import type { Theme } from "../theme";

/** Where the CPU time went, by thread group; and while requests were slow, against the rest. */
export function flames(report: Report, theme: Theme): HTMLElement {
  const section = h(
    "section",
    { id: "flames", tabindex: -1, "aria-labelledby": "flames-title" },
    h("h2", { id: "flames-title" }, "Flame graphs"),
  );
  if (report.flames.length === 0) {
    section.append(h("p", { class: "missing" }, "No stacks were sampled: record with --stacks cpu."));
  }
  for (const data of report.flames) {
    const title = data.against === "" ? "The whole recording" : `CPU ${data.title}`;
    section.append(
      h("h3", {}, title),
      h("p", { class: "note" }, caption(data)),
      flameGraph(data, theme).root,
    );
  }
  return section;
}
