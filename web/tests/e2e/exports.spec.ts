import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@playwright/test";

/* Exports, each opened by the tool that it is for. */

const HELENUS = join(
  process.env.CARGO_TARGET_DIR ?? join(homedir(), ".cache/helenus/target"),
  "release/helenus",
);
const SPEEDSCOPE = dirname(createRequire(import.meta.url).resolve("speedscope/package.json"));

/** The shares of the last frames are 60, 30 and 10 %. */
const FOLDED = "main;serve;read 600\nmain;serve;write 300\nmain;compact 100\n";

let folder = "";

test.beforeAll(() => {
  if (!existsSync(HELENUS)) throw new Error(`${HELENUS} is not there: make build`);
  folder = mkdtempSync(join(tmpdir(), "helenus-exports-"));
  writeFileSync(join(folder, "stacks.folded"), FOLDED);
  helenus("import", "stacks.folded", "--interval", "1ms", "--node", "127.0.0.1", "-o", "stacks.helenus");
});

test.afterAll(() => rmSync(folder, { recursive: true }));

function helenus(...words: string[]): void {
  execFileSync(HELENUS, words, { cwd: folder, stdio: "pipe" });
}

test("speedscope shows what is exported for it", async ({ page }) => {
  const file = join(folder, "stacks.speedscope.json");
  helenus("export", "stacks.helenus", "--format", "speedscope", "-o", file);
  await page.goto(pathToFileURL(join(SPEEDSCOPE, "dist/release/index.html")).href);
  const chooser = page.waitForEvent("filechooser");
  await page.getByText("Browse", { exact: true }).click();
  await (await chooser).setFiles(file);
  await page.getByText("Sandwich").click();
  const row = (frame: string) => page.getByRole("row").filter({ hasText: frame });
  await expect(row("read")).toContainText("600.00ms (60%)");
  await expect(row("write")).toContainText("300.00ms (30%)");
  await expect(row("compact")).toContainText("100.00ms (10%)");
  await expect(row("serve")).toContainText("900.00ms (90%)");
});
