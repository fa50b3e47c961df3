import { h } from "../dom";
import { failureText } from "../failure";

/**
 * Builds a part of the page. If that fails, an error message takes its place, and the rest of the page is
 * built.
 */
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
