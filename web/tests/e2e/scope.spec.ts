import type { Page } from "@playwright/test";
import { pageOf } from "../sample/pages";
import { SCHEMES, seriousProblems } from "./axe";
import { expect, expectWide, test } from "./page";

const LEFT = 52;
const TOP = 4;
const HEIGHT = 250;

async function open(page: Page, hash = ""): Promise<void> {
  await page.goto(`${pageOf("flame")}${hash}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("A minute of reads");
}

const map = (page: Page) => page.locator(".scope .map canvas");
const chosen = (page: Page) => page.locator(".scope .chosen");
/** The graph's label has its number of samples. */
const graph = (page: Page) => page.locator(".flame canvas").first();

/** The middle of a cell of the map. */
async function cell(page: Page, second: number, row: number): Promise<{ x: number; y: number }> {
  const width = await map(page).evaluate((canvas) => canvas.getBoundingClientRect().width);
  return {
    x: LEFT + (second + 0.5) * ((width - LEFT - 2) / 60),
    y: TOP + ((row + 0.5) * HEIGHT) / 50,
  };
}

async function drag(page: Page, from: [number, number], to: [number, number]): Promise<void> {
  await expectWide(map(page));
  const box = await map(page).boundingBox();
  if (!box) throw new Error("the map is not drawn");
  const [start, end] = [await cell(page, ...from), await cell(page, ...to)];
  await page.mouse.move(box.x + start.x, box.y + start.y);
  await page.mouse.down();
  await page.mouse.move(box.x + (start.x + end.x) / 2, box.y + end.y, { steps: 3 });
  await page.mouse.move(box.x + end.x, box.y + end.y);
  await page.mouse.up();
}

// The fixture fails on errors and on any network request.
test.beforeEach(({ report }) => {
  expect(report).toBeTruthy();
});

test("a dragged stretch is what the graph is of, and in the link", async ({ page }) => {
  await open(page);
  await expect(chosen(page)).toContainText("Whole run");
  const whole = await graph(page).getAttribute("aria-label");
  // The collection in the sixth second: its first 300 ms, 60 times two samples.
  await drag(page, [5, 0], [5, 14]);
  await expect(chosen(page)).toContainText("5 – 5.3 s (0.3 s): 120 samples, 1.20 s");
  await expect(graph(page)).toHaveAttribute("aria-label", /Flame graph of 120 samples/);
  await expect(page).toHaveURL(/#t=5-5.3$/);
  await expect(page.locator(".scope code")).toHaveText("helenus flame RECORDING --from 5s --to 5.3s");
  // Only the collector runs, so its frame fills the width.
  const width = (await graph(page).boundingBox())?.width ?? 0;
  await graph(page).hover({ position: { x: width * 0.95, y: 2 * 18 + 9 } });
  await expect(page.locator(".flame .said")).toContainText("GangWorker::run · 1.20 s, 100.0 %");

  await page.reload();
  await expect(chosen(page)).toContainText("120 samples");
  await page.goBack();
  await expect(chosen(page)).toContainText("Whole run");
  await expect(graph(page)).toHaveAttribute("aria-label", whole ?? "");
});

test("two clicks choose too, and Escape goes back", async ({ page }) => {
  await open(page);
  await map(page).click({ position: await cell(page, 39, 0) });
  await expect(page.locator(".scope .map .said")).toContainText("now click its end");
  await map(page).click({ position: await cell(page, 43, 49) });
  await expect(chosen(page)).toContainText("39 – 44 s (5 s)");
  await page.keyboard.press("Escape");
  await expect(chosen(page)).toContainText("Whole run");
  await expect(page).not.toHaveURL(/#t=/);
  // Escape cancels a choice in progress first.
  await map(page).click({ position: await cell(page, 10, 0) });
  await page.keyboard.press("Escape");
  await expect(page.locator(".scope .map .said")).toHaveText("");
  await map(page).click({ position: await cell(page, 12, 0) });
  await expect(page.locator(".scope .map .said")).toContainText("choosing 12 – 12.02 s");
});

test("an idle stretch has an empty graph and says so", async ({ page }) => {
  await open(page, "#t=40-43");
  await expect(chosen(page)).toContainText("40 – 43 s (3 s): 0 samples, 0.0 ms, 0 % of the whole");
  await page.getByRole("button", { name: "Whole run" }).click();
  await expect(graph(page)).not.toHaveAttribute("aria-label", / 0 samples/);
});

test("it can be done by keyboard alone, and there is a table", async ({ page }) => {
  await open(page);
  await map(page).focus();
  for (let column = 0; column < 5; column += 1) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  for (let row = 0; row < 14; row += 1) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(chosen(page)).toContainText("5 – 5.3 s (0.3 s): 120 samples");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#t=5.28-6.3$/);
  await page.getByText("As a table").click();
  const row = page.getByRole("row", { name: /^Choose the column at 41 s/ });
  await expect(row).toContainText("idle");
  await page.getByRole("button", { name: "Choose the column at 5 s" }).click();
  await expect(page).toHaveURL(/#t=5-6$/);
});

for (const scheme of SCHEMES)
  test(`axe finds no serious problem, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await open(page, "#t=5-5.3");
    for (const summary of await page.locator("summary").all()) await summary.click();
    expect(await seriousProblems(page, scheme)).toEqual([]);
  });
