import { tellAll } from "../failure";
import { keepInTab, takeToken } from "./token";

/** How often the server is asked whether it is still there. */
const PING_MS = 4000;

/** Why there is no answer, in a sentence for a person. */
export class NoAnswer extends Error {}

/** There is no answer because the server is gone. It may come back. */
export class Gone extends NoAnswer {
  constructor(why = "The server does not answer.") {
    super(why);
  }
}

/** The server refuses the token. It answers once it is given the right one. */
export class Refused extends Gone {}

/** Whether the server answers; `refusing` if it takes another token, as one that was started again does. */
export type Presence = "there" | "gone" | "refusing";

export type Parameters = Record<string, string | null | undefined>;

/** Client of the server that this page came from. */
export class Client {
  #token: string;
  readonly #listeners: ((presence: Presence) => void)[] = [];
  #waiting: (() => void)[] = [];
  #presence: Presence = "there";

  constructor() {
    this.#token = takeToken();
    setInterval(() => {
      if (!document.hidden) void this.get("ping").catch(() => {});
    }, PING_MS);
  }

  get hasToken(): boolean {
    return this.#token !== "";
  }

  /** Uses another token from now on. Throws NoAnswer if the server refuses it. */
  async use(token: string): Promise<void> {
    const before = this.#token;
    this.#token = token;
    try {
      await this.get("ping");
    } catch (cause) {
      this.#token = before;
      throw cause;
    }
    keepInTab(token);
  }

  /** Reports when the server becomes unreachable or refuses this page, and when it is back. */
  onPresence(listener: (presence: Presence) => void): void {
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
    if (response.status === 401) {
      this.#present("refusing");
      throw new Refused(why);
    }
    this.#present("there");
    if (response.ok) return body as T;
    throw new NoAnswer(why);
  }

  #present(presence: Presence): void {
    if (presence === this.#presence) return;
    this.#presence = presence;
    tellAll(this.#listeners, presence);
    if (presence === "there") for (const done of this.#waiting.splice(0)) done();
  }
}
