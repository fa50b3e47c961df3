import { SCHEMES, seriousProblems } from "./axe";
import { expect, test } from "./page";

for (const scheme of SCHEMES) {
  for (const sample of ["overload", "empty", "variants"] as const) {
    test(`axe finds no serious problem, ${sample}, ${scheme}`, async ({ report, page }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await report.open(sample);
      for (const summary of await page.locator("summary").all()) await summary.click();
      if (sample === "overload") await report.panel("pauses").getByRole("button", { name: "Table" }).click();
      expect(await seriousProblems(page, scheme)).toEqual([]);
      await page.keyboard.press("?");
      await expect(page.getByRole("dialog")).toBeVisible();
      expect(await seriousProblems(page, scheme, "dialog[open]")).toEqual([]);
    });
  }
}

test("the theme follows the system until it is chosen, and charts follow the theme", async ({
  report,
  page,
}) => {
  await page.emulateMedia({ colorScheme: "light" });
  await report.open("overload", "#chart=heatmap");
  await report.expectDrawn("heatmap");
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  const picture = await report.pixels("heatmap");
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(ground).not.toBe(light);
  await expect.poll(() => report.pixels("heatmap")).not.toBe(picture);
  await page.keyboard.press("t");
  await expect.poll(ground).toBe(light);
  await expect.poll(() => report.pixels("heatmap")).toBe(picture);
  await page.reload();
  await expect.poll(ground).toBe(light);
});

test("the help opens and closes by key and holds back the other keys", async ({ report, page }) => {
  await report.open("overload");
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Help" });
  await expect(dialog).toBeVisible();
  await page.keyboard.press("+");
  await report.expectWhole();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await page.keyboard.press("?");
  await expect(dialog).toBeVisible();
  await page.keyboard.press("?");
  await expect(dialog).toBeHidden();
});

test("every control is reached by Tab and shows that it has the focus", async ({ report, page }) => {
  await report.open("overload");
  const reachable = await page.locator("button:visible, summary:visible, [tabindex='0']:visible").count();
  const seen = new Set<string>();
  for (let presses = 0; presses <= reachable; presses += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      const all = [...document.querySelectorAll("*")];
      const outlined = getComputedStyle(element).outlineStyle !== "none";
      return { place: all.indexOf(element), outlined, html: element.outerHTML.slice(0, 80) };
    });
    if (!focused) break;
    expect(focused.outlined, focused.html).toBe(true);
    seen.add(String(focused.place));
  }
  expect(seen.size).toBeGreaterThanOrEqual(reachable);
});

test("each chart has its summary in words, which follows the window", async ({ report }) => {
  await report.open("overload", "#t=58-62");
  await expect(report.panel("latency")).toHaveAccessibleDescription(
    /response time in this window: p99 per bin between .* the slowest request took/,
  );
  await expect(report.panel("heatmap")).toHaveAccessibleDescription(/requests in this window; most of them/);
  await expect(report.panel("pauses")).toHaveAccessibleDescription(/Server GC: \d+, together/);
  const before = await report.panel("cpu").locator(".visually-hidden").first().textContent();
  await report.page.keyboard.press("0");
  await expect(report.panel("cpu").locator(".visually-hidden").first()).not.toHaveText(before ?? "");
});

test("on paper all charts are drawn, in light colours, as wide as the page", async ({ report, page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await report.open("overload");
  const widths = () =>
    page.locator(".panel canvas").evaluateAll((all) => {
      const shown = all.filter((one) => one.closest(".scale") === null);
      return [...new Set(shown.map((one) => one.getBoundingClientRect().width))];
    });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  await expect.poll(widths).toEqual([960]);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await expect(page.locator("html")).not.toHaveAttribute("data-theme");
  await report.panel("latency").scrollIntoViewIfNeeded();
  await expect.poll(() => report.area("latency").evaluate((area) => area.clientWidth)).toBeGreaterThan(1200);
});
