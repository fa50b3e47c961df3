import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { SQLDialect, sql } from "@codemirror/lang-sql";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Rows } from "../charts/rows";
import { h } from "../dom";
import { count, digits3, plural } from "../format";
import type { Queried, Schema } from "../model";
import { dataTable } from "../sections/data-table";
import { Gone } from "./client";
import { resultChart } from "./result-chart";
import type { Subject } from "./subject";

const FIRST =
  "SELECT operation, count(*) AS requests, max(end_ns - intended_start_ns) / 1e6 AS max_ms\nFROM all_requests\nGROUP BY operation\nORDER BY max_ms DESC";

/** Colours of the page, light and dark. */
const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--p99)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ok)" },
  { tag: tags.number, color: "var(--pause-server)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
]);

/** A console over the rows of the window, with the tables beside it. */
export async function console(subject: Subject, signal: AbortSignal): Promise<HTMLElement[]> {
  const schema = await subject.ask<Schema[]>("schema", signal, { t: "" });
  const text = subject.chosen("q") || FIRST;
  const result = h("div", { class: "result", "aria-live": "polite" });
  const editor = makeEditor(text, schema, () => run());
  const run = (): void => {
    const q = editor.state.doc.toString();
    // The address holds the query; when it changes, the query is run again.
    if (q === subject.chosen("q")) void show(subject, q, result, signal);
    else subject.choose({ q });
  };
  const button = h("button", { type: "button", class: "primary", onclick: run }, "Run");
  const bar = h(
    "div",
    { class: "filters" },
    button,
    h(
      "span",
      { class: "quiet" },
      "Ctrl-Enter. Rows of this window; the first 2,000 are shown, within two minutes.",
    ),
  );
  if (subject.chosen("q") !== "") void show(subject, text, result, signal);
  return [
    h(
      "div",
      { class: "sql" },
      h("div", { class: "sql-main" }, editor.dom, bar, result),
      schemaList(schema, editor),
    ),
  ];
}

async function show(subject: Subject, q: string, into: HTMLElement, signal: AbortSignal): Promise<void> {
  into.replaceChildren(h("p", { class: "missing" }, "Running…"));
  try {
    const queried = await subject.ask<Queried>("sql", signal, { q });
    const said = `${plural(queried.rows.length, "row")}${queried.is_cut ? ", and there are more" : ""}, ${digits3(queried.seconds)} s`;
    const picture = h("div", {});
    const table = dataTable(rowsOf(queried), "Result", "of the query");
    const view = (isChart: boolean): void => {
      as.forEach((button, place) => {
        button.setAttribute("aria-pressed", String(isChart === (place === 1)));
      });
      picture.replaceChildren(isChart ? resultChart(queried, subject.theme) : table);
    };
    const as = ["Table", "Chart"].map((name, place) =>
      h("button", { type: "button", onclick: () => view(place === 1) }, name),
    );
    view(false);
    const bar = h(
      "div",
      { class: "filters" },
      h("span", { class: "switch" }, ...as),
      h("span", { class: "note" }, said),
    );
    into.replaceChildren(bar, picture);
  } catch (cause) {
    if (signal.aborted) return;
    const why = cause instanceof Error ? cause.message : String(cause);
    into.replaceChildren(h("p", { class: "missing failure", role: "alert" }, why));
    if (!(cause instanceof Gone)) return;
    await subject.client.back();
    if (!signal.aborted) await show(subject, q, into, signal);
  }
}

function rowsOf({ columns, rows }: Queried): Rows {
  return {
    columns: columns.map(({ name, is_number }) => ({
      name,
      unit: is_number ? " " : "",
      write: (value) => (Number.isInteger(value) ? count(value) : digits3(value)),
    })),
    total: rows.length,
    row: (index) => (rows[index] ?? []).map((cell) => (typeof cell === "boolean" ? String(cell) : cell)),
  };
}

function makeEditor(text: string, schema: readonly Schema[], run: () => void): EditorView {
  const tables = Object.fromEntries(
    schema.map(({ table, columns }) => [table, columns.map(({ name }) => name)]),
  );
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="nonce"]')?.content ?? "";
  const state = EditorState.create({
    doc: text,
    extensions: [
      EditorView.cspNonce.of(nonce),
      history(),
      keymap.of([
        {
          key: "Mod-Enter",
          run: () => {
            run();
            return true;
          },
        },
        ...completionKeymap,
        ...defaultKeymap,
        ...historyKeymap,
      ]),
      sql({ dialect: SQLDialect.define({}), schema: tables, upperCaseKeywords: true }),
      syntaxHighlighting(COLOURS),
      autocompletion(),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "SQL query" }),
    ],
  });
  return new EditorView({ state });
}

/** Tables with rows first; a click writes the name into the query. */
function schemaList(schema: readonly Schema[], editor: EditorView): HTMLElement {
  const insert = (name: string) => () => {
    editor.dispatch(editor.state.replaceSelection(name));
    editor.focus();
  };
  const items = schema.map(({ table, meaning, rows, columns }) =>
    h(
      "details",
      { class: rows === 0 ? "empty" : null },
      h(
        "summary",
        { title: meaning },
        table,
        h("span", { class: "quiet" }, rows === null ? " view" : ` ${count(rows)}`),
      ),
      h(
        "ul",
        {},
        ...columns.map((column) =>
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: "as-link", title: column.meaning, onclick: insert(column.name) },
              column.name,
            ),
            h("span", { class: "quiet" }, column.unit === "" ? "" : ` ${column.unit}`),
          ),
        ),
      ),
    ),
  );
  return h("aside", { class: "schema", "aria-label": "Tables" }, h("h3", {}, "Tables"), ...items);
}
