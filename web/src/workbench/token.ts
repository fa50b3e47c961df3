const STORED = "helenus-token";

/** The token in a pasted link, or the pasted token itself; empty if there is none. */
export function tokenOf(text: string): string {
  const given = /(?:^|[#&])token=([^&\s]*)/.exec(text)?.[1] ?? text.trim();
  return /^[\w-]+$/.test(given) ? given : "";
}

/** The token from the link, which then leaves the address; later from this tab's or this browser's memory. */
export function takeToken(): string {
  const fields = new URLSearchParams(location.hash.replace(/^#/, ""));
  const given = fields.get("token");
  if (given === null)
    return stored(() => sessionStorage.getItem(STORED) ?? localStorage.getItem(STORED)) ?? "";
  fields.delete("token");
  const rest = fields.toString();
  history.replaceState(null, "", rest === "" ? location.pathname : `#${rest}`);
  // Without storage the link works until the page is closed.
  stored(() => {
    sessionStorage.removeItem(STORED);
    localStorage.setItem(STORED, given);
  });
  return given;
}

/** Keeps a pasted token until the tab is closed. */
export function keepInTab(token: string): void {
  stored(() => sessionStorage.setItem(STORED, token));
}

/** Uses the browser's memory; undefined if it has none. */
function stored<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
