import { expect, test } from "./page";

test("an empty recording says which sources were missing, and draws nothing", async ({ report, page }) => {
  await report.open("empty");
  await expect(page.locator(".findings")).toContainText("No finding: there are no requests");
  for (const [chart, sentence] of [
    ["throughput", "the source “requests” was not part of this recording"],
    ["latency", "the source “requests” was not part of this recording"],
    ["heatmap", "the source “requests” was not part of this recording"],
    ["pauses", "the source “pauses” was not part of this recording"],
    ["cpu", "the source “cpus” was not part of this recording"],
    ["threads", "the source “threads” was not part of this recording"],
    ["pools", "the source “pools” was not part of this recording"],
    ["tables", "the source “tables” was not part of this recording"],
  ] as const) {
    await expect(report.panel(chart).locator(".missing")).toContainText(sentence);
    await expect(report.panel(chart).locator("canvas")).toHaveCount(0);
  }
  await expect(report.panel("valves")).toHaveCount(0);
  await page.keyboard.press("+");
  await page.keyboard.press("n");
});

test("without the agent the rest is drawn, and the pauses of the load are not taken for all", async ({
  report,
}) => {
  await report.open("without-agent");
  await expect(report.panel("pools").locator(".missing")).toContainText("Attach the agent");
  await expect(report.panel("tables").locator(".missing")).toContainText("Attach the agent");
  await expect(report.panel("pauses")).toContainText("Not captured: GC and safepoints of the server");
  await expect(report.panel("pauses").locator(".plot-title")).toHaveText([
    "Load driver stall",
    "Recorder stall",
  ]);
  await expect(report.area("latency")).toBeVisible();
});

test("where every request failed, the failures are drawn, and why there is no response time is said", async ({
  report,
}) => {
  await report.open("refused");
  await report.expectDrawn("throughput");
  for (const chart of ["latency", "heatmap"]) {
    await expect(report.panel(chart).locator(".missing")).toContainText(
      "No request of this recording was answered",
    );
    await expect(report.panel(chart).locator("canvas")).toHaveCount(0);
  }
});

test("the template without figures says what it is", async ({ page }) => {
  const { pageOf } = await import("../sample/pages");
  await page.goto(pageOf("template"));
  await expect(page.getByRole("alert")).toContainText("This is the empty template of a report");
});
