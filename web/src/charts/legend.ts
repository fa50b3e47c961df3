import { h, setText } from "../dom";
import type { ColourName } from "../theme";

export type Mark = "line" | "dashed" | "area" | "dots";

export interface LegendEntry {
  label: string;
  colour: ColourName;
  /** The swatch is drawn in the style of the series. */
  mark: Mark;
}

/** Names of the series over a plot, with their values at the common cursor. */
export class Legend {
  readonly root: HTMLElement;
  readonly #values: HTMLElement[] = [];

  constructor(entries: readonly LegendEntry[], title: string | null) {
    this.root = h("div", { class: "legend" });
    if (title !== null) this.root.append(h("span", { class: "plot-title", title }, title));
    const list = h("ul");
    for (const entry of entries) {
      const value = h("span", { class: "value" });
      const swatch = h("span", { class: `swatch ${entry.mark}`, "aria-hidden": "true" });
      swatch.style.setProperty("--swatch", `var(--${entry.colour})`);
      this.#values.push(value);
      list.append(h("li", {}, swatch, h("span", {}, entry.label), value));
    }
    this.root.append(list);
  }

  write(values: readonly string[]): void {
    this.#values.forEach((element, index) => {
      setText(element, values[index] ?? "");
    });
  }
}
