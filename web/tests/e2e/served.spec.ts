import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect as base, type Page, test } from "@playwright/test";
import type { Listed } from "../../src/model";
import { Helenus, until, whyNoBinary } from "../sample/helenus";

/** Other tests start nodes meanwhile, which takes all CPUs. */
const expect = base.configure({ timeout: 30_000 });
/** Stands in for a node: `helenus responder` answers every request at once. */
const NODE = "127.0.43.1:9042";
const LOAD = ["load", "keyvalue/write", "--node", NODE, "--rate", "200"];

let folder = "";
let running: Helenus[] = [];
let load: Helenus;
let link = "";

const run = (...words: string[]): Helenus => {
  const helenus = new Helenus(folder, ...words);
  running.push(helenus);
  return helenus;
};

/** The real server, over a closed recording and one that grows. */
test.beforeAll(async () => {
  const why = whyNoBinary();
  test.skip(why !== null, why ?? "");
  folder = mkdtempSync(join(tmpdir(), "helenus-served-"));
  await run("responder", "--listen", NODE).says(/answering on/);
  load = run(...LOAD, "--for", "3m", "-o", "growing.helenus");
  await run(...LOAD, "--for", "2s", "-o", "closed.helenus").ends();
  await until("a growing recording", () => existsSync(join(folder, "growing.helenus", "manifest.json")));
  const said = await run("serve", ".", "--listen", "127.0.0.1:0", "--json").says(/\{.*\}/);
  link = (JSON.parse(said) as { link: string }).link;
});

test.afterAll(async () => {
  for (const helenus of running.reverse()) await helenus.interrupt();
  running = [];
  if (folder !== "") rmSync(folder, { recursive: true });
});

/** The status of an answer, to a request with exactly these headers. */
function status(method: "GET" | "POST", path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((done, failed) => {
    const asked = request(new URL(path, link), { method, headers }, (response) => {
      response.resume();
      done(response.statusCode ?? 0);
    });
    asked.on("error", failed);
    asked.end();
  });
}

const token = (): string => new URL(link).hash.replace("#token=", "");
const bearer = (): Record<string, string> => ({ Authorization: `Bearer ${token()}` });

async function listed(): Promise<string[]> {
  const answer = await fetch(new URL("/api/recordings", link), { headers: bearer() });
  return ((await answer.json()) as Listed[]).map(({ name }) => name).sort();
}

const SAVE = "/api/save?recording=closed.helenus&name=stolen";

