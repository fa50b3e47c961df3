import { h } from "../dom";
import { bytes, plural } from "../format";
import type { FlameTree } from "../model";
import type { Theme } from "../theme";
import { colour, depths, draw, nodeAt, ROW, type View } from "./draw";
import { hottest, matchedWeight, matcher, type Placed, place, share } from "./tree";

const HOTTEST = 40;
const KINDS = [
  ["j", "Java"],
  ["c", "JVM"],
  ["n", "native"],
  ["k", "kernel"],
] as const;

const percent = (part: number) => `${(part * 100).toFixed(part < 0.0995 ? 2 : 1)} %`;

export function quantity(event: string, weight: number): string {
  if (event === "alloc") return bytes(weight);
  return weight >= 1e9 ? `${(weight / 1e9).toFixed(2)} s` : `${(weight / 1e6).toFixed(1)} ms`;
}

/** The subject of the graph, in a sentence. */
const samples = (number: number): string => plural(number, "sample");

export function caption(data: FlameTree): string {
  const [own, other] = [data.nodes.weight, data.nodes.other].map(([all]) => quantity(data.event, all ?? 0));
  if (data.against !== "")
    return `${data.event}, ${data.title}: ${own} (${samples(data.samples)}); ${data.against}: ${other} (${samples(data.other_samples)}). Red is a larger share of its side, blue a smaller one.`;
  const { counted_ns } = data;
  const of = `${samples(data.samples)} of ${data.event}, ${own}`;
  return counted_ns === undefined
    ? of
    : `${of} of the ${quantity(data.event, counted_ns)} that the kernel counted`;
}

/** A flame graph in the page. */
export interface FlameGraph {
  root: HTMLElement;
  /** Shows other weights of the same nodes, such as those of a stretch of time. The zoom is kept. */
  show(data: FlameTree): void;
}

