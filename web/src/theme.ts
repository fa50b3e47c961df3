import { tellAll } from "./failure";
import type { Severity } from "./model";

/** Colours are declared once, in style/colours.css; canvases read them from there. */
export type ColourName =
  | "ground"
  | "panel"
  | "ink"
  | "muted"
  | "grid"
  | "accent"
  | Severity
  | "phase-edge"
  | "pause-server"
  | "pause-load"
  | "pause-recorder"
  | "intended"
  | "ok"
  | "ok-fill"
  | "failed"
  | "p50"
  | "p95"
  | "p99"
  | "p999"
  | "max"
  | "threshold"
  | "user"
  | "system"
  | "irq"
  | "steal"
  | "iowait"
  | "idle"
  | "rest"
  | `group-${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`;

const STORED = "helenus-theme";

/** Light or dark theme: the system's until the user chooses one. */
export class Theme {
  #colours = new Map<ColourName, string>();
  #listeners: (() => void)[] = [];
  readonly #probe: HTMLElement;
  readonly #system = matchMedia("(prefers-color-scheme: dark)");

  constructor() {
    this.#probe = document.createElement("span");
    this.#probe.hidden = true;
    document.body.append(this.#probe);
    const stored = this.#stored();
    if (stored) document.documentElement.dataset.theme = stored;
    this.#system.addEventListener("change", () => this.#changed());
    // Paper is white, so charts are redrawn in light colours for printing.
    let before: string | undefined;
    addEventListener("beforeprint", () => {
      before = document.documentElement.dataset.theme;
      this.#show("light");
    });
    addEventListener("afterprint", () => this.#show(before));
  }

  get dark(): boolean {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : this.#system.matches;
  }

  toggle(): void {
    const next = this.dark ? "light" : "dark";
    try {
      localStorage.setItem(STORED, next);
    } catch {
      // A file opened from disk may have no storage; the choice then lasts as long as the page.
    }
    this.#show(next);
  }

  colour(name: ColourName): string {
    const known = this.#colours.get(name);
    if (known !== undefined) return known;
    this.#probe.style.color = `var(--${name})`;
    const colour = getComputedStyle(this.#probe).color;
    this.#colours.set(name, colour);
    return colour;
  }

  subscribe(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #show(theme: string | undefined): void {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    this.#changed();
  }

  #changed(): void {
    this.#colours.clear();
    tellAll(this.#listeners);
  }

  #stored(): string | null {
    try {
      const stored = localStorage.getItem(STORED);
      return stored === "light" || stored === "dark" ? stored : null;
    } catch {
      return null;
    }
  }
}
