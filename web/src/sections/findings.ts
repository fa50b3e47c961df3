import { copyButton, copyText } from "../clipboard";
import { h, jumpTo } from "../dom";
import { clock, percent, plural } from "../format";
import type { Finding, Report, Severity } from "../model";
import type { Store } from "../state";
import { showFinding } from "./actions";
import { evidenceList } from "./evidence";

/** The number of cards that are open at first; the rest open on request. */
const FIRST_CARDS = 7;

export const SEVERITY: Record<Severity, { icon: string; word: string }> = {
  critical: { icon: "▲", word: "Critical" },
  warning: { icon: "◆", word: "Warning" },
  information: { icon: "●", word: "Information" },
};

/** The parts of a report that the section of findings needs. */
export type Explained = Pick<Report, "findings" | "answer" | "requests" | "duration_s">;
/** Makes links of the commands in a text whose answers this page has. */
export type Linking = (text: string) => (Node | string)[];
/** Selects a finding, and reports when another one is selected. */
export type FindingChoice = Pick<Store, "selection" | "whole" | "change" | "subscribe">;

/**
 * The section "why the slow requests were slow". The first `first` cards are open. An empty answer is left
 * out.
 */
export function findings(
  report: Explained,
  store: FindingChoice,
  first = FIRST_CARDS,
  linked: Linking = (text) => [text],
): HTMLElement {
  const cards = report.findings.map((finding) => card(finding, report, store, linked));
  const rest = cards.slice(first);
  for (const { root } of rest) root.hidden = true;
  const more = h("button", { type: "button", class: "more" }, `Show ${plural(rest.length, "more finding")}`);
  const showAll = (): void => {
    for (const { root } of rest) root.hidden = false;
    more.hidden = true;
  };
  more.addEventListener("click", showAll);
  more.hidden = rest.length === 0;
  const mark = (): void => {
    const chosen = store.selection.finding;
    if (rest.some(({ finding }) => finding.rank === chosen)) showAll();
    for (const { root, show, finding } of cards) {
      root.classList.toggle("chosen", finding.rank === chosen);
      show.setAttribute("aria-pressed", String(finding.rank === chosen));
    }
  };
  store.subscribe(mark);
  mark();
  return h(
    "section",
    { class: "findings", "aria-labelledby": "findings-title" },
    h("h2", { id: "findings-title" }, "Findings"),
    report.answer !== "" && h("p", { class: "answer" }, report.answer),
    cards.length === 0
      ? h("p", { class: "missing" }, noFinding(report))
      : h("ol", { class: "cards" }, ...cards.map(({ root }) => root)),
    more,
  );
}

function noFinding(report: Explained): string {
  return report.requests === 0
    ? "No finding: there are no requests here to explain, and no rule saw anything else to report."
    : "No finding: nothing that was recorded explains the slow requests.";
}

function card(finding: Finding, report: Explained, store: FindingChoice, linked: Linking) {
  const { icon, word } = SEVERITY[finding.severity];
  const write = (time: number): string =>
    clock(time, Math.max(0.001, (finding.end_s - finding.start_s) / 100), report.duration_s);
  const show = h(
    "button",
    {
      type: "button",
      class: "show",
      "aria-label": `Show finding ${finding.rank} in the charts, ${write(finding.start_s)} to ${write(finding.end_s)} seconds`,
      onclick: () => {
        showFinding(finding, store);
        jumpTo("charts");
      },
    },
    `Show ${write(finding.start_s)} – ${write(finding.end_s)} s`,
  );
  const root = h(
    "li",
    { class: `card ${finding.severity}` },
    h(
      "div",
      { class: "kind" },
      h("span", { class: "severity" }, h("span", { "aria-hidden": "true" }, `${icon} `), word),
      h(
        "span",
        { class: "quiet" },
        [finding.finding, finding.node].filter((part) => part !== "").join(" · "),
      ),
      show,
    ),
    h("h3", {}, finding.title),
    share(finding),
    finding.detail !== "" && h("p", { class: "detail" }, ...linked(finding.detail)),
    finding.next !== "" && h("p", { class: "detail" }, h("strong", {}, "Next: "), ...linked(finding.next)),
    h(
      "details",
      {},
      h("summary", {}, "Evidence"),
      evidenceList(finding.evidence),
      finding.query !== "" && query(finding.query),
    ),
  );
  return { root, show, finding };
}

/** A title such as "78 % of the slow requests are `SELECT …` (13 % of all)". */
const SAYS_SHARE = /\d\s?% of (?:the |all )?slow/;
const SAYS_CHANCE = /\d\s?% of all\)/;

/**
 * "Explains 62 % of the slow requests; 4 % expected by chance", with the two as bars. A card has one figure for a share: those
 * in its title are not given again.
 */
function share({ title, share: explained, chance_share: chance }: Finding): HTMLElement | false {
  // Without attributed requests the detail describes the test.
  if (explained === null || explained === 0) return false;
  const words: (HTMLElement | string)[] = [];
  if (!SAYS_SHARE.test(title))
    words.push(h("strong", {}, `Explains ${percent(explained)}`), " of the slow requests");
  if (chance !== null && !SAYS_CHANCE.test(title))
    words.push(`${words.length > 0 ? "; " : ""}${percent(chance)} expected by chance`);
  if (words.length === 0) return false;
  const bar = h("span", { class: "share-bar", "aria-hidden": "true" }, h("span", { class: "explained" }));
  bar.style.setProperty("--explained", `${Math.min(1, explained) * 100}%`);
  if (chance !== null) {
    bar.append(h("span", { class: "chance" }));
    bar.style.setProperty("--chance", `${Math.min(1, chance) * 100}%`);
  }
  return h("p", { class: "share" }, bar, h("span", {}, ...words));
}

function query(sql: string): HTMLElement {
  return h(
    "div",
    { class: "query" },
    h(
      "div",
      { class: "query-bar" },
      h("span", { class: "quiet" }, "helenus sql RECORDING"),
      copyButton("Copy", "Copy the query", () => copyText(sql)),
    ),
    h("pre", { tabindex: 0, role: "region", "aria-label": "Query" }, h("code", {}, sql)),
  );
}
