import { h } from "./dom";

/** Copies text; returns whether it worked. A page opened from a file may lack the modern API. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "visually-hidden", "aria-hidden": "true" });
    const focused = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return copied;
  }
}

const SAID_MS = 1600;

/** A copy button, which confirms beside the pointer. */
export function copyButton(
  label: string,
  description: string,
  copy: () => Promise<boolean>,
): HTMLButtonElement {
  const word = h("span", { "aria-live": "polite" }, label);
  const button = h("button", { type: "button", class: "copy", title: description }, word);
  button.addEventListener("click", async () => {
    word.textContent = (await copy()) ? "Copied" : "Copy refused";
    setTimeout(() => {
      word.textContent = label;
    }, SAID_MS);
  });
  return button;
}
