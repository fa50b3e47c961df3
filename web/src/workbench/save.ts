import { h, setText } from "../dom";
import { bytes, plural } from "../format";
import type { Saved } from "../model";
import type { Client, Parameters } from "./client";

/** Names that the server takes. */
const NAME = "[A-Za-z0-9][A-Za-z0-9._\\-]{0,99}";

/** What is saved, as it is when the dialog is opened. */
export interface Savable {
  /** Recording and window, as the server takes them. */
  asked: Parameters;
  /** The window, for a person. */
  window: string;
  /** Proposed name, without an extension. */
  name: string;
}

/** A dialog that saves a window as a recording of its own, or as a report. */
export function saveDialog(
  client: Client,
  savable: () => Savable | null,
): { root: HTMLDialogElement; open(): void } {
  let shown: Savable | null = null;
  const window = h("p", { class: "quiet" });
  const name = h("input", {
    type: "text",
    pattern: NAME,
    required: true,
    spellcheck: "false",
    autocomplete: "off",
  });
  const said = h("p", { role: "status", class: "said" });
  const recording = h(
    "button",
    { type: "submit", class: "primary", title: "A copy of this window, in the folder for recordings" },
    "Save recording",
  );
  const report = h(
    "button",
    { type: "button", title: "One HTML file of this window that opens offline" },
    "Download report",
  );
  const close = h("button", { type: "button", onclick: () => root.close() }, "Close");
  const buttons = [recording, report];
  const form = h(
    "form",
    {},
    h("label", {}, "Name ", name),
    h("p", { class: "filters" }, recording, report),
    said,
  );

  const run = async (doing: string, work: (of: Savable) => Promise<(Node | string)[]>): Promise<void> => {
    if (!shown || !form.reportValidity()) return;
    for (const button of buttons) button.disabled = true;
    setText(said, doing);
    try {
      said.replaceChildren(...(await work(shown)));
    } catch (cause) {
      setText(said, cause instanceof Error ? cause.message : String(cause));
    }
    for (const button of buttons) button.disabled = false;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void run("Copying the window…", async ({ asked }) => {
      const saved = await client.post<Saved>("save", { ...asked, name: name.value });
      const link = h("a", { href: `#recording=${encodeURIComponent(saved.name)}` }, "Open it");
      return [`Saved ${plural(saved.rows, "row")} (${bytes(saved.bytes)}) in ${saved.path}. `, link];
    });
  });
  report.addEventListener("click", () => {
    void run("Writing the report…", async ({ asked }) => {
      const text = await client.get<string>("report-page", asked);
      const address = URL.createObjectURL(new Blob([text], { type: "text/html" }));
      const file = `${name.value}.html`;
      h("a", { href: address, download: file }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
      return [`The browser has ${file}.`];
    });
  });

  const root = h(
    "dialog",
    { class: "help save", "aria-labelledby": "save-title" },
    h("header", {}, h("h2", { id: "save-title" }, "Save this window"), close),
    window,
    form,
  );
  root.addEventListener("click", (event) => {
    if (event.target === root) root.close();
  });
  const open = (): void => {
    shown = savable();
    if (!shown || root.open) return;
    setText(window, shown.window);
    setText(said, "");
    name.value = shown.name;
    root.showModal();
    name.select();
  };
  return { root, open };
}

/** A name that the server takes, made of the recording's name and of what was chosen. */
export function nameOf(recording: string, chosen: string): string {
  const stem =
    recording
      .split("/")
      .at(-1)
      ?.replace(/\.helenus$/, "") ?? "";
  const name = chosen === "" ? stem : `${stem}-${chosen}`;
  return name
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 100);
}
