import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const TARGET = process.env.CARGO_TARGET_DIR ?? join(homedir(), ".cache", "helenus", "target");
/** `make test` names the binary that it has built. */
export const BINARY = process.env.HELENUS_TEST_BINARY ?? join(TARGET, "release", "helenus");
const WAIT_MS = 60_000;
const LOOK_MS = 50;

/** Why the binary can't be run; null where it can, or where it was named and so has to be there. */
export function whyNoBinary(): string | null {
  if (process.env.HELENUS_TEST_BINARY !== undefined || existsSync(BINARY)) return null;
  return `there is no ${BINARY}: run make build`;
}

/** The binary itself, as a user runs it. */
export class Helenus {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #printed = "";
  #isOver = false;

  constructor(folder: string, ...words: string[]) {
    const env = { ...process.env, NO_COLOR: "1", XDG_STATE_HOME: join(folder, "state") };
    this.#child = spawn(BINARY, words, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        this.#printed += chunk.toString();
      });
    this.#ended = new Promise((done) => {
      const end = (code: number | null): void => {
        this.#isOver = true;
        done(code);
      };
      this.#child.on("close", end);
      this.#child.on("error", (cause) => {
        this.#printed += cause.message;
        end(null);
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Waits until it has printed a text. */
  async says(text: RegExp): Promise<string> {
    await until(`${text} of helenus`, () => {
      if (text.test(this.#printed)) return true;
      if (this.#isOver) throw new Error(`helenus has ended: ${this.#printed}`);
      return false;
    });
    return text.exec(this.#printed)?.[0] ?? "";
  }

  /** Waits until it ends by itself. */
  async ends(): Promise<void> {
    if ((await this.#ended) !== 0) throw new Error(`helenus failed: ${this.#printed}`);
  }

  /** Ends it as Ctrl-C does. */
  async interrupt(): Promise<void> {
    if (!this.#isOver) this.#child.kill("SIGINT");
    await this.#ended;
  }
}

/** Waits for a condition. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const over = Date.now() + WAIT_MS;
  while (!holds()) {
    if (Date.now() > over) throw new Error(`waited in vain for ${what}`);
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}
