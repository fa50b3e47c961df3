import "uplot/dist/uPlot.min.css";
import "../flame/graph.css";
import "../flame/scope.css";
import "../style/index.css";
import "./workbench.css";
import { h, setText } from "../dom";
import { count, date, plural } from "../format";
import type { Listed, Report } from "../model";
import { Client, Gone, Refused } from "./client";
import { LIST, livePage } from "./live/page";
import { page } from "./page";
import { tokenForm } from "./token-form";

const GONE =
  "The server does not answer. It may have been stopped: start helenus serve again and open its new link. This page goes on if it comes back.";
const HOW = "Open the link that helenus serve printed, or paste that link or its token here.";
const NO_TOKEN = `This page was opened without a token, as from a copied link, which has none. ${HOW}`;
const REFUSED = `The server refuses the token of this page. It may have been started again, with another token. ${HOW}`;

/** Shows the page of the recording in the address, or of the only one or the only one that grows, or else the list. */
async function show(app: HTMLElement, client: Client): Promise<void> {
  const recordings = await client.get<Listed[]>("recordings");
  const fields = new URLSearchParams(location.hash.replace(/^#/, ""));
  const named = fields.get("recording");
  // Windows that were saved beside a recording that grows do not take its place.
  const growing = recordings.filter(({ is_growing }) => is_growing);
  const only = [recordings, growing].find((some) => some.length === 1)?.[0]?.name;
  const chosen = named ?? (fields.has(LIST) ? undefined : only);
  if (chosen === undefined) {
    document.title = "Recordings – Helenus";
    app.replaceChildren(list(recordings));
    return;
  }
  // The address keeps naming this recording when others are saved beside it.
  if (named === null)
    history.replaceState(
      null,
      "",
      `${location.hash || "#"}&recording=${encodeURIComponent(chosen)}`.replace("#&", "#"),
    );
  const one = recordings.find(({ name }) => name === chosen);
  const isCloser = new URLSearchParams(location.hash.replace(/^#/, "")).has("closer");
  if (one && !one.is_closed && !isCloser) {
    const title = one.nodes.length > 0 ? one.nodes.join(", ") : one.title;
    app.replaceChildren(...livePage(client, chosen, title, recordings.length > 1));
    return;
  }
  const size = one && one.requests > 0 ? ` (${plural(one.requests, "request")})` : "";
  app.replaceChildren(h("p", { class: "missing", role: "status" }, `Reading ${chosen}${size} …`));
  const report = await client.get<Report>("report", { recording: chosen });
  app.replaceChildren(...page(client, recordings, chosen, report));
}

function list(recordings: readonly Listed[]): HTMLElement {
  const items = recordings.map(({ name, title, created, nodes, requests, is_growing }) => {
    const facts = [title, date(created), nodes.join(", "), `${count(requests)} requests`];
    const said = facts.filter((fact) => fact !== "").join(" · ");
    const link = h("a", { href: `#recording=${encodeURIComponent(name)}` }, name);
    const live = is_growing && h("strong", { class: "live-state on" }, "● live");
    return h("li", {}, link, live, h("span", { class: "quiet" }, said));
  });
  return h("main", {}, h("h1", {}, "Recordings"), h("ul", { class: "recordings" }, ...items));
}

async function start(): Promise<void> {
  const app = document.getElementById("app");
  if (!app) return;
  const client = new Client();
  const said = h("p", { role: "alert" });
  const form = tokenForm(client);
  const gone = h("div", { class: "gone", hidden: true }, said, form.root);
  document.body.prepend(gone);
  client.onPresence((presence) => {
    setText(said, presence === "gone" ? GONE : client.hasToken ? REFUSED : NO_TOKEN);
    form.root.hidden = presence !== "refusing";
    gone.hidden = presence === "there";
  });
  let isMissing = false;
  const open = async (): Promise<void> => {
    isMissing = false;
    try {
      await show(app, client);
    } catch (cause) {
      isMissing = cause instanceof Gone;
      if (cause instanceof Refused) {
        // The reason is above.
        app.replaceChildren();
        form.field.focus();
        return;
      }
      const why = cause instanceof Error ? cause.message : String(cause);
      app.replaceChildren(h("p", { class: "missing failure", role: "alert" }, why));
    }
  };
  client.onReturn(() => {
    if (isMissing) void open();
  });
  await open();
  let shown = pageOf(location.hash);
  addEventListener("hashchange", () => {
    // Each recording has a page of its own, or two while it grows, and so has a server that was started again, whose link has a
    // token.
    const next = pageOf(location.hash);
    if (next !== shown || new URLSearchParams(location.hash.slice(1)).has("token")) location.reload();
    shown = next;
  });
}

/** The page that an address leads to, whatever is chosen in it. */
function pageOf(hash: string): string {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  return JSON.stringify([fields.get("recording") ?? "", fields.has("closer"), fields.get("at")]);
}

void start();
