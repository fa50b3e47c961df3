import { h, jumpTo } from "../dom";
import { count, date, milliseconds, percent, plural, span } from "../format";
import type { Report, Source } from "../model";

/**
 * The question and its answer, then the command and the machine. For a question about variants, the answer is
 * their table.
 */
export function header(report: Report, seeSources = () => jumpTo("sources")): HTMLElement {
  const lost = seriousLosses(report.sources);
  return h(
    "header",
    { class: "top" },
    h(
      "div",
      { class: "brand" },
      h("h1", {}, report.title),
      h("span", { class: "by" }, `helenus ${report.helenus}`),
    ),
    report.question !== null && h("p", { class: "question" }, report.question),
    report.comparison === null && report.answer !== "" && h("p", { class: "answer" }, report.answer),
    h("p", { class: "ran" }, h("code", {}, report.command)),
    h("ul", { class: "facts" }, ...facts(report).map((fact) => h("li", {}, fact))),
    lost !== "" &&
      h(
        "p",
        { class: "lost" },
        h("strong", {}, "⚠ Some figures are incomplete. "),
        `${lost} `,
        h("button", { type: "button", class: "as-link", onclick: seeSources }, "See the sources"),
      ),
  );
}

/** Losses that may make a figure wrong; empty without any. */
export function seriousLosses(sources: Source[]): string {
  const said = sources
    .filter(({ is_serious }) => is_serious)
    .map(({ source, lost, captured }) => {
      const of = `${count(lost)} of ${count(lost + captured)}`;
      const share = percent(lost / (lost + captured));
      return source === "requests"
        ? `${of} requests of the schedule (${share}) were never sent`
        : `${source} lost ${of} rows (${share})`;
    });
  return said.length === 0 ? "" : `${said.join(", ")}.`;
}

function facts(report: Report): string[] {
  const { host, nodes, requests, errors } = report;
  const failed = errors.reduce((sum, error) => sum + error.count, 0);
  const cassandra = nodes.map(
    ({ address, version }) => `Cassandra ${version ?? "of unknown version"} on ${address}`,
  );
  const kinds = errors.map((error) => `${error.outcome} ${count(error.count)}`).join(", ");
  return [
    ...cassandra,
    `${host.name}, ${plural(host.cpus, "CPU")}, Linux ${host.kernel}`,
    `${date(report.start)}, ${span(report.duration_s)}`,
    requests === 0 ? "no requests" : plural(requests, "request"),
    ...(requests === 0 ? [] : [failed === 0 ? "no errors" : `${plural(failed, "error")}: ${kinds}`]),
    ...(requests === 0 || report.slow_threshold_ms <= 0
      ? []
      : [
          `slow means a response above ${milliseconds(report.slow_threshold_ms)} (${report.slow_threshold_name})`,
        ]),
  ];
}
