type Attribute = string | number | boolean | null | undefined | EventListener;
type Child = Node | string | number | null | undefined | false;

/**
 * Makes an element: `on…` attributes are listeners, `true` sets an empty attribute, `false` and null set
 * none. Text is always text, never markup.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false)
      element.append(typeof child === "number" ? String(child) : child);
  }
  return element;
}

/** Sets text only where it changed, so that a cursor that moves does not relayout the page. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Goes to a part of the page. Not by its address, which belongs to the selection. */
export function jumpTo(id: string): void {
  const target = document.getElementById(id);
  target?.scrollIntoView();
  target?.focus({ preventScroll: true });
}
