import { randomSamples } from "../sample/pages";
import { randomReport, randomWindows } from "../sample/random-report";
import { expect, test } from "./page";

const WINDOWS = 20;

// High enough to show all charts, so that all are drawn.
test.use({ viewport: { width: 1280, height: 4500 } });

for (const sample of randomSamples()) {
  test(`every window of ${sample} is drawn`, async ({ report, page }) => {
    await report.open(sample);
    await report.expectDrawn("tables");
    const seed = Number(sample.split("-")[1]);
    const windows = randomWindows(seed, randomReport(seed).duration_s, WINDOWS);
    const blank = await page.evaluate(async (windows) => {
      const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
      // The value axis, left of the plotting area.
      const hasAxis = (id: string): boolean => {
        const canvas = document.querySelector<HTMLCanvasElement>(`#chart-${id} .plot canvas`);
        if (!canvas || !copy) return false;
        copy.canvas.width = 64;
        copy.canvas.height = canvas.height;
        copy.drawImage(canvas, 0, 0);
        return copy.getImageData(0, 0, 64, canvas.height).data.some((value) => value > 0);
      };
      const frame = (): Promise<unknown> => new Promise(requestAnimationFrame);
      const blank: string[] = [];
      for (const window of windows) {
        const arrived = new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
        location.hash = window;
        await arrived;
        await frame();
        await frame();
        for (const id of ["throughput", "latency", "heatmap", "cpu", "threads", "pools", "valves", "tables"])
          if (!hasAxis(id)) blank.push(`${id} in ${window}`);
      }
      return blank;
    }, windows);
    expect(blank).toEqual([]);
    await expect(page.locator(".failure")).toHaveCount(0);
  });
}
