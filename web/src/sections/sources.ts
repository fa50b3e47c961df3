import { h } from "../dom";
import { count, NOTHING, orNothing, percent } from "../format";
import type { Report, Source } from "../model";

/** Captured rows, lost rows, and the cost of capturing. */
export function sourceTable(report: Report): HTMLElement {
  const section = h(
    "section",
    { id: "sources", tabindex: -1, "aria-labelledby": "sources-title" },
    h("h2", { id: "sources-title" }, "Sources"),
  );
  if (report.sources.length === 0) {
    section.append(
      h(
        "p",
        { class: "missing" },
        "No source reported on itself in this recording, so nothing is known of losses.",
      ),
    );
    return section;
  }
  const slight = slightLosses(report.sources);
  const heads: [string, boolean][] = [
    ["Source", false],
    ["Node", false],
    ["Captured by", false],
    ["Rows", true],
    ["Lost", true],
    ["Why", false],
    ["Cost, of one CPU", true],
  ];
  section.append(
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Sources as a table" },
      h(
        "table",
        {},
        h("caption", { class: "visually-hidden" }, "Sources of the recording"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ...heads.map(([name, number]) =>
              h("th", { scope: "col", class: number ? "number" : null }, name),
            ),
          ),
        ),
        h("tbody", {}, ...report.sources.map(row)),
      ),
    ),
    ...(slight === "" ? [] : [h("p", { class: "quiet" }, slight)]),
  );
  return section;
}

/** One quiet line for losses that are too small to change a figure; empty without any. */
export function slightLosses(sources: Source[]): string {
  const slight = sources.filter(({ lost, is_serious }) => lost > 0 && !is_serious);
  if (slight.length === 0) return "";
  const lost = slight.map(({ source, lost }) => `${source} ${count(lost)}`).join(", ");
  return `Rows lost, too few to change a figure: ${lost}.`;
}

function row(row: Source): HTMLElement {
  const { source, node, provider, captured, lost, is_serious, lost_reason, cpu_share } = row;
  const share = lost === 0 ? "" : ` (${percent(lost / (lost + captured))})`;
  const loss = `${is_serious ? "⚠ " : ""}${count(lost)}${share}`;
  return h(
    "tr",
    { class: is_serious ? "lossy" : null },
    h("th", { scope: "row" }, source),
    h("td", {}, node === "" ? NOTHING : node),
    h("td", {}, provider),
    h("td", { class: "number" }, count(captured)),
    h("td", { class: is_serious ? "number bad" : "number" }, loss),
    h("td", {}, lost_reason === "" ? NOTHING : lost_reason),
    h("td", { class: "number" }, orNothing(cpu_share, percent)),
  );
}
