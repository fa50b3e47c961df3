import { h, setText } from "../../dom";
import type { Controlled, Controls, SettingNow } from "../../model";
import { type Client, Gone, type Parameters } from "../client";

const EACH_MS = 5000;
const MINUTES: [number, string][] = [
  [5, "5 min"],
  [15, "15 min"],
  [60, "1 h"],
  [1440, "1 day"],
];
const HOW =
  "To change nodes here, start helenus serve with --allow-control. On the command line there are helenus valve, tune and pin.";

type Field = HTMLSelectElement | HTMLInputElement;

const options = (values: readonly string[], prefix = ""): HTMLElement[] =>
  values.map((value) => h("option", { value: prefix + value }, value));

const minutes = (): HTMLSelectElement =>
  h("select", {}, ...MINUTES.map(([value, text]) => h("option", { value, selected: value === 15 }, text)));

/** Changes the nodes that are being recorded and what is recorded, and lists the changes, each with its undo. */
export class Control {
  readonly root = h("section", { class: "control", "aria-label": "Control" });
  readonly #said = h("p", { role: "status", class: "said" });
  readonly #made = h("ul", { class: "made" });
  readonly #changes = h("div", {});
  /** Each form with what it was made of. */
  readonly #forms = new Map<string, { of: string; form: HTMLElement }>();
  readonly #node = h("select", {});
  /** Whether the text is the reason why the last question failed. */
  #isLost = false;
  /** Reads the value of the chosen setting again. */
  #readAgain = (): void => {};
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly client: Client,
    private readonly recording: string,
  ) {
    this.root.append(this.#changes, this.#said, this.#made);
  }

  /** Asks again, now and then. */
  update(): void {
    if (performance.now() - this.#askedAt < EACH_MS) return;
    this.#askedAt = performance.now();
    this.client
      .get<Controls>("controls", { recording: this.recording })
      .then((controls) => {
        this.#show(controls);
        if (this.#isLost) setText(this.#said, "");
        this.#isLost = false;
      })
      .catch((cause: unknown) => {
        this.#say(cause);
        this.#isLost = true;
        if (cause instanceof Gone) this.#askedAt = Number.NEGATIVE_INFINITY;
      });
  }

  #say(cause: unknown): void {
    setText(this.#said, cause instanceof Error ? cause.message : String(cause));
  }

  #show(controls: Controls): void {
    const { is_allowed, made } = controls;
    const changes = is_allowed
      ? this.#all(controls)
      : [this.#kept("how", null, () => h("p", { class: "note" }, HOW))];
    // A form that stays is not touched, which would take the cursor out of its fields.
    let at = this.#changes.firstElementChild;
    for (const change of changes) {
      if (at === change) at = at.nextElementSibling;
      else this.#changes.insertBefore(change, at);
    }
    while (at !== null) {
      const next = at.nextElementSibling;
      at.remove();
      at = next;
    }
    this.#made.replaceChildren(...made.toReversed().map((one) => this.#line(one)));
  }

  /** Returns the form that was made of these values, or makes it: a form stays while somebody fills it in. */
  #kept(name: string, values: unknown, make: () => HTMLElement): HTMLElement {
    const of = JSON.stringify(values);
    const kept = this.#forms.get(name);
    if (kept?.of === of) return kept.form;
    const form = make();
    this.#forms.set(name, { of, form });
    return form;
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

  #all({ nodes, points, stages, laws, settings, strategies, sources }: Controls): HTMLElement[] {
    const node = this.#kept("node", nodes, () => {
      const chosen = this.#node.value;
      this.#node.replaceChildren(...options(nodes));
      if (nodes.includes(chosen)) this.#node.value = chosen;
      return h("p", { class: "filters" }, h("label", {}, "Node ", this.#node));
    });
    const forms = [
      this.#kept("valve", [points, stages, laws], () => this.#valve(points, stages, laws)),
      this.#kept("setting", settings, () => this.#setting(settings)),
      this.#kept("threads", strategies, () => this.#threads(strategies)),
    ];
    if (sources.length > 0) forms.push(this.#kept("sources", sources, () => this.#source(sources)));
    return nodes.length > 1 ? [node, ...forms] : forms;
  }

  #valve(points: readonly string[], stages: readonly string[], laws: readonly string[]): HTMLElement {
    const name = h("input", {
      type: "text",
      required: true,
      maxlength: 40,
      pattern: "[A-Za-z0-9._\\-]+",
      value: stages[0] ?? points[0] ?? "",
    });
    // A stage changes no class, so that any node takes such a valve.
    const place = h(
      "select",
      {},
      h("optgroup", { label: "Stages" }, ...options(stages, "stage:")),
      h("optgroup", { label: "Requests" }, ...options(points, "at:")),
    );
    place.addEventListener("change", () => {
      name.value = place.value.split(":")[1] ?? "";
    });
    const law = h(
      "select",
      {},
      ...laws.map((value) => h("option", { value, selected: value === "throughput" }, value)),
    );
    const limit = h("input", { type: "text", inputmode: "numeric", pattern: "[1-9][0-9]{0,6}", size: 7 });
    return this.#form(
      "Valve",
      "add-valve",
      "Add valve",
      "Adding the valve…",
      {
        place: ["At ", place],
        name: ["Name ", name],
        law: ["Law ", law],
        limit: ["Limit ", limit, "The limit of the law fixed; the largest one of others"],
        minutes: ["Opens after ", minutes()],
      },
      ({ place: chosen, ...others }) => {
        const [kind, value] = (chosen ?? "").split(":");
        return { ...others, [kind ?? ""]: value ?? "" };
      },
    );
  }

  #setting(settings: Controls["settings"]): HTMLElement {
    // A setting of a table has no value before the table is named.
    const inOrder = settings.toSorted((a, b) => Number(a.is_of_table) - Number(b.is_of_table));
    const name = h("select", {}, ...options(inOrder.map((one) => one.name)));
    const value = h("input", { type: "text", required: true });
    const table = h("input", { type: "text", size: 24, placeholder: "KEYSPACE.TABLE", pattern: ".+\\..+" });
    const what = h("span", { class: "note" });
    const current = h("span", { class: "now", "aria-live": "polite" });
    const form = this.#form("Setting", "set", "Set", "Setting…", {
      name: ["", name],
      table: ["of ", table],
      value: ["to ", value],
      minutes: ["Set back after ", minutes()],
    });
    const describe = (): void => {
      const chosen = settings.find((one) => one.name === name.value);
      const isNumber = chosen?.form === "N";
      value.pattern = isNumber ? "[0-9]{1,12}" : ".+";
      value.inputMode = isNumber ? "numeric" : "text";
      value.size = isNumber ? 10 : 40;
      value.placeholder = chosen?.form ?? "";
      const isOfTable = chosen?.is_of_table ?? false;
      table.required = isOfTable;
      table.disabled = !isOfTable;
      if (table.parentElement) table.parentElement.hidden = !isOfTable;
      setText(what, chosen?.what ?? "");
    };
    const read = (): void => {
      const of = table.disabled ? "" : table.value;
      if (!table.disabled && !table.validity.valid) setText(current, "");
      else void this.#readNow(name.value, of, current);
    };
    name.addEventListener("change", () => {
      describe();
      read();
    });
    table.addEventListener("change", read);
    this.#node.addEventListener("change", read);
    describe();
    read();
    this.#readAgain = read;
    form.append(current, what);
    return form;
  }

  #threads(strategies: readonly string[]): HTMLElement {
    const strategy = h("select", {}, ...options(strategies));
    return this.#form("Threads", "place", "Place threads", "Placing threads…", {
      strategy: ["By ", strategy, "Threads that start later are placed, too"],
      minutes: ["Put back after ", minutes()],
    });
  }

  #source(sources: Controls["sources"]): HTMLElement {
    const name = h("select", {}, ...options(sources.map((one) => one.name)));
    const value = h("select", {});
    const fill = (): void => {
      const chosen = sources.find((one) => one.name === name.value);
      const choices = chosen?.values ?? [];
      value.replaceChildren(
        ...choices.map((one) => h("option", { value: one }, one === chosen?.value ? `${one} (now)` : one)),
      );
      value.value = chosen?.value ?? "";
    };
    name.addEventListener("change", fill);
    fill();
    return this.#form("Recording", "switch", "Change", "Starting and stopping sources…", {
      name: ["", name, "An option of helenus record"],
      value: ["is ", value],
    });
  }

  /** A form whose fields are the parameters of a question. A disabled field is left out. */
  #form(
    title: string,
    question: string,
    button: string,
    doing: string,
    fields: Record<string, [string, Field, string?]>,
    asked: (given: Record<string, string>) => Record<string, string> = (given) => given,
  ): HTMLElement {
    const act = h("button", { type: "submit", class: "primary" }, button);
    const labels = Object.entries(fields).map(([name, [label, field, about]]) => {
      if (label === "") field.setAttribute("aria-label", `${title}: ${name}`);
      return label === "" ? field : h("label", { title: about ?? null }, label, field);
    });
    const form = h("form", { class: "filters", "aria-label": title }, h("strong", {}, title), ...labels, act);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = Object.fromEntries(
        Object.entries(fields).flatMap(([name, [, field]]) => (field.disabled ? [] : [[name, field.value]])),
      );
      void this.#change(doing, question, { node: this.#node.value, ...asked(given) }, [act]);
    });
    return form;
  }

  /** Writes the current value of a setting, which a page that was opened long ago does not know. */
  async #readNow(name: string, table: string, into: HTMLElement): Promise<void> {
    const node = this.#node.value;
    setText(into, "Reading its value …");
    const asked = { recording: this.recording, node, name, table };
    const said = await this.client.get<SettingNow>("setting-now", asked).then(
      ({ value }) => `now ${value}`,
      (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)),
    );
    setText(into, said);
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
      this.#readAgain();
    } catch (cause) {
      this.#say(cause);
    }
    for (const button of buttons) button.disabled = false;
  }
}
