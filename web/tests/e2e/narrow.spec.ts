import type { Page } from "@playwright/test";
import { pageOf, type Sample } from "../sample/pages";
import { beyondTheEdge } from "./edges";
import { expect, test } from "./page";

const SCREENS: { name: string; viewport: { width: number; height: number }; samples: Sample[] }[] = [
  {
    name: "a phone",
    viewport: { width: 390, height: 844 },
    samples: ["overload", "empty", "variants", "large", "dense"],
  },
  { name: "200 % zoom of a laptop", viewport: { width: 640, height: 360 }, samples: ["overload"] },
];

// WCAG 2.2, 1.4.10 asks for no less.
const NARROWEST = { width: 320, height: 568 };

/** Opens everything that can be opened. */
async function openAll(page: Page): Promise<void> {
  for (const table of await page.getByRole("button", { name: "Table" }).all()) await table.click();
  for (const summary of await page.locator("summary:visible").all()) await summary.click();
}

test.describe("the narrowest screen", () => {
  test.use({ viewport: NARROWEST });
  test("has room for the largest report", async ({ report, page }) => {
    await report.open("large");
    await openAll(page);
    await expect.poll(() => beyondTheEdge(page)).toEqual([]);
  });
  test("has room for a flame graph's page", async ({ page }) => {
    await page.goto(pageOf("flame"));
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await openAll(page);
    await expect.poll(() => beyondTheEdge(page)).toEqual([]);
  });
});

for (const { name, viewport, samples } of SCREENS) {
  test.describe(name, () => {
    test.use({ viewport });
    for (const sample of samples) {
      test(`nothing reaches over the edge, ${sample}, on ${name}`, async ({ report, page }) => {
        await report.open(sample);
        await openAll(page);
        await expect.poll(() => beyondTheEdge(page)).toEqual([]);
      });
    }
    test(`every chart is as wide as ${name} and can be zoomed`, async ({ report, page }) => {
      await report.open("overload");
      for (const id of ["throughput", "latency", "heatmap", "pauses", "cpu", "threads", "pools", "tables"]) {
        await report.panel(id).scrollIntoViewIfNeeded();
        const area = report.area(id);
        await expect
          .poll(() => area.evaluate((one) => one.getBoundingClientRect().width))
          .toBeGreaterThan(viewport.width - 140);
      }
      const area = report.area("throughput");
      await area.scrollIntoViewIfNeeded();
      const box = await area.boundingBox();
      if (!box) throw new Error("throughput is not drawn");
      await page.mouse.move(box.x + box.width / 4, box.y + 50);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2, box.y + 50, { steps: 3 });
      await page.mouse.up();
      await expect.poll(async () => Math.round((await report.times())?.[0] ?? 0)).toBe(23);
      // The text at the pointer stays within the page at both ends.
      for (const share of [0.02, 0.98]) {
        for (const id of ["heatmap", "pauses"]) {
          await report.area(id).scrollIntoViewIfNeeded();
          const size = await report.area(id).boundingBox();
          await report.area(id).hover({ position: { x: (size?.width ?? 0) * share, y: 10 } });
          expect(await beyondTheEdge(page)).toEqual([]);
        }
      }
    });
  });
}

test.describe("forty phases", () => {
  test.use({ viewport: { width: 390, height: 844 } });
  test("are all in the table without scrolling down, and side by side over the charts", async ({
    report,
    page,
  }) => {
    await report.open("large");
    const box = page.getByRole("region", { name: "Phases as a table" });
    await expect(box.getByRole("row").last()).toContainText("step 40 of the ramp");
    expect(await box.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0);

    const band = page.getByRole("group", { name: "Phases" }).locator("button:visible");
    await expect(band).toHaveCount(40);
    const overlaps = await band.evaluateAll((buttons) => {
      const boxes = buttons.map((button) => button.getBoundingClientRect());
      return boxes.filter((box, index) => index > 0 && box.left < (boxes[index - 1]?.right ?? 0) - 0.5)
        .length;
    });
    expect(overlaps).toBe(0);
  });
});
