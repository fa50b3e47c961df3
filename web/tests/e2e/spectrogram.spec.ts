import type { Page } from "@playwright/test";
import { expect, expectWide, test } from "./page";

const LEFT = 64;
const RIGHT = 16;
const TOP = 22;
const HEIGHT = 420;

const section = (page: Page) => page.locator("#spectrogram");
const picture = (page: Page) => section(page).locator(".spectrogram-plot canvas");
const chosen = (page: Page) => section(page).locator(".chosen");

/** Drags between two places: shares of the time that is shown, and powers of ten of nanoseconds. */
async function drag(page: Page, from: [number, number], to: [number, number]): Promise<void> {
  await picture(page).scrollIntoViewIfNeeded();
  await page.evaluate(() => document.querySelector(".spectrogram-plot canvas")?.scrollIntoView());
  await expectWide(picture(page));
  const box = await picture(page).boundingBox();
  if (!box) throw new Error("the spectrogram is not drawn");
  const at = ([share, power]: [number, number]): [number, number] => [
    box.x + LEFT + (power / 10) * (box.width - LEFT - RIGHT),
    box.y + TOP + share * HEIGHT,
  ];
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]), { steps: 3 });
  await page.mouse.move(...at(to));
  await page.mouse.up();
}

test("a rectangle gives its calls, with totals by file and call and the command for exactly these", async ({
  report,
  page,
}) => {
  await report.open("overload");
  await expect(chosen(page)).toContainText("calls in the whole run");
  await section(page).getByRole("combobox", { name: "Call" }).selectOption("pread64");
  // From two fifths to half of the run the disk is slow: around 30 ms.
  await drag(page, [0.35, 7.2], [0.55, 7.9]);
  await expect(chosen(page)).toContainText("180 calls, ");
  await expect(chosen(page)).toContainText("together, 11.3 MiB, 0 errors");
  const byFile = section(page).getByRole("region", { name: "Totals by file or socket" });
  await expect(byFile.getByRole("row").nth(1)).toContainText("nb-1-big-Data.db");
  await expect(byFile.getByRole("row")).toHaveCount(2);
  await expect(section(page).getByRole("region", { name: "Totals by call" })).toContainText("pread64");
  const calls = section(page).getByRole("region", { name: "Longest calls" });
  await expect(calls.getByRole("row").nth(1)).toContainText("ReadStage");
  await expect(section(page)).toContainText(/The page holds \d+ of these 180/);
  const command = await section(page).locator(".command code").textContent();
  expect(command).toMatch(
    /^helenus spectrogram RECORDING --from [\d.]+s --to [\d.]+s --select \d+ns\.\.\d+ns --limit 180 --call '=pread64'$/,
  );

  await expect(page).toHaveURL(/area=[\d.]+-[\d.]+,\d+-\d+&call=pread64/);
  await page.reload();
  await expect(chosen(page)).toContainText("180 calls, ");
  expect(await section(page).locator(".command code").textContent()).toBe(command);
  await page.goBack();
  await expect(chosen(page)).toContainText("in the whole run");
});

test("filters count what they let through, and Escape clears the rectangle alone", async ({
  report,
  page,
}) => {
  await report.open("overload", "#t=30-60");
  const all = await chosen(page).textContent();
  await section(page).getByRole("combobox", { name: "File or socket" }).selectOption({ label: "17 others" });
  await expect(chosen(page)).not.toHaveText(all ?? "");
  await drag(page, [0.2, 4], [0.4, 5]);
  await expect(section(page).getByRole("region", { name: "Totals by file or socket" })).toContainText(
    "17 others",
  );
  await expect(section(page).locator(".command code")).toContainText("--file '!=epoll'");
  await picture(page).focus();
  await page.keyboard.press("Escape");
  await expect(chosen(page)).toContainText("in the whole run");
  await report.expectTimes(30, 60);
});

test("it can be done by keyboard alone, and has a table of its cells", async ({ report, page }) => {
  await report.open("overload");
  await picture(page).focus();
  // From the middle of the axis, 100 µs, two columns further: a quarter of a decade.
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/area=0-1,100000-177828/);
  await report.expectWhole();
  await section(page).getByText("Cells as a table").click();
  await expect(section(page).getByRole("region", { name: "Cells of the spectrogram" })).toContainText("µs");
});

test("without system calls the report says how to get them", async ({ report, page }) => {
  await report.open("empty");
  await expect(section(page)).toContainText("record with --syscalls summary");
  await expect(picture(page)).toHaveCount(0);
});
