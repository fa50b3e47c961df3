/** The text in place of a chart that can't be drawn. */
export function failureText(what: string, cause: unknown): string {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return `${what} can't be drawn: ${reason}. The rest of the report is not affected. This is a bug of helenus: please report it.`;
}

/** Calls every listener, even if an earlier one failed; the errors are passed to the browser. */
export function tellAll<A extends unknown[]>(listeners: readonly ((...args: A) => void)[], ...args: A): void {
  for (const listener of listeners) {
    try {
      listener(...args);
    } catch (cause) {
      reportError(cause);
    }
  }
}
