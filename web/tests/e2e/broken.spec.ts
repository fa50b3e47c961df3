import { expect, pagesOnly as test } from "./page";

test("a part that fails says so in its place, and the others go on", async ({ report, page, errors }) => {
  await report.open("broken");
  await expect(report.panel("latency").locator(".failure")).toContainText("Latency can't be drawn:");
  await report.panel("cpu").scrollIntoViewIfNeeded();
  await expect(report.panel("cpu").getByRole("alert")).toContainText("CPU by state can't be drawn:");
  await expect(report.panel("cpu").locator(".failure")).toHaveCount(1);
  await expect(page.getByRole("region", { name: "Flame graphs", exact: true })).toContainText(
    "can't be drawn",
  );
  for (const id of ["throughput", "heatmap", "threads", "pools", "tables"]) {
    await report.panel(id).scrollIntoViewIfNeeded();
    await report.expectDrawn(id);
    await expect(report.panel(id).locator(".failure")).toHaveCount(0);
  }
  await expect(page.getByRole("region", { name: "Sources", exact: true })).toContainText("agent-mxbean");

  // Zooming, the cursor, the description and the table still work, and an error is shown only once.
  await report.drag("throughput", 0.5, 0.75);
  await report.expectTimes(45, 67.5);
  await report.panel("cpu").scrollIntoViewIfNeeded();
  await expect(report.panel("cpu").locator(".failure")).toHaveCount(1);
  await report.panel("cpu").getByRole("button", { name: "Table" }).click();
  await expect(report.panel("cpu")).toContainText("Table of CPU by state can't be drawn");
  await report.panel("pools").getByRole("button", { name: "Table" }).click();
  await expect(report.panel("pools").getByRole("region")).toContainText("MutationStage");
  // Each error is also reported to the browser, and no other error is.
  expect(errors.length).toBeGreaterThanOrEqual(3);
  for (const error of errors) expect(error).toMatch(/Cannot read properties of undefined|not iterable/);
});
