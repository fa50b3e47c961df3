import { h } from "../dom";
import { failureText } from "../failure";

/** A part of the page; where it can't be built the page says so in its place, and goes on. */
export function contained(title: string, build: () => HTMLElement[]): HTMLElement[] {
  try {
    return build();
  } catch (cause) {
    reportError(cause);
    return [
      h(
        "section",
        { "aria-label": title },
        h("h2", {}, title),
        h("p", { class: "missing failure", role: "alert" }, failureText(title, cause)),
      ),
    ];
  }
}
