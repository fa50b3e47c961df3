import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { BINARY, Helenus } from "../sample/helenus";

const NODE = "127.0.43.9";
const RATE = Number(process.env.RATE ?? "5000");
const TURNS = Number(process.env.TURNS ?? "5");
const TURN_MS = 10_000;
/** A stop is longer than the slowest request before it by this much, so that nothing but the stop reaches its length. */
const LONGER_MS = 1000;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** CPU time of a process so far in ms, where the kernel counts 100 ticks a second. */
function cpu_ms(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

function rss_mib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** The share of a CPU that each process takes, turn by turn. */
async function shares(pids: number[]): Promise<number[][]> {
  const turns: number[][] = pids.map(() => []);
  for (let turn = 0; turn < TURNS; turn += 1) {
    const [begun, before] = [performance.now(), pids.map(cpu_ms)];
    await pause(TURN_MS);
    pids.forEach((pid, place) => {
      const used = cpu_ms(pid) - (before[place] ?? 0);
      turns[place]?.push((100 * used) / (performance.now() - begun));
    });
  }
  return turns;
}

function say(what: string, values: number[], unit: string): void {
  const sorted = [...values].sort((a, b) => a - b).map((value) => value.toFixed(2));
  const middle = sorted[Math.floor(sorted.length / 2)];
  process.stdout.write(
    `    ${what}: ${middle} ${unit} (${sorted[0]} to ${sorted.at(-1)}, ${values.length} turns)\n`,
  );
}

/** CPU of the recorder, the server and the terminal's pages, and how long a stop of a node takes to be seen. */
test("what it costs to look at a node, and how soon a stop is seen", async ({ page }) => {
  test.setTimeout(15 * 60_000);
  const folder = mkdtempSync(join(tmpdir(), "helenus-looked-"));
  const running: Helenus[] = [];
  const run = (...words: string[]): Helenus => {
    const helenus = new Helenus(folder, ...words);
    running.push(helenus);
    return helenus;
  };
  const tmux = (...words: string[]): string =>
    execFileSync("tmux", ["-S", join(folder, "tmux"), ...words], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  try {
    await run("up", "--name", "looked", "--address", NODE).ends();
    await run(
      "load",
      "keyvalue/write",
      "--node",
      NODE,
      "--in-flight",
      "16",
      "--count",
      "20000",
      "-o",
      "populate",
    ).ends();
    run("load", "keyvalue/mixed", "--node", NODE, "--rate", String(RATE), "--for", "15m", "-o", "load");
    const record = run("record", "--node", NODE, "--keep", "30m", "-o", "live.helenus");
    await record.says(/Ctrl-C ends it/);
    const serve = run("serve", "live.helenus", "--listen", "127.0.0.1:0", "--json");
    const { link } = JSON.parse(await serve.says(/\{.*\}/)) as { link: string };
    await pause(30_000);
    const [recorder, idle] = await shares([record.pid, serve.pid]);
    say(`the recorder at ${RATE} requests/s`, recorder ?? [], "% of a CPU");
    say("helenus serve without a browser", idle ?? [], "% of a CPU");

    await page.goto(link);
    await expect(page.getByRole("status").first()).toContainText("Live", { timeout: 60_000 });
    const [looked] = await shares([serve.pid]);
    say("helenus serve with one browser", looked ?? [], "% of a CPU");

    const { nodes } = (
      JSON.parse(
        execFileSync(BINARY, ["ps", "--json"], {
          encoding: "utf8",
          env: { ...process.env, XDG_STATE_HOME: join(folder, "state") },
        }),
      ) as { nodes: { pid: number }[] }[]
    )[0] ?? { nodes: [] };
    const node = nodes[0]?.pid ?? 0;
    const slowest = page.getByRole("listitem").filter({ hasText: /^max/ }).locator("strong");
    const seen: number[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      // Requests that queued up during the stop before are answered.
      await pause(5000);
      const stop_ms = LONGER_MS + milliseconds((await slowest.textContent()) ?? "");
      process.kill(node, "SIGSTOP");
      await pause(stop_ms);
      process.kill(node, "SIGCONT");
      const begun = performance.now();
      const wanted = stop_ms - LONGER_MS / 2;
      await expect
        .poll(async () => milliseconds((await slowest.textContent()) ?? ""), {
          timeout: 30_000,
          intervals: [20],
        })
        .toBeGreaterThan(wanted);
      seen.push((performance.now() - begun) / 1000);
    }
    say("from the end of a stop to its picture", seen, "s");
    await page.close();

    const top = `exec ${BINARY} top live.helenus`;
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "50", "-c", folder, top);
    await pause(10_000);
    const [shown] = await shares([Number(tmux("list-panes", "-F", "#{pane_pid}"))]);
    say("helenus top", shown ?? [], "% of a CPU");
    process.stdout.write(
      `    memory of the recorder: ${rss_mib(record.pid).toFixed(0)} MiB, of the server: ${rss_mib(serve.pid).toFixed(0)} MiB\n`,
    );
  } finally {
    try {
      tmux("kill-server");
    } catch {
      // It was not started yet.
    }
    for (const helenus of running.reverse()) await helenus.interrupt();
    await new Helenus(folder, "down", "looked").ends();
    rmSync(folder, { recursive: true });
  }
});

/** A figure of the page with its unit. */
function milliseconds(text: string): number {
  const [, value, unit] = /^([\d.,]+)\s*(\S+)$/.exec(text.trim()) ?? [];
  return Number(value?.replaceAll(",", "")) * (unit === "s" ? 1000 : 1);
}
