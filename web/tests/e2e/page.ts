import { test as base, expect, type Locator, type Page } from "@playwright/test";
import { pageOf, type Sample } from "../sample/pages";

/** Expects a canvas to have been drawn over the width of the page, which it keeps then. */
export async function expectWide(canvas: Locator): Promise<void> {
  await expect.poll(() => canvas.evaluate((one) => (one as HTMLCanvasElement).width)).toBeGreaterThan(900);
}

/** A report in the browser, as a person sees it. */
export class ReportPage {
  constructor(readonly page: Page) {}

  async open(sample: Sample, hash = ""): Promise<void> {
    await this.page.goto(`${pageOf(sample)}${hash}`);
    await expect(this.page.getByRole("heading", { level: 1 })).toBeVisible();
  }

  /** The window as the bar shows it. */
  get window() {
    return this.page.locator(".bar .window");
  }

  panel(id: string) {
    return this.page.locator(`#chart-${id}`);
  }

  /** The plotting area of a chart's first plot. */
  area(id: string) {
    return this.panel(id).locator(".surface").first();
  }

  /** Scrolls until a chart is at the top and drawn over its final width. */
  async toTop(id: string): Promise<void> {
    await this.area(id).scrollIntoViewIfNeeded();
    await this.page.evaluate((panel) => document.getElementById(panel)?.scrollIntoView(), `chart-${id}`);
    await this.expectDrawn(id);
  }

  /** Drags over a chart between two shares of its width. */
  async drag(id: string, from: number, to: number): Promise<void> {
    const area = this.area(id);
    await this.toTop(id);
    const box = await area.boundingBox();
    if (!box) throw new Error(`${id} is not drawn`);
    const y = box.y + box.height / 2;
    await this.page.mouse.move(box.x + from * box.width, y);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x + ((from + to) / 2) * box.width, y, { steps: 3 });
    await this.page.mouse.move(box.x + to * box.width, y);
    await this.page.mouse.up();
  }

  /** The window in the address, in seconds; null for the whole run. */
  async times(): Promise<[number, number] | null> {
    const match = /[#&]t=([\d.]+)-([\d.]+)/.exec(await this.page.evaluate(() => location.hash));
    return match ? [Number(match[1]), Number(match[2])] : null;
  }

  /** Expects that the address will hold a window, with a tolerance of a hundredth of its length. */
  async expectTimes(start: number, end: number): Promise<void> {
    const near = (end - start) / 100;
    await expect
      .poll(async () => {
        const times = await this.times();
        return times !== null && Math.abs(times[0] - start) <= near && Math.abs(times[1] - end) <= near
          ? "there"
          : times;
      })
      .toBe("there");
  }

  async expectWhole(): Promise<void> {
    await expect.poll(() => this.times()).toBeNull();
    await expect(this.window).toContainText("Whole run");
  }

  /** Expects a chart to be drawn over the width of the page; charts outside of the screen are drawn later. */
  async expectDrawn(id: string): Promise<void> {
    await expectWide(this.panel(id).locator("canvas").first());
  }

  /** A fingerprint of what a chart's canvas shows. */
  pixels(id: string): Promise<string> {
    return this.panel(id)
      .locator("canvas")
      .first()
      .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  }
}

/** Opens a report, and fails the test on any console message or request other than for the page. */
export const pagesOnly = base.extend<{ report: ReportPage; errors: string[] }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright wants a pattern.
  errors: async ({}, use) => use([]),
  report: async ({ page, errors }, use) => {
    const said: string[] = [];
    page.on("console", (message) => said.push(`console ${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("requestfailed", (request) => said.push(`failed: ${request.url()}`));
    page.on("request", (request) => {
      if (!request.url().startsWith("file:") && !request.url().startsWith("data:"))
        said.push(`asked for: ${request.url()}`);
    });
    await use(new ReportPage(page));
    expect(said).toEqual([]);
  },
});

/** Like the fixture above, and any error fails the test, too. */
export const test = pagesOnly.extend({
  report: async ({ report, errors }, use) => {
    await use(report);
    expect(errors).toEqual([]);
  },
});

export { expect };
