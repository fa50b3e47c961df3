import { expect, test } from "./page";

test("each variant has its verdict in a sentence and its ratios in a table", async ({ report, page }) => {
  await report.open("variants");
  const section = page.getByRole("region", { name: "Variants", exact: true });
  await expect(section).toContainText("95 % intervals from a bootstrap of 10,000 resamples");
  await expect(section).toContainText("1 run cut short");
  await expect(section.getByRole("listitem")).toHaveText(/not measured: this machine has no PMU$/);
  await expect(section.getByRole("heading", { level: 3 })).toHaveText([
    /^throughput valve: 12 % \(8\.1 to 16\) more requests\/s than none/,
    /^fixed: .* too few for an interval/,
  ]);
  const row = (name: string) => section.getByRole("row").filter({ hasText: name }).first();
  await expect(row("response p99")).toContainText("0.60 – 0.85");
  await expect(row("response p99")).toContainText("▲ better");
  await expect(row("response max")).toContainText("▼ worse");
  await expect(row("response p50")).toContainText("= no difference");
  await expect(row("jitter")).toContainText("? not enough blocks, about 25 needed");
  await expect(row("error share")).toContainText("–");
});

test("an interval is a bar on its side of 1", async ({ report, page }) => {
  await report.open("variants");
  const place = async (name: string, part: string) => {
    const row = page.locator("#variants tr").filter({ hasText: name }).first();
    const [bar, box] = await Promise.all([
      row.locator(".ratio-bar").boundingBox(),
      row.locator(part).boundingBox(),
    ]);
    if (!bar || !box) throw new Error(`${name} has no ${part}`);
    return { from: (box.x - bar.x) / bar.width, to: (box.x + box.width - bar.x) / bar.width };
  };
  const better = await place("response p99", ".interval");
  expect(better.from).toBeGreaterThan(0);
  expect(better.to).toBeLessThan(0.5);
  const worse = await place("response max", ".interval");
  expect(worse.from).toBeGreaterThan(0.5);
  // This interval is too wide for a verdict, and exceeds the bar.
  const beyond = await place("jitter", ".interval");
  expect(beyond.to).toBeCloseTo(1, 2);
  await expect(page.locator("#variants th").filter({ hasText: "1/2 … 1 … 2" })).toHaveCount(2);
  const point = await place("response p50", ".point");
  expect(point.from).toBeCloseTo(0.5, 1);
});

test("a recording of no experiment with variants has no such section", async ({ report, page }) => {
  await report.open("empty");
  await expect(page.locator("#variants")).toHaveCount(0);
});

test("a phase says of which run it is", async ({ report, page }) => {
  await report.open("variants");
  const phases = page.locator(".phase-table tbody tr");
  await expect(phases.nth(1)).toContainText("valve, block 1");
  await report.open("overload");
  await expect(page.locator(".phase-table")).not.toContainText("Run");
});
