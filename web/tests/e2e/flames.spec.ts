import { expect, expectWide, test } from "./page";

test("flame graphs can be searched and zoomed, and have a table", async ({ report, page }) => {
  await report.open("overload");
  const section = page.locator("#flames");
  await expect(section.getByRole("heading", { name: "The whole recording" })).toBeVisible();
  const graph = section.locator(".flame").first();
  const canvas = graph.locator("canvas");
  await canvas.scrollIntoViewIfNeeded();
  await expectWide(canvas);
  const width = (await canvas.boundingBox())?.width ?? 0;

  // The share of a name is shown under the pointer; the third row holds the reads' run, after the fifth of GC.
  await canvas.hover({ position: { x: width * 0.6, y: 2 * 18 + 9 } });
  await expect(graph.locator(".said")).toContainText("java.lang.Thread.run · 8.00 s, 80.0 %");

  await graph.getByRole("searchbox").fill("PREAD");
  await expect(graph.locator("output")).toHaveText("30.0 % matched");

  await canvas.click({ position: { x: width * 0.05, y: 18 + 9 } });
  await expect(graph.getByRole("button", { name: "Zoom out" })).toBeEnabled();
  await canvas.hover({ position: { x: width * 0.9, y: 2 * 18 + 9 } });
  await expect(graph.locator(".said")).toContainText("scan · 2.00 s, 20.0 %");
  await page.keyboard.press("Escape");
  await graph.getByRole("searchbox").press("Escape");
  await expect(graph.getByRole("button", { name: "Zoom out" })).toBeDisabled();
  await expect(graph.locator("output")).toHaveText("");

  await graph.getByText("Hottest frames").click();
  await expect(graph.getByRole("row").nth(1)).toContainText("ReadCommand.execute");
  const compared = section.locator(".flame").nth(1);
  await expect(section).toContainText(
    "(over 20.000 ms): 10.00 s (1,000 samples); the rest of the judged time: 20.00 s (2,000 samples).",
  );
  await compared.locator("canvas").hover({ position: { x: width * 0.1, y: 18 + 9 } });
  await expect(compared.locator(".said")).toContainText("5.00 % of the rest of the judged time");
});

test("without samples the report says how to get them", async ({ report, page }) => {
  await report.open("empty");
  await expect(page.locator("#flames")).toContainText("record with --stacks cpu");
});

test("the map of samples and the charts show the same window", async ({ report, page }) => {
  await report.open("dense");
  const section = page.locator("#flames");
  await expect(section.getByRole("heading", { name: "The window of the charts" })).toBeVisible();
  await expect(section.locator(".chosen")).toContainText("Whole run");

  await section.getByText("As a table").first().click();
  await section.getByRole("button", { name: "Choose the column at 5 s" }).click();
  // The first sample was taken a second after the report begins.
  await expect(page).toHaveURL(/t=6-7/);
  await expect(section.locator(".chosen")).toContainText("5 – 6 s");
  await expect(section.locator("code").first()).toHaveText("helenus flame RECORDING --from 5s --to 6s");
  const chosen = await section.locator(".chosen").textContent();

  await page.goBack();
  await expect(section.locator(".chosen")).toContainText("Whole run");
  await page.goForward();
  await expect(section.locator(".chosen")).toHaveText(chosen ?? "");
  await section.locator(".scope .map canvas").press("Escape");
  await expect(section.locator(".chosen")).toContainText("Whole run");
});
