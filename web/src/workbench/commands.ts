import { h } from "../dom";
import type { Linking } from "../sections/findings";

/** Choices in the address of this page that show the answer of a command. */
export type Shown = Record<string, string>;

/** Commands of helenus whose answers are a tab of this page. */
const TAB_OF: Record<string, string> = {
  statements: "statements",
  clients: "clients",
  flame: "flame",
  gc: "gc",
  io: "files",
  tables: "tables",
  sstables: "tables",
  spectrogram: "syscalls",
  sql: "sql",
  phases: "sources",
  probes: "sources",
  compare: "compare",
};

/** A command in a finding's text, up to its last word. */
const COMMAND = /`helenus ([a-z]+)([^`]*)`|\bhelenus ([a-z]+)(?= (?:has|RECORDING)\b)/g;

/** The first word that is not an option, which a shell may need in quotes. */
const ARGUMENT = /(?:^|\s)(?:'([^']*)'|([^\s'-]\S*))/;

const lastPart = (path: string): string => path.replace(/\/+$/, "").split("/").at(-1) ?? "";

/** The choices for a command; null if this page has no answer, such as to one that asks a node or reads another recording. */
export function shownBy(command: string, rest: string, recording: string): Shown | null {
  // Such a command asks a running node, and this page has a recording.
  if (/--node|--keys/.test(rest)) return null;
  const found = ARGUMENT.exec(rest);
  const of = found?.[1] ?? found?.[2] ?? "RECORDING";
  if (of !== "RECORDING" && lastPart(of) !== lastPart(recording)) return null;
  const tab = TAB_OF[command];
  return tab === undefined ? null : { tab };
}

/** Makes a link of each command in a text that this page can answer. `link` writes the address. */
export function linking(recording: string, link: (shown: Shown) => string): Linking {
  return (text) => {
    const parts: (Node | string)[] = [];
    let from = 0;
    for (const found of text.matchAll(COMMAND)) {
      const shown = shownBy(found[1] ?? found[3] ?? "", found[2] ?? "", recording);
      if (shown === null) continue;
      parts.push(text.slice(from, found.index));
      parts.push(h("a", { href: link(shown), title: "Show it here" }, found[0].replaceAll("`", "")));
      from = found.index + found[0].length;
    }
    return [...parts, text.slice(from)];
  };
}