test("a wrong token and pages of other sites are refused", async ({ page }) => {
  const own = { Origin: new URL(link).origin };
  const foreign = { Origin: "http://evil.example" };
  const list = "/api/recordings";
  expect(await status("GET", list, bearer())).toBe(200);
  expect(await status("GET", list, { Authorization: "Bearer 0123456789abcdef" })).toBe(401);
  expect(await status("GET", list, {})).toBe(401);
  expect(await status("GET", list, { ...bearer(), ...foreign })).toBe(403);
  expect(await status("GET", list, { ...bearer(), Host: "evil.example" })).toBe(403);
  expect(await status("POST", SAVE, own)).toBe(401);
  expect(await status("POST", SAVE, bearer())).toBe(403);
  expect(await status("POST", SAVE, { ...bearer(), ...foreign })).toBe(403);
  expect(await status("GET", SAVE, bearer())).toBe(405);
  expect(await status("POST", SAVE.replace("stolen", "..%2Fstolen"), { ...bearer(), ...own })).toBe(422);

  // A page of another site in the same browser, even one that knows the token.
  const other = createServer((_, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
  );
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
  const got = await page.evaluate(
    async ([list, save, authorization]) => {
      const ask = (address: string, how: RequestInit): Promise<string> =>
        fetch(address, how).then(
          (answer) => answer.type,
          () => "refused",
        );
      const headers = { Authorization: authorization };
      return [
        await ask(list, { headers }),
        await ask(save, { method: "POST", headers }),
        await ask(save, { method: "POST", mode: "no-cors" }),
      ];
    },
    [new URL(list, link).href, new URL(SAVE, link).href, `Bearer ${token()}`] as const,
  );
  expect(got).toEqual(["refused", "refused", "refused"]);
  other.close();
  expect(await listed()).toEqual(["closed.helenus", "growing.helenus"]);
  expect(existsSync(join(folder, "..", "stolen.helenus"))).toBe(false);
});

async function openLive(page: Page): Promise<void> {
  await page.goto(`${link}&recording=growing.helenus`);
  await expect(page.locator(".live-state")).toContainText("Live,");
}

test("the live page moves, and saves a window as a recording and as a report", async ({ page }) => {
  const failures: string[] = [];
  page.on("pageerror", (error) => failures.push(error.message));
  await openLive(page);
  expect(page.url()).not.toContain("token");
  const state = page.locator(".live-state");
  const first = await state.innerText();
  await expect(state).not.toHaveText(first);
  await expect(page.locator("#panel tbody tr").first()).toBeVisible();
  await page.keyboard.press("Space");
  await expect(state).toContainText("Paused");

  await page.keyboard.press("s");
  const dialog = page.getByRole("dialog", { name: "Save this window" });
  const name = dialog.getByRole("textbox", { name: "Name" });
  await expect(name).toHaveValue(/^growing-\d{8}-\d{6}$/);
  await name.fill("../moment");
  await page.keyboard.press("Enter");
  await expect(dialog.getByRole("status")).toBeEmpty();
  await name.fill("moment");
  const download = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download report" }).click();
  const report = await download;
  expect(report.suggestedFilename()).toBe("moment.html");
  expect(readFileSync(await report.path(), "utf8")).toContain("keyvalue");
  await name.focus();
  await page.keyboard.press("Enter");
  await expect(dialog.getByRole("status")).toContainText(/Saved [\d,]+ rows .* in .*moment\.helenus/);
  expect(statSync(join(folder, "moment.helenus")).mode & 0o777).toBe(0o700);
  expect(await listed()).toEqual(["closed.helenus", "growing.helenus", "moment.helenus"]);

  await dialog.getByRole("link", { name: "Open it" }).click();
  await expect(page.getByRole("combobox", { name: "Recording" })).toHaveValue("moment.helenus");
  await page.getByRole("tab", { name: "Statements", exact: true }).click();
  await expect(page.locator("#panel tbody tr").first()).toBeVisible();
  expect(failures).toEqual([]);
});

test("a change of a node is allowed by a switch, and its refusal is shown", async ({ page }) => {
  const open = async (address: string): Promise<void> => {
    await page.goto(`${address}&recording=growing.helenus`);
    await page.getByRole("tab", { name: "Control" }).click();
  };
  const control = page.getByRole("region", { name: "Control" });
  await open(link);
  await expect(control).toContainText("start helenus serve with --allow-control");
  await expect(control.getByRole("button")).toHaveCount(0);
  const said = await run("serve", ".", "--listen", "127.0.0.1:0", "--allow-control", "--json").says(/\{.*\}/);
  await open((JSON.parse(said) as { link: string }).link);
  // The node is none that a valve could be in.
  await control.getByRole("combobox", { name: "Law" }).selectOption("fixed");
  await control.getByRole("button", { name: "Add valve" }).click();
  await expect(control.getByRole("status")).toContainText("127.0.43.1");
  const setting = control.getByRole("form", { name: "Setting" });
  await setting.getByRole("combobox", { name: "Setting: name" }).selectOption("concurrent-compactors");
  await expect(setting).toContainText("Compactions that may run at once");
  const table = setting.getByRole("textbox", { name: "of" });
  await expect(table).toBeHidden();
  await setting.getByRole("combobox", { name: "Setting: name" }).selectOption("compaction");
  await table.fill("shop.orders");
  // A typed text stays when the page asks again.
  await page.waitForResponse(/controls/);
  await expect(table).toHaveValue("shop.orders");
  await setting.getByRole("textbox", { name: "to" }).fill('{"class":"None"}');
  await setting.getByRole("button", { name: "Set" }).click();
  await expect(control.getByRole("status")).toContainText("no compaction strategy None");
  // Another process records, so that its sources can't be changed here.
  await expect(control.getByRole("form", { name: "Recording" })).toHaveCount(0);
});

test("the live page says that its recorder has ended", async ({ page }) => {
  await openLive(page);
  await load.interrupt();
  await expect(page.locator(".live-state")).toContainText("The recorder has ended");
});
