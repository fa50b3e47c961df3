import "../style/colours.css";
import "./graph.css";
import "./page.css";
import "./scope.css";
import { h } from "../dom";
import type { FlameTree } from "../model";
import { Theme } from "../theme";
import { caption, flameGraph } from "./graph";
import { scopeView } from "./scope-view";
import { inTheAddress } from "./stretch-choice";

function show(data: FlameTree): HTMLElement[] {
  const theme = new Theme();
  document.title = `${data.title} – flame graph – Helenus`;
  const graph = flameGraph(data, theme);
  const scope = data.scope && scopeView(data, data.scope, theme, inTheAddress(data.scope), graph.show);
  addEventListener("keydown", (event) => {
    // In a text field Escape has another meaning.
    if (event.key === "Escape" && !event.defaultPrevented) scope?.giveUp();
  });
  return [
    h(
      "header",
      {},
      h("h1", {}, data.title),
      h("p", {}, caption(data)),
      h("button", { type: "button", onclick: () => theme.toggle() }, "Light or dark"),
    ),
    h("main", {}, scope?.root, graph.root),
  ];
}

const app = document.getElementById("app");
try {
  app?.append(...show(JSON.parse(document.getElementById("flame")?.textContent ?? "") as FlameTree));
} catch (cause) {
  const why = cause instanceof Error ? cause.message : String(cause);
  app?.append(
    h(
      "p",
      { role: "alert" },
      `There is no flame graph to show (${why}). Make one with: helenus flame RECORDING`,
    ),
  );
}
