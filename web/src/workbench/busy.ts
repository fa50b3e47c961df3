import { h } from "../dom";

const READING = "reading";

/** Shows that the content of an element is being read. The content keeps its place until `settle`. */
export function busy(element: HTMLElement, says: string): void {
  settle(element);
  element.setAttribute("aria-busy", "true");
  element.append(h("p", { class: READING, role: "status" }, says));
}

/** Ends what `busy` began. */
export function settle(element: HTMLElement): void {
  element.removeAttribute("aria-busy");
  for (const line of element.querySelectorAll(`:scope > .${READING}`)) line.remove();
}
