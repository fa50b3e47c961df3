import { tellAll } from "../failure";

const STORED = "helenus-token";
/** How often the server is asked whether it is still there. */
const PING_MS = 4000;

/** Why there is no answer, in a sentence for a person. */
export class NoAnswer extends Error {}

/** There is no answer because the server is gone. It may come back. */
export class Gone extends NoAnswer {
  constructor() {
    super("The server does not answer.");
  }
}

/** Whether the server answers; `refusing` if it takes another token, as one that was started again does. */
export type Presence = "there" | "gone" | "refusing";

export type Parameters = Record<string, string | null | undefined>;

/** Client of the server that this page came from. */
export class Client {
  readonly #token: string;
  readonly #listeners: ((presence: Presence, why: string) => void)[] = [];
  #waiting: (() => void)[] = [];
  #presence: Presence = "there";

  constructor() {
    this.#token = takeToken();
    setInterval(() => {
      if (!document.hidden) void this.get("ping").catch(() => {});
    }, PING_MS);
  }

  /** Reports when the server becomes unreachable or refuses this page, with the reason, and when it is back. */
  onPresence(listener: (presence: Presence, why: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Waits until the server is back, after it was gone. */
  back(): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push(done);
    });
  }

  /** Calls it whenever the server is back. */
  onReturn(listener: () => void): void {
    this.onPresence((presence) => {
      if (presence === "there") listener();
    });
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
    let body: T | { error: string };
    try {
      response = await fetch(`/api/${name}${query === "" ? "" : `?${query}`}`, {
        method,
        headers: { Authorization: `Bearer ${this.#token}` },
        signal: signal ?? null,
      });
      // Cut off if the server ends meanwhile.
      body = (await response.json()) as typeof body;
    } catch (cause) {
      if (signal?.aborted) throw cause;
      this.#present("gone");
      throw new Gone();
    }
    const why = response.ok ? "" : (body as { error: string }).error;
    if (response.status === 401) this.#present("refusing", why);
    else this.#present("there");
    if (response.ok) return body as T;
    throw new NoAnswer(why);
  }

  #present(presence: Presence, why = ""): void {
    if (presence === this.#presence) return;
    this.#presence = presence;
    tellAll(this.#listeners, presence, why);
    if (presence === "there") for (const done of this.#waiting.splice(0)) done();
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
