import { h, setText } from "../../dom";
import type { Controlled, Controls } from "../../model";
import type { Client, Parameters } from "../client";

const EACH_MS = 5000;
/** Classes of requests that a valve can stand at. */
const POINTS = ["lwt", "scans", "slices", "reads", "batches", "writes", "counters", "request"];
const MINUTES: [number, string][] = [
  [5, "5 min"],
  [15, "15 min"],
  [60, "1 h"],
  [1440, "1 day"],
];

/** Adds valves to the nodes that are being recorded, and lists what was changed from the workbench, each with its undo. */
export class Control {
  readonly root = h("section", { class: "control", "aria-label": "Control" });
  readonly #said = h("p", { role: "status", class: "said" });
  readonly #made = h("ul", { class: "made" });
  #askedAt = Number.NEGATIVE_INFINITY;
  #shape = "";

  constructor(
    private readonly client: Client,
    private readonly recording: string,
  ) {}

  /** Asks again, now and then. */
  update(): void {
    if (performance.now() - this.#askedAt < EACH_MS) return;
    this.#askedAt = performance.now();
    this.client
      .get<Controls>("controls", { recording: this.recording })
      .then((controls) => this.#show(controls))
      .catch((cause: unknown) => this.#say(cause));
  }

  #say(cause: unknown): void {
    setText(this.#said, cause instanceof Error ? cause.message : String(cause));
  }

  #show({ is_allowed, nodes, stages, laws, made }: Controls): void {
    // The form stays as it is while somebody fills it in.
    const shape = JSON.stringify([is_allowed, nodes]);
    if (shape !== this.#shape) {
      this.#shape = shape;
      const how =
        "To add valves here, start helenus serve with --allow-control. helenus valve adds them from the command line.";
      this.root.replaceChildren(
        ...(is_allowed ? [this.#form(nodes, stages, laws)] : [h("p", { class: "note" }, how)]),
        this.#said,
        this.#made,
      );
    }
    this.#made.replaceChildren(...made.toReversed().map((one) => this.#line(one)));
  }

  #line({ number, when, who, node, what, undone }: Controlled): HTMLElement {
    const undo = h("button", { type: "button" }, "Undo");
    undo.addEventListener(
      "click",
      () => void this.#change("Undoing…", "undo", { number: String(number) }, [undo]),
    );
    return h(
      "li",
      { class: undone === null ? null : "quiet" },
      undone === null && undo,
      h("span", {}, `${when}: ${who} ${what}, in ${node}${undone === null ? "" : `; ${undone}`}`),
    );
  }

  #form(nodes: readonly string[], stages: readonly string[], laws: readonly string[]): HTMLElement {
    const options = (values: readonly string[], prefix: string): HTMLElement[] =>
      values.map((value) => h("option", { value: `${prefix}:${value}` }, value));
    const node = h("select", {}, ...nodes.map((name) => h("option", { value: name }, name)));
    const name = h("input", {
      type: "text",
      required: true,
      maxlength: 40,
      pattern: "[A-Za-z0-9._\\-]+",
      value: "lwt",
    });
    const place = h(
      "select",
      {},
      h("optgroup", { label: "Requests" }, ...options(POINTS, "at")),
      h("optgroup", { label: "Stages" }, ...options(stages, "stage")),
    );
    const law = h(
      "select",
      {},
      ...laws.map((value) => h("option", { value, selected: value === "throughput" }, value)),
    );
    const limit = h("input", { type: "text", inputmode: "numeric", pattern: "[1-9][0-9]{0,6}", size: 7 });
    const minutes = h(
      "select",
      {},
      ...MINUTES.map(([value, text]) => h("option", { value, selected: value === 15 }, text)),
    );
    const add = h("button", { type: "submit", class: "primary" }, "Add valve");
    const form = h(
      "form",
      { class: "filters" },
      nodes.length > 1 && h("label", {}, "Node ", node),
      h("label", {}, "At ", place),
      h("label", {}, "Name ", name),
      h("label", {}, "Law ", law),
      h("label", { title: "The limit of the law fixed; the largest one of others" }, "Limit ", limit),
      h("label", {}, "Opens after ", minutes),
      add,
    );
    place.addEventListener("change", () => {
      name.value = place.value.split(":")[1] ?? "";
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [kind, value] = place.value.split(":");
      const asked = {
        node: node.value,
        name: name.value,
        [kind ?? ""]: value,
        law: law.value,
        limit: limit.value,
        minutes: minutes.value,
      };
      void this.#change("Adding the valve…", "add-valve", asked, [add]);
    });
    return form;
  }

  async #change(
    doing: string,
    name: string,
    parameters: Parameters,
    buttons: readonly HTMLButtonElement[],
  ): Promise<void> {
    for (const button of buttons) button.disabled = true;
    setText(this.#said, doing);
    try {
      this.#show(await this.client.post<Controls>(name, { recording: this.recording, ...parameters }));
      setText(this.#said, "");
    } catch (cause) {
      this.#say(cause);
    }
    for (const button of buttons) button.disabled = false;
  }
}
