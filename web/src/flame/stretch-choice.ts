import type { FlameScope } from "../model";
import { formatStretch, parseStretch, type Stretch } from "./scope";

/**
 * Keeps the selected stretch of time in the address, so that links and "back" restore it; null is the whole
 * run.
 */
export interface StretchChoice {
  current(): Stretch | null;
  choose(stretch: Stretch | null): void;
  onChange(listener: () => void): void;
}

/** Keeps the selection in the address of a page that has no other selection. */
export function inTheAddress(scope: FlameScope): StretchChoice {
  const listeners: (() => void)[] = [];
  const tell = () => {
    for (const listener of listeners) listener();
  };
  addEventListener("popstate", tell);
  return {
    current: () => parseStretch(location.hash, scope),
    choose: (stretch) => {
      const hash = formatStretch(stretch, scope);
      if (hash !== location.hash) history.pushState(null, "", hash === "" ? location.pathname : hash);
      tell();
    },
    onChange: (listener) => listeners.push(listener),
  };
}
