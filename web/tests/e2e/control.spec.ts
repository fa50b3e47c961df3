import { expect, test } from "./page";

test("a valve has its limit, what was inside and what waited, and its table says why", async ({
  report,
  page,
}) => {
  await report.open("overload", "#t=40-70&chart=valves");
  await report.expectDrawn("valves");
  const panel = report.panel("valves");
  await expect(panel).toHaveAccessibleDescription(
    /^writes: limit 32 to 64, on average [\d.]+ inside and [\d.]+ waiting, 3 decisions\.$/,
  );
  await report.area("valves").hover();
  await expect(panel.locator(".legend")).toContainText(/inside\s*32\s*waiting\s*[\d.]+\s*limit\s*32$/);
  await panel.getByRole("button", { name: "Table" }).click();
  const row = (text: string) => panel.getByRole("row").filter({ hasText: text });
  await expect(row("64 → 32 (throughput): 32 do 1.08 of what 64 did")).toContainText("45.000");
  await expect(row("32 → open (throughput): the lease was not renewed")).toContainText("–");
  await page.keyboard.press("0");
  await expect(row("128 → 64 (throughput)")).toHaveCount(1);
});

test("probes are told by their own time, with why one was switched off", async ({ report, page }) => {
  await report.open("overload");
  const section = page.getByRole("region", { name: "Probes", exact: true });
  await expect(section.locator("tbody tr").first()).toContainText("commitlog.add");
  await expect(section.getByRole("row").filter({ hasText: "storage-proxy.mutate" })).toContainText(
    /3,889\/s33\.3.s4\.38.s95\.0.µs12\.5.µs3\.80.ms/,
  );
  await expect(section.locator(".off")).toHaveText(["12 failed", /^switched off: all probes cost 2\.4 %/]);
  await expect(section).toContainText("Not shown: 3 probes with less own time.");
});

test("with variants a probe has the baseline's figures and the ratios to them beside each other", async ({
  report,
  page,
}) => {
  await report.open("variants");
  const section = page.getByRole("region", { name: "Probes", exact: true });
  await expect(section.locator("th[scope=colgroup]")).toHaveText(["none", "throughput valve"]);
  const cells = (probe: string) => section.getByRole("row").filter({ hasText: probe }).locator("td");
  await expect(cells("commitlog.add")).toHaveText([
    /^6\.48.s$/,
    "2,000/s",
    /^40\.0.µs$/,
    /^36\.0.µs$/,
    "2,200/s (1.10)",
    /^30\.0.µs \(0\.75\)$/,
    /^27\.0.µs \(0\.75\)$/,
  ]);
  await expect(cells("partition-key.hash").last()).toHaveText("–");
  await expect(section.locator(".off")).toHaveText(/^switched off in none: /);
});

test("a recording without valves and probes has no room for them", async ({ report, page }) => {
  await report.open("empty");
  await expect(report.panel("valves")).toHaveCount(0);
  await expect(page.locator("#probes")).toHaveCount(0);
});
