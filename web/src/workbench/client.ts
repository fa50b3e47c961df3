const STORED = "helenus-token";
/** How often the server is asked whether it is still there. */
const PING_MS = 4000;

/** Why there is no answer, in a sentence for a person. */
export class NoAnswer extends Error {}

export type Parameters = Record<string, string | null | undefined>;

/** Client of the server that this page came from. */
export class Client {
  readonly #token: string;
  readonly #listeners: ((isThere: boolean) => void)[] = [];
  #isThere = true;

  constructor() {
    this.#token = takeToken();
    setInterval(() => {
      if (!document.hidden) void this.get("ping").catch(() => {});
    }, PING_MS);
  }

  /** Reports when the server becomes unreachable, and when it is back. */
  onPresence(listener: (isThere: boolean) => void): void {
    this.#listeners.push(listener);
  }

  /** Sends a query. Throws NoAnswer, or an AbortError after `signal`. */
  get<T>(name: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
    return this.#send<T>("GET", name, parameters, signal);
  }

  /** Asks the server to write something. Throws NoAnswer. */
  post<T>(name: string, parameters: Parameters): Promise<T> {
    return this.#send<T>("POST", name, parameters);
  }

  async #send<T>(
    method: "GET" | "POST",
    name: string,
    parameters: Parameters,
    signal?: AbortSignal,
  ): Promise<T> {
    const fields = Object.entries(parameters).filter((field): field is [string, string] => !!field[1]);
    const query = new URLSearchParams(fields).toString();
    let response: Response;
    try {
      response = await fetch(`/api/${name}${query === "" ? "" : `?${query}`}`, {
        method,
        headers: { Authorization: `Bearer ${this.#token}` },
        signal: signal ?? null,
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      this.#present(false);
      throw new NoAnswer("The server does not answer.");
    }
    this.#present(true);
    const body = (await response.json()) as T | { error: string };
    if (response.ok) return body as T;
    throw new NoAnswer((body as { error: string }).error);
  }

  #present(isThere: boolean): void {
    if (isThere === this.#isThere) return;
    this.#isThere = isThere;
    for (const listener of this.#listeners) listener(isThere);
  }
}

/** The token from the link, which then leaves the address; later from this browser's memory for this server. */
function takeToken(): string {
  const fields = new URLSearchParams(location.hash.replace(/^#/, ""));
  const given = fields.get("token");
  if (given === null) return read();
  fields.delete("token");
  const rest = fields.toString();
  history.replaceState(null, "", rest === "" ? location.pathname : `#${rest}`);
  try {
    localStorage.setItem(STORED, given);
  } catch {
    // Without storage the link works until the page is closed.
  }
  return given;
}

function read(): string {
  try {
    return localStorage.getItem(STORED) ?? "";
  } catch {
    return "";
  }
}
