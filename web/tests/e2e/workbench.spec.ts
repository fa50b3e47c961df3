import { expect, type Page } from "@playwright/test";
import { SCHEMES, seriousProblems } from "./axe";
import { test } from "./sample-server";

async function open(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator("#chart-throughput canvas").first()).toBeVisible();
}

/** Drags over the first chart between two shares of its width. */
async function brush(page: Page, from: number, to: number): Promise<void> {
  const area = page.locator("#chart-throughput .surface").first();
  await area.scrollIntoViewIfNeeded();
  const box = await area.boundingBox();
  if (!box) throw new Error("the chart is not drawn");
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + from * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + to * box.width, y, { steps: 4 });
  await page.mouse.up();
}

const tab = (page: Page, name: string) => page.getByRole("tab", { name, exact: true });

test("a window that is brushed has findings and statements of its own, and a link to it", async ({
  page,
  server,
  context,
}) => {
  await open(page, server.link);
  expect(page.url()).not.toContain("token");
  // The answer is there once, above the tabs.
  await expect(page.locator(".answer")).toHaveText([/requests/]);
  await expect(page.locator("header .answer")).toHaveCount(0);
  await brush(page, 0.25, 0.5);
  await expect(page.locator(".window-answer")).toContainText(/What delayed requests in [\d.]+-[\d.]+/);
  // The whole recording is searched after the window, for its marks.
  const window = server.windowsOf("answer").findLast((asked) => asked !== null) ?? "";
  const [start, end] = window.split("-").map(Number);
  expect(start).toBeGreaterThan(0);
  expect(end).toBeGreaterThan(start ?? 0);
  await expect(page.getByRole("heading", { name: `Found in ${window}` })).toBeVisible();
  await expect(page.locator(".answer")).toHaveText([`What delayed requests in ${window}.`]);

  await tab(page, "Statements").click();
  await expect(page.locator("#panel")).toContainText(`/* ${window} */`);
  await page.getByRole("button", { name: /^p99/ }).click();
  await expect(page.getByRole("columnheader", { name: /^p99/ })).toHaveAttribute("aria-sort", "descending");

  // The link shows the same in another page of this browser.
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(tab(other, "Statements")).toHaveAttribute("aria-selected", "true");
  await expect(other.locator("#panel")).toContainText(`/* ${window.split("-")[0]?.split(".")[0]}`);
  await expect(other.getByRole("columnheader", { name: /^p99/ })).toHaveAttribute("aria-sort", "descending");
  await other.close();

  await page.goBack();
  await expect(page.getByRole("columnheader", { name: /^p99/ })).toHaveAttribute("aria-sort", "none");
});

test("the selected finding stays the same one in another window, also where its rank is another", async ({
  page,
  server,
}) => {
  await open(page, server.link);
  const card = (name: RegExp) => page.locator(".card").filter({ hasText: name });
  const collections = card(/Collections/);
  const strip = page.locator(".bar .of-finding");
  await expect(page.locator(".card h3")).toHaveText([/^Found in/, /^Collections delayed 12 %/]);
  await page.keyboard.press("p");
  await expect(strip).toContainText("Collections delayed 12 %");
  expect(page.url()).toContain("finding=2");
  const entries = await page.evaluate(() => history.length);
  // Of its own window it is the first one, with another share.
  await expect(page.locator(".card h3")).toHaveText([/^Collections delayed 86 %/, /^Found in/]);
  await expect(collections).toHaveClass(/chosen/);
  await expect(card(/^.*Found in/)).not.toHaveClass(/chosen/);
  await expect(strip).toContainText("Collections delayed 86 %");
  await expect(page).toHaveURL(/finding=1/);
  expect(await page.evaluate(() => history.length)).toBe(entries);
  // The link shows it again.
  await page.reload();
  await expect(collections).toHaveClass(/chosen/);
  await expect(strip).toContainText("Collections delayed 86 %");
  // The keys follow the cards.
  await page.keyboard.press("n");
  await expect(card(/Found in/)).toHaveClass(/chosen/);
  await expect(strip).toContainText("Found in");
  await expect(page.getByRole("heading", { name: /^Found in 4\.5-/ })).toBeVisible();
  await expect(card(/Found in/)).toHaveCount(1);
  await page.goBack();
  await expect(collections).toHaveClass(/chosen/);
  await expect(strip).toContainText("Collections");
  // In a window without it, nothing is selected.
  for (let step = 0; step < 4; step += 1) await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expect(collections).toHaveCount(0);
  await expect(page.locator(".card.chosen")).toHaveCount(0);
  await expect(strip).toHaveText("");
  await expect.poll(() => page.url()).not.toContain("finding=");
  // The line of the whole run marks it nevertheless.
  const marked = (share: number) =>
    page.locator(".overview canvas").evaluate((canvas: HTMLCanvasElement, at) => {
      const over = canvas.parentElement?.querySelector(".over")?.getBoundingClientRect();
      const box = canvas.getBoundingClientRect();
      const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
      if (!over || !pixel) throw new Error("no overview");
      const x = (over.left - box.left + at * over.width) * (canvas.width / box.width);
      pixel.drawImage(canvas, -Math.floor(x), -1);
      return (pixel.getImageData(0, 0, 1, 1).data[3] ?? 0) > 0;
    }, share);
  expect(await marked(45 / 90)).toBe(true);
  expect(await marked(30 / 90)).toBe(false);
});

