import { h } from "../dom";

const READING = "reading";

/** Shows that the content of an element is being read. The content keeps its place until `settle`. */
export function busy(element: HTMLElement, says: string): void {
  const shown = element.querySelector(`:scope > .${READING}`);
  // A new line would appear again, after its delay.
  if (shown?.textContent === says) return;
  settle(element);
  element.setAttribute("aria-busy", "true");
  element.append(h("p", { class: READING, role: "status" }, says));
}

/** Ends what `busy` began. */
export function settle(element: HTMLElement): void {
  element.removeAttribute("aria-busy");
  element.querySelector(`:scope > .${READING}`)?.remove();
}
