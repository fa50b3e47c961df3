import { expect, test } from "./page";

test("the answer comes first: what was run, and why it was slow", async ({ report, page }) => {
  await report.open("overload");
  await expect(page.locator(".ran")).toHaveText("helenus lab run experiments/flames-under-stress.toml");
  const top = page.locator("header.top");
  await expect(top.locator(".question")).toHaveText("Whose pauses make the slow requests?");
  await expect(top.locator(".answer")).toContainText("requests");
  const card = page.locator(".card").first();
  await expect(card).toContainText("Critical");
  await expect(card).toContainText("A full GC of the server stopped it for 740 ms");
  // The title has the share, and the card has it once.
  await expect(card.locator(".share")).toHaveText(/^2.1\s% expected by chance$/);
  await expect(card.getByText("longest pause")).toBeHidden();
  await card.getByText("Evidence").click();
  await expect(card.getByText("longest pause")).toBeVisible();
  await expect(card.getByRole("region", { name: "longest" }).getByRole("row")).toHaveCount(4);
  await expect(card.getByRole("region", { name: "Query" })).toContainText("from requests r join pauses p");
});

test("a finding's query is copied whole", async ({ report, page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await report.open("overload");
  const card = page.locator(".card").first();
  await card.getByText("Evidence").click();
  await card.getByRole("button", { name: "Copy" }).click();
  await expect(card.getByText("Copied")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(
    /^select p\.start_ns[\s\S]*order by slow desc$/,
  );
});

test("an advice says what to run and how to verify it, with its figures", async ({ report, page }) => {
  await report.open("overload");
  const card = page.locator(".card").filter({ hasText: "wide-rows" });
  await expect(card).toContainText("Warning");
  await expect(card).toContainText("PRIMARY KEY ((id), column_name)");
  await expect(card).toContainText("To verify: Bytes read against bytes returned");
  await expect(card.locator(".share")).toHaveCount(0);
  await card.getByText("Evidence").click();
  await expect(card.locator("dt", { hasText: "mean row" })).toBeVisible();
  await expect(card.locator("dt", { hasText: "mean row" }).locator("+ dd")).toHaveText(/^976\.6\s?KiB$/);
  const beyond = await card.evaluate((root) => root.scrollWidth - root.clientWidth);
  expect(beyond, "a long statement breaks").toBeLessThanOrEqual(0);
});

test("show zooms to the window of a finding, n and p go through them", async ({ report, page }) => {
  await report.open("overload");
  await page.getByRole("button", { name: "Show finding 1 in the charts" }).click();
  await report.expectTimes(59.08, 61.72);
  await expect(page.locator("#charts")).toBeInViewport();
  await expect(page.locator(".card").first()).toHaveClass(/chosen/);
  await page.keyboard.press("n");
  await report.expectTimes(73.2, 90);
  await expect(page).toHaveURL(/finding=2/);
  await page.keyboard.press("p");
  await page.keyboard.press("p");
  await expect(page).toHaveURL(/finding=5/);
});

test("the common cursor tells the values of all charts and the wall time", async ({ report, page }) => {
  await report.open("overload", "#t=11-13");
  await report.area("throughput").hover();
  await expect(page.locator(".at-cursor")).toHaveText(/^12\.0\d* s = 03:12:57\.\d+ UTC$/);
  await expect(report.panel("throughput").locator(".legend")).toContainText(/intended\s*2,00\d\/s/);
  await expect(report.panel("latency").locator(".legend")).toContainText(/p50\s*0\.\d+/);
  await page.keyboard.press(".");
  await expect(page.locator(".at-cursor")).toContainText("12.01");
});

test("the heatmap tells the exact count and bounds of a cell", async ({ report, page }) => {
  await report.open("overload", "#t=12-13&chart=heatmap");
  await report.toTop("heatmap");
  const box = await report.area("heatmap").boundingBox();
  if (!box) throw new Error("no heatmap");
  const tip = report.panel("heatmap").locator(".tip");
  for (let y = box.height; y > 0 && !(await tip.isVisible()); y -= 4)
    await page.mouse.move(box.x + box.width * 0.55, box.y + y);
  const text = (await tip.locator("> *").allTextContents()).join("\n").replaceAll("\u00a0", " ");
  const said = /^(\d+) requests?\n([\d.]+) – ([\d.]+) ms\n12\.5 – 12\.6 s\nof (\d+) in this time$/.exec(text);
  expect(said, text).not.toBeNull();
  // Finds the same cell in the table behind the chart.
  await report.panel("heatmap").getByRole("button", { name: "Table" }).click();
  const row = report
    .panel("heatmap")
    .getByRole("row")
    .filter({ hasText: `12.500` })
    .filter({ hasText: said?.[2] ?? "" })
    .first();
  await expect(row.getByRole("cell").last()).toHaveText(said?.[1] ?? "");
});

test("pauses say what they were", async ({ report, page }) => {
  await report.open("overload", "#t=59.3-60.2&chart=pauses");
  await report.area("pauses").hover();
  await expect(report.panel("pauses").locator(".tip").first()).toContainText("Server GC: 740");
  await expect(report.panel("pauses").locator(".tip").first()).toContainText("G1Full, Allocation Failure");
  await page.mouse.move(0, 0);
  await expect(report.panel("pauses").locator(".tip").first()).toBeHidden();
});

test("the table behind a chart follows the window and is never cut silently", async ({
  report,
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await report.open("overload");
  const panel = report.panel("cpu");
  await panel.getByRole("button", { name: "Table" }).click();
  const rows = panel.locator("tbody tr");
  await expect(panel.getByRole("status")).toHaveText("First 200 of 900 rows in this window");
  await expect(rows).toHaveCount(200);
  await panel.getByRole("button", { name: "Show all 900" }).click();
  await expect(rows).toHaveCount(900);
  await page.getByRole("group", { name: "Phases" }).getByRole("button", { name: "step 2" }).click();
  await expect(panel.getByRole("status")).toHaveText("160 rows in this window");
  await panel.getByRole("button", { name: "Copy as CSV" }).click();
  await expect(panel.getByText("Copied")).toBeVisible();
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\r\n");
  expect(lines).toHaveLength(161);
  expect(lines[0]).toBe("node,time (s from start),user (%),system (%),irq (%),steal (%),iowait (%),idle (%)");
  await panel.getByRole("button", { name: "Table" }).click();
  await expect(rows).toHaveCount(0);
});

test("response and service time are switched, in the address as well", async ({ report, page }) => {
  await report.open("overload", "#t=38-42&chart=latency");
  await report.expectDrawn("latency");
  const before = await report.pixels("latency");
  await page.getByRole("button", { name: "service" }).click();
  await expect.poll(() => report.pixels("latency")).not.toBe(before);
  await expect(page).toHaveURL(/latency=service/);
  await page.keyboard.press("r");
  await expect.poll(() => report.pixels("latency")).toBe(before);
});

test("losses are told at the top and in the sources", async ({ report, page }) => {
  await report.open("overload");
  await expect(page.locator(".lost")).toContainText("threads lost 1,204");
  await page.getByRole("button", { name: "See the sources" }).click();
  const row = page
    .locator("#sources")
    .getByRole("row")
    .filter({ hasText: "threads that ended between two readings" });
  await expect(row).toBeInViewport();
  await expect(row).toContainText("⚠ 1,204");
  // One lost row of the CPUs changes no figure.
  await expect(page.locator(".lost")).not.toContainText("cpus");
  await expect(page.locator("#sources .quiet")).toHaveText("Rows lost, too few to change a figure: cpus 1.");
});

test("the phases have a row each, and say where the load was not kept up with", async ({ report, page }) => {
  await report.open("overload");
  const table = page.getByRole("region", { name: "Phases as a table" });
  await expect(table.locator("tbody tr")).toHaveCount(6);
  await expect(table.getByRole("row").filter({ hasText: "warm-up" })).toContainText("not judged");
  await expect(table.getByRole("row").filter({ hasText: "step 5" })).toContainText("▼");
  await expect(table.getByRole("row").filter({ hasText: "step 1" })).not.toContainText("▼");
});