/** A flame graph to search and zoom in, with the table behind it. */
export function flameGraph(first: FlameTree, theme: Theme): FlameGraph {
  let data = first;
  let placed = place(data);
  let all = placed[0] as Placed;
  const view: View = {
    placed,
    root: all,
    width: 0,
    height: 0,
    icicle: true,
    dark: theme.dark,
    matches: null,
    hovered: null,
    compared: data.against !== "",
  };
  const canvas = h("canvas", {
    tabindex: 0,
    role: "img",
  });
  const nameCanvas = () =>
    canvas.setAttribute(
      "aria-label",
      `Flame graph of ${data.against === "" ? `${data.samples} samples` : "a comparison"}; its hottest frames are in the table below`,
    );
  nameCanvas();
  const said = h("p", { class: "said", role: "status" });
  const search = h("input", { type: "search", placeholder: "Search frames", "aria-label": "Search frames" });
  const matched = h("output", {});
  const back = h("button", { type: "button" }, "Zoom out");

  const redraw = () => {
    view.width = canvas.parentElement?.clientWidth ?? 0;
    view.height = depths(view) * ROW;
    const ratio = devicePixelRatio;
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    canvas.style.height = `${view.height}px`;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.scale(ratio, ratio);
    draw(context, view);
    back.disabled = view.root === all;
  };
  const describe = (node: Placed | null) => {
    if (!node) {
      said.textContent = "";
      return;
    }
    const parts = [
      node.text,
      `${quantity(data.event, node.weight)}, ${percent(share(node.weight, all.weight))}`,
      `itself ${percent(share(node.self, all.weight))}`,
    ];
    if (view.compared) parts.push(`${percent(share(node.other, all.other))} of ${data.against}`);
    said.textContent = parts.join(" · ");
  };
  const zoom = (node: Placed) => {
    view.root = node;
    redraw();
  };
  const under = (event: MouseEvent) => {
    const frame = canvas.getBoundingClientRect();
    return nodeAt(view, event.clientX - frame.left, event.clientY - frame.top);
  };
  canvas.addEventListener("mousemove", (event) => {
    const node = under(event);
    if (node === view.hovered) return;
    view.hovered = node;
    describe(node);
    redraw();
  });
  canvas.addEventListener("mouseleave", () => {
    view.hovered = null;
    describe(null);
    redraw();
  });
  canvas.addEventListener("click", (event) => {
    const node = under(event);
    if (node) zoom(node);
  });
  back.addEventListener("click", () =>
    zoom(view.root.parent >= 0 ? (placed[view.root.parent] as Placed) : all),
  );
  const match = () => {
    view.matches = matcher(search.value);
    matched.textContent = view.matches
      ? `${percent(share(matchedWeight(placed, view.matches), all.weight))} matched`
      : "";
    redraw();
  };
  search.addEventListener("input", match);
  theme.subscribe(() => {
    view.dark = theme.dark;
    redraw();
    legend.replaceChildren(...legendOf(view, placed, all));
  });
  const turn = h("button", { type: "button", "aria-pressed": "true" }, "Root on top");
  turn.addEventListener("click", () => {
    view.icicle = !view.icicle;
    turn.setAttribute("aria-pressed", String(view.icicle));
    redraw();
  });
  const legend = h("ul", { class: "legend" }, ...legendOf(view, placed, all));
  const behind = h("details", {}, h("summary", {}, "Hottest frames"), table(data, placed, all, search));
  const root = h(
    "div",
    { class: "flame" },
    h("div", { class: "tools" }, search, matched, back, turn),
    legend,
    h("div", { class: "graph" }, canvas),
    said,
    behind,
  );
  // Keys do not pass between the graph and the page around it.
  root.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape") {
      search.value = "";
      search.dispatchEvent(new Event("input"));
      zoom(all);
    }
  });
  new ResizeObserver(redraw).observe(root);
  const show = (other: FlameTree) => {
    data = other;
    placed = view.placed = place(data);
    all = placed[0] as Placed;
    const zoomed = placed[view.root.index];
    view.root = zoomed && zoomed.weight > 0 ? zoomed : all;
    view.hovered = null;
    describe(null);
    nameCanvas();
    legend.replaceChildren(...legendOf(view, placed, all));
    behind.lastElementChild?.replaceWith(table(data, placed, all, search));
    match();
  };
  return { root, show };
}

function button(text: string, onclick: () => void): HTMLElement {
  return h("button", { type: "button", onclick }, text);
}

/** The share of each kind of frame among the innermost frames. */
function legendOf(view: View, placed: Placed[], all: Placed): HTMLElement[] {
  if (view.compared) return [];
  const own = (kinds: string) =>
    placed.reduce((sum, node) => (kinds.includes(node.kind) ? sum + node.self : sum), 0);
  return KINDS.map(([kind, name]) => {
    const swatch = h("span", { class: "swatch" });
    swatch.style.background = colour(kind, "", view.dark);
    return h("li", {}, swatch, `${name} ${percent(share(own(kind === "j" ? "jl1i" : kind), all.weight))}`);
  });
}

function table(data: FlameTree, placed: Placed[], all: Placed, search: HTMLInputElement): HTMLElement {
  const hot = hottest(placed, HOTTEST).filter(({ total }) => total > 0);
  const rows = hot.map(({ text, self, total }) =>
    h(
      "tr",
      {},
      h("td", { class: "number" }, percent(share(self, all.weight))),
      h("td", { class: "number" }, percent(share(total, all.weight))),
      h("td", { class: "number" }, quantity(data.event, self)),
      h(
        "td",
        {},
        button(text, () => {
          search.value = text;
          search.dispatchEvent(new Event("input"));
          search.scrollIntoView();
        }),
      ),
    ),
  );
  return h(
    "table",
    {},
    h("caption", {}, "By their own share"),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ...["Itself", "With callees", "Itself", "Frame"].map((text) => h("th", { scope: "col" }, text)),
      ),
    ),
    h("tbody", {}, ...rows),
  );
}
