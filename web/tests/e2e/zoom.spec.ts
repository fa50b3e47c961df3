import { expect, expectWide, test } from "./page";

test("a drag over one chart zooms all of them, and back undoes it", async ({ report, page }) => {
  await report.open("overload", "#chart=latency");
  await report.expectDrawn("latency");
  const before = await report.pixels("latency");
  await report.drag("throughput", 0.5, 0.75);
  await report.expectTimes(45, 67.5);
  await expect(report.window).toContainText("22.5 s of 90 s");
  expect(await report.pixels("latency")).not.toBe(before);
  await report.drag("heatmap", 0, 0.5);
  await report.expectTimes(45, 56.25);
  await page.goBack();
  await report.expectTimes(45, 67.5);
  await page.goBack();
  await report.expectWhole();
  await expect.poll(() => report.pixels("latency")).toBe(before);
  await page.goForward();
  await report.expectTimes(45, 67.5);
});

test("a double-click shows the whole run again", async ({ report }) => {
  await report.open("overload", "#t=10-20");
  await expect(report.window).toContainText("10.00 – 20.00 s");
  await report.area("latency").dblclick();
  await report.expectWhole();
});

test("a click alone zooms nowhere", async ({ report }) => {
  await report.open("overload");
  await report.area("throughput").click();
  await report.expectWhole();
});

test("shift and drag moves the window", async ({ report, page }) => {
  await report.open("overload", "#t=40-50");
  await page.keyboard.down("Shift");
  await report.drag("throughput", 0.8, 0.3);
  await page.keyboard.up("Shift");
  await report.expectTimes(45, 55);
});

test("Ctrl and wheel zooms at the pointer", async ({ report, page }) => {
  await report.open("overload");
  await report.toTop("throughput");
  await report.area("throughput").hover();
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -500);
  await page.keyboard.up("Control");
  await expect.poll(async () => (await report.times()) ?? "whole").not.toBe("whole");
  const [start, end] = (await report.times()) ?? [0, 0];
  expect((start + end) / 2).toBeCloseTo(45, 0);
  expect(end - start).toBeLessThan(40);
});

test("the frame in the overview moves the window, a drag beside it makes a new one", async ({
  report,
  page,
}) => {
  await report.open("overload", "#t=40-50");
  await expectWide(page.locator(".overview canvas").first());
  const box = await page.locator(".overview .over").boundingBox();
  if (!box) throw new Error("no overview");
  const at = (time: number) => box.x + (time / 90) * box.width;
  const y = box.y + box.height / 2;
  await page.mouse.move(at(45), y);
  await page.mouse.down();
  await page.mouse.move(at(65), y, { steps: 4 });
  await page.mouse.up();
  await report.expectTimes(60, 70);
  await page.mouse.move(at(10), y);
  await page.mouse.down();
  await page.mouse.move(at(30), y, { steps: 4 });
  await page.mouse.up();
  await report.expectTimes(10, 30);
});

test("the whole run and the window have an axis each, with a name and times of its own", async ({
  report,
  page,
}) => {
  await report.open("overload");
  const strip = page.locator(".strip");
  const names = strip.locator(".of-axis");
  const ends = strip.locator(".ends > span");
  await expect(ends).toHaveText(["0.0", "90.0"]);
  await expect(names.filter({ visible: true })).toHaveText(["whole run"]);
  await page.keyboard.press("+");
  await report.expectTimes(18, 72);
  await expect(names.filter({ visible: true })).toHaveText(["whole run", "window"]);
  await expect(ends).toHaveText(["0.0", "90.0"]);
  const boxOf = async (selector: string) => {
    const box = await strip.locator(selector).boundingBox();
    if (!box) throw new Error(`no ${selector}`);
    return box;
  };
  const [whole, times, phases, axis] = [
    await boxOf(".overview .over"),
    await boxOf(".ends"),
    await boxOf(".phases"),
    await boxOf(".axis"),
  ];
  // From top to bottom: the whole run, its times, and what belongs to the window.
  expect(times.y).toBeGreaterThanOrEqual(whole.y + whole.height - 1);
  expect(phases.y).toBeGreaterThanOrEqual(times.y + times.height - 1);
  expect(axis.y).toBeGreaterThanOrEqual(phases.y + phases.height - 1);
  expect(Math.abs(times.x - whole.x) + Math.abs(times.width - whole.width)).toBeLessThan(2);
});

test("keys pan, zoom and reset", async ({ report, page }) => {
  await report.open("overload");
  await page.keyboard.press("+");
  await report.expectTimes(18, 72);
  await page.keyboard.press("ArrowRight");
  await report.expectTimes(28.8, 82.8);
  await page.keyboard.press("ArrowLeft");
  await report.expectTimes(18, 72);
  await page.keyboard.press("-");
  await report.expectWhole();
  for (const key of ["0", "Escape"]) {
    await page.keyboard.press("+");
    await report.expectTimes(18, 72);
    await page.keyboard.press(key);
    await report.expectWhole();
  }
});

test("a phase zooms to itself, in the band and in the table", async ({ report, page }) => {
  await report.open("overload");
  await page.getByRole("group", { name: "Phases" }).getByRole("button", { name: "step 3" }).click();
  await report.expectTimes(42, 58);
  await page
    .getByRole("region", { name: "Phases as a table" })
    .getByRole("button", { name: "step 1" })
    .click();
  await report.expectTimes(10, 26);
});

test("a link opens its window, its chart and its kind of latency", async ({ report, page }) => {
  await report.open("overload", "#t=12.5-20&chart=latency&latency=service");
  await expect(report.window).toContainText("12.50 – 20.00 s");
  await expect(page.getByRole("button", { name: "service" })).toHaveAttribute("aria-pressed", "true");
  await expect(report.panel("latency")).toBeInViewport();
  await expect(report.area("latency")).toBeInViewport();
  await page.evaluate(() => {
    location.hash = "t=30-40";
  });
  await expect(report.window).toContainText("30.00 – 40.00 s");
  await expect(page.getByRole("button", { name: "response" })).toHaveAttribute("aria-pressed", "true");
});

test("a link to nonsense shows the whole run", async ({ report }) => {
  await report.open("overload", "#t=9e9-x&chart=../../etc&finding=99");
  await report.expectWhole();
});