test("keys choose tabs and the window, but not while a query is written", async ({ page, server }) => {
  await open(page, server.link);
  await page.keyboard.press("]");
  await expect(tab(page, "Statements")).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("[");
  await expect(tab(page, "Overview")).toHaveAttribute("aria-selected", "true");
  await tab(page, "SQL").click();
  const editor = page.getByRole("textbox", { name: "SQL query" });
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("select 1 + 0 from requests");
  await expect(tab(page, "SQL")).toHaveAttribute("aria-selected", "true");
  await expect(page.locator(".bar .window")).toContainText("Whole run");
  await page.keyboard.press("Escape");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("region", { name: "Result as a table" })).toContainText("12,345");
  expect(
    server.asked.some(({ searchParams }) => searchParams.get("q") === "select 1 + 0 from requests"),
  ).toBe(true);
});

test("an error of a query is shown where its result would be", async ({ page, server }) => {
  await page.goto(`${server.link}&tab=sql&q=${encodeURIComponent("select wrong")}`);
  await expect(page.locator(".result")).toContainText("no column wrong");
});

test("a saved window opens from its link, and back leads to the recording that it came from", async ({
  page,
  server,
}) => {
  await open(page, server.link);
  await page.keyboard.press("s");
  const dialog = page.getByRole("dialog", { name: "Save this window" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("moment");
  await page.keyboard.press("Enter");
  await dialog.getByRole("link", { name: "Open it" }).click();
  const shown = page.getByRole("combobox", { name: "Recording" });
  await expect(shown).toHaveValue("moment.helenus");
  await expect(page.locator("#chart-throughput")).toBeVisible();
  await page.goBack();
  await expect(shown).toHaveValue("run.helenus");
  await page.reload();
  await expect(shown).toHaveValue("run.helenus");
});

test("while a window is read, the page says so in the place of what is missing", async ({ page, server }) => {
  await page.goto(`${server.link}&tab=statements`);
  await expect(page.locator("#panel table")).toBeVisible();
  const answer = page.locator(".window-answer");
  const places = (): Promise<number[]> =>
    page
      .locator(".window-answer, .strip, .tab-row, #panel")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  const before = await places();
  const [found, read] = [server.hold("answer"), server.hold("statements")];
  await page.keyboard.press("+");
  await expect(answer.getByText("Searching for findings …")).toBeVisible();
  await expect(answer.locator(".answer")).toBeHidden();
  await expect(page.locator("#panel").getByText("Reading …")).toBeVisible();
  await expect(page.locator("#panel table")).toBeVisible();
  expect(await places()).toEqual(before);
  found();
  read();
  await expect(answer).toContainText("What delayed requests in 18-72");
  await expect(page.locator("#panel")).toContainText("/* 18-72 */");
  await expect(page.locator(".reading")).toHaveCount(0);

  // The content of another tab is out of sight, and a tab that needs no answer is there at once.
  const listed = server.hold("clients");
  await tab(page, "Clients").click();
  await expect(page.locator("#panel").getByText("Reading …")).toBeVisible();
  await expect(page.locator("#panel table")).toBeHidden();
  await tab(page, "Sources").click();
  await expect(page.locator("#panel")).not.toHaveAttribute("aria-busy");
  await expect(page.locator("#sources")).toBeVisible();
  listed();
});

test("a server that ends is shown, and the page goes on when it is back", async ({ page, server }) => {
  await open(page, server.link);
  await expect(page.locator(".gone")).toBeHidden();
  await server.stop();
  await tab(page, "Statements").click();
  await expect(page.locator(".gone")).toContainText("The server does not answer");
  await expect(page.locator("#panel")).toHaveText("The server does not answer.");
  await page.keyboard.press("+");
  await expect(page.locator(".window-answer")).toContainText("The server does not answer.");
  await server.start();
  await expect(page.locator(".gone")).toBeHidden({ timeout: 30_000 });
  // What failed meanwhile comes by itself.
  await expect(page.locator("#panel")).toContainText("/* 18-72 */");
  await expect(page.locator(".window-answer")).toContainText("What delayed requests in 18-72");
  await tab(page, "Flame graph").click();
  await expect(page.locator("#panel canvas")).toBeVisible();
});

test("the tab of flame graphs and a query come by themselves when the server is back", async ({
  page,
  server,
}) => {
  await open(page, server.link);
  for (const [name, shown] of [
    ["Flame graph", "canvas"],
    ["SQL", ".result table"],
  ] as const) {
    if (name === "SQL") {
      await tab(page, name).click();
      await expect(page.getByRole("textbox", { name: "SQL query" })).toBeVisible();
      await server.stop();
      await page.getByRole("textbox", { name: "SQL query" }).click();
      await page.keyboard.press("ControlOrMeta+Enter");
    } else {
      await server.stop();
      await tab(page, name).click();
    }
    await expect(page.locator("#panel")).toContainText("The server does not answer.");
    await server.start();
    await expect(page.locator(`#panel ${shown}`)).toBeVisible({ timeout: 30_000 });
  }
});

test("a server that was started again says at once that it takes another link", async ({ page, server }) => {
  await open(page, server.link);
  await server.replace();
  await expect(page.locator(".gone")).toContainText("The server refuses the token of this page", {
    timeout: 30_000,
  });
  await page.reload();
  await expect(page.getByRole("alert")).toHaveText([/Open the link that helenus serve printed/]);
  // Its link works in the same tab.
  await page.goto(server.link);
  await expect(page.locator("#chart-throughput canvas").first()).toBeVisible();
  await expect(page.locator(".gone")).toBeHidden();
});

test("without the token the page asks for it, and goes on", async ({ page, server }) => {
  await page.goto(`${server.address}#tab=statements`);
  await expect(page.getByRole("alert")).toHaveText([/opened without a token/]);
  expect(await seriousProblems(page, "light")).toEqual([]);
  const field = page.getByRole("textbox", { name: "Link or token" });
  const form = page.locator(".gone form");
  await expect(field).toBeFocused();
  await page.keyboard.type("two words");
  await page.keyboard.press("Enter");
  await expect(form).toContainText("There is no token in this text.");
  await field.fill("0000");
  await page.keyboard.press("Enter");
  await expect(form).toContainText("The server refuses this token.");
  await field.fill(`  ${server.link}`);
  await page.getByRole("button", { name: "Go on" }).click();
  await expect(page.locator("#panel")).toContainText("SELECT b FROM t");
  await expect(page.locator(".gone")).toBeHidden();

  // The token is kept for this tab alone, and is not in the address.
  const token = server.link.split("token=")[1] ?? "";
  expect(page.url()).toContain("tab=statements");
  expect(page.url()).not.toContain(token);
  expect(await page.evaluate(() => JSON.stringify(localStorage) + document.cookie)).not.toContain(token);
  await page.reload();
  await expect(page.locator("#panel")).toContainText("SELECT b FROM t");
});

test("an open page goes on with the token of a server that was started again", async ({ page, server }) => {
  await open(page, server.link);
  await server.replace();
  await tab(page, "Statements").click();
  await expect(page.locator(".gone")).toContainText("The server refuses the token of this page");
  await page.getByRole("textbox", { name: "Link or token" }).fill(server.link.split("token=")[1] ?? "");
  await page.keyboard.press("Enter");
  await expect(page.locator(".gone")).toBeHidden();
  await expect(page.locator("#panel")).toContainText("SELECT b FROM t");
});

for (const colorScheme of SCHEMES) {
  test(`nothing keeps anybody from using it, in ${colorScheme}`, async ({ page, server }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await open(page, server.link);
    for (const name of ["Overview", "Statements", "Flame graph", "SQL", "Sources"]) {
      await tab(page, name).click();
      await expect(tab(page, name)).toHaveAttribute("aria-selected", "true");
      await expect(page.locator("#panel[aria-busy]")).toHaveCount(0);
      expect(await seriousProblems(page, colorScheme), name).toEqual([]);
    }
  });
}

test("a rectangle of the heatmap lists its requests, and a range can be typed", async ({ page, server }) => {
  await open(page, server.link);
  const area = page.locator("#chart-heatmap .surface").first();
  await area.scrollIntoViewIfNeeded();
  await expect(page.locator("#chart-heatmap canvas").first()).toBeVisible();
  const box = await area.boundingBox();
  if (!box) throw new Error("the chart is not drawn");
  await page.mouse.move(box.x + 0.25 * box.width, box.y + 0.5 * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.7 * box.height, { steps: 4 });
  await page.mouse.up();
  await expect(tab(page, "Slowest")).toHaveAttribute("aria-selected", "true");
  await expect(page.getByRole("heading", { name: "What these 40 requests have in common" })).toBeVisible();
  const last = (name: string) =>
    server.asked.findLast(({ pathname }) => pathname === `/api/${name}`)?.searchParams;
  const took = last("shared")?.get("took") ?? "";
  const [from, below] = took.split("-").map(Number);
  expect(from).toBeGreaterThan(0);
  expect(below).toBeGreaterThan(from ?? 0);
  const [start, end] = (last("shared")?.get("t") ?? "").split("-").map(Number);
  expect([start, end].map((edge) => Math.round((edge ?? 0) / 10))).toEqual(
    [2, 5].map((edge) => Math.round(edge * 0.9)),
  );
  // The findings are about the same requests.
  await expect.poll(() => last("answer")?.get("took")).toBe(took);
  // A value limits the list further, by key.
  await page.locator("#panel").getByRole("button", { name: "10.0.0.7", exact: true }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => last("shared")?.get("client")).toBe("10.0.0.7");
  const low = page.getByRole("spinbutton", { name: /from/ });
  await low.fill("7.5");
  await low.press("Enter");
  await expect.poll(() => last("shared")?.get("took")).toBe(`7.5-${below}`);
  await page.getByRole("button", { name: /^Requests of 7\.50/ }).click();
  await expect.poll(() => last("slowest")?.get("took") ?? null).toBeNull();
});

test("two windows are compared by statement, setting and frame", async ({ page, server }) => {
  await page.goto(`${server.link}&tab=compare&t=40-60&against=10-20`);
  const panel = page.locator("#panel");
  await expect(panel).toContainText("Lz4.decompress has 40 % of the CPU samples, 2 % before.");
  await expect(panel.getByRole("heading", { level: 3 })).toHaveText([
    "By statement",
    "By setting",
    "By frame",
    "Figures",
  ]);
  await expect(panel).toContainText("compaction-throughput");
  await expect(panel).not.toContainText("Variants");
  await panel.getByRole("button", { name: "SELECT a FROM t" }).click();
  await expect(tab(page, "Statements")).toHaveAttribute("aria-selected", "true");
});

test("a command in a finding leads to the tab with its answer", async ({ page, server }) => {
  await open(page, server.link);
  const card = page.locator(".card").filter({ has: page.getByRole("heading", { name: /^Collections/ }) });
  const link = card.getByRole("link", { name: "helenus gc RECORDING" });
  // Others are text.
  await expect(card.getByRole("link")).toHaveCount(1);
  await link.focus();
  await page.keyboard.press("Enter");
  await expect(tab(page, "GC")).toHaveAttribute("aria-selected", "true");
  await page.goBack();
  await expect(tab(page, "Overview")).toHaveAttribute("aria-selected", "true");
});
