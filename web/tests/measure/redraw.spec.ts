import { expect, test } from "../e2e/page";

const FRAMES = 60;

/** Redraw times as measured by the page itself, from the start of the frame until uPlot has drawn. */
function statistics(durations_ms: number[]): string {
  const sorted = [...durations_ms].sort((a, b) => a - b);
  const at = (quantile: number) => (sorted[Math.ceil(quantile * sorted.length) - 1] ?? 0).toFixed(1);
  return `${sorted.length} redraws, median ${at(0.5)} ms, p95 ${at(0.95)} ms, max ${at(1)} ms`;
}

for (const { sample, chart, height } of [
  { sample: "million", chart: "throughput", height: 900 },
  { sample: "million", chart: "threads", height: 900 },
  { sample: "dense", chart: "heatmap", height: 900 },
  { sample: "dense", chart: "throughput", height: 3000 },
] as const) {
  test(`${sample}, from ${chart} on, ${height} px high`, async ({ report, page }) => {
    await page.setViewportSize({ width: 1440, height });
    const begun = Date.now();
    await report.open(sample, `#chart=${chart}`);
    await report.expectDrawn(chart);
    const opened_ms = Date.now() - begun;
    const cells = await page.evaluate(
      () => JSON.parse(document.getElementById("report")?.textContent ?? "{}").heatmap.cells.length,
    );
    const durations = await page.evaluate(async (frames) => {
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const press = (key: string) =>
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      performance.clearMeasures();
      for (let i = 0; i < frames; i += 1) {
        press(i < frames / 4 ? "+" : i < frames / 2 ? "-" : i % 2 === 0 ? "+" : "ArrowRight");
        await frame();
        await frame();
      }
      return performance.getEntriesByName("helenus-redraw").map(({ duration }) => duration);
    }, FRAMES);
    process.stdout.write(`    opened in ${opened_ms} ms, ${cells} cells; ${statistics(durations)}\n`);
    expect(durations.length).toBeGreaterThanOrEqual(FRAMES / 2);
  });
}
