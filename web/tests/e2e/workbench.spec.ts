import { test as base, expect, type Page } from "@playwright/test";
import { LIVE_END_S } from "../sample/live";
import { WorkbenchServer } from "../sample/workbench";
import { SCHEMES, seriousProblems } from "./axe";

/** Each test has a server of its own, and fails on any console message except that the server is gone. */
const test = base.extend<{ server: WorkbenchServer }>({
  server: async ({ page }, use) => {
    const server = new WorkbenchServer();
    await server.start();
    const said: string[] = [];
    page.on("console", (message) => {
      if (!/net::ERR_|401|422/.test(message.text())) said.push(message.text());
    });
    page.on("pageerror", (error) => said.push(error.message));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(server.address) && !/^(data|blob):/.test(url)) said.push(`asked for ${url}`);
    });
    await use(server);
    await server.stop();
    expect(said).toEqual([]);
  },
});

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

test("the live charts have one clock and the same edges, and say where figures begin", async ({
  page,
  server,
}) => {
  server.grow("grows.helenus");
  await page.goto(`${server.link}&recording=grows.helenus`);
  await expect(page.locator(".live-state")).toHaveText("● Live, 20:15:07 UTC");
  // No search has ended yet.
  await expect(page.locator(".window-answer").getByText("Searching for findings …")).toBeVisible();
  const heat = page.locator("figure").filter({ hasText: "Latency heatmap" }).locator(".over");
  const cpu = page.locator("figure").filter({ has: page.getByRole("heading", { name: "CPU" }) });
  await expect(cpu.locator(".legend")).toContainText(/user\s*30.%\s*system.*idle\s*50.%/);
  // Edges within the panel, for each chart of a page of one column.
  await page.setViewportSize({ width: 600, height: 900 });
  const edges = () =>
    page.locator("figure .u-over, figure .over").evaluateAll((all) => {
      const said = all.map((one) => {
        const { left, right } = one.getBoundingClientRect();
        return `${Math.round(left)}-${Math.round(right)}`;
      });
      return { charts: said.length, edges: new Set(said).size };
    });
  await expect.poll(edges).toEqual({ charts: 7, edges: 1 });
  await expect(heat).toBeVisible();
  await expect(page.locator(".silent")).toHaveText("10.0.0.2 answers no client for 6 s, 12 requests wait.");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Help" })).toContainText("Pause, or go on");
  await page.keyboard.press("?");
  // What is not recorded is not drawn as zeros.
  const pauses = page.locator("figure").filter({ has: page.getByRole("heading", { name: "Pauses" }) });
  await expect(pauses).toContainText("Pauses were not recorded");
  await expect(page.locator(".tiles li").filter({ hasText: "GC" })).toHaveText("GC–");
  /** The colour at a place of the chart's plotting area. */
  const at = (share_x: number, share_y: number) =>
    cpu.locator("canvas").evaluate(
      (canvas: HTMLCanvasElement, [x, y]) => {
        const over = canvas.parentElement?.querySelector(".u-over")?.getBoundingClientRect();
        const box = canvas.getBoundingClientRect();
        const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
        if (!over || !pixel) throw new Error("no plot");
        const ratio = canvas.width / box.width;
        const left = (over.left - box.left + x * over.width) * ratio;
        const top = (over.top - box.top + y * over.height) * ratio;
        pixel.drawImage(canvas, -Math.floor(left), -Math.floor(top));
        return [...pixel.getImageData(0, 0, 1, 1).data].join(" ");
      },
      [share_x, share_y] as const,
    );
  const [user, idle] = [await at(0.5, 0.9), await at(0.5, 0.25)];
  expect(user).not.toBe(idle);
  // The stack has no gaps where a reading is missing.
  for (const share of [0.2, 0.21, 0.22, 0.23, 0.24, 0.8]) {
    expect(await at(share, 0.9)).toBe(user);
    expect(await at(share, 0.25)).toBe(idle);
  }
  // The window is longer than what is kept: the rest is drawn up to the right edge.
  await page.getByRole("button", { name: "5 min", exact: true }).click();
  await expect.poll(() => at(0.3, 0.9)).not.toBe(user);
  expect(await at(0.9, 0.9)).toBe(user);
});

test("a click on a node limits the live page to it, and a link to a node that is gone leads back", async ({
  page,
  server,
}) => {
  server.grow("grows.helenus");
  await page.goto(`${server.link}&recording=grows.helenus&tab=nodes`);
  const requests = page.locator(".tiles li").filter({ hasText: "requests" });
  await expect(requests).toContainText("100");
  const threads = page.locator("figure").filter({ has: page.getByRole("heading", { name: "Threads" }) });
  await expect(threads.locator(".legend li:visible")).toHaveCount(2);
  await expect(threads.locator(".legend")).toContainText("driver (load)");
  // The table is replaced every second; focus and clicks survive that.
  const node = page.locator("#panel").getByRole("button", { name: "10.0.0.2", exact: true });
  await node.focus();
  const asked = () => server.asked.filter(({ pathname }) => pathname === "/api/live-table").length;
  const before = asked();
  await expect.poll(asked).toBeGreaterThan(before + 1);
  await expect(node).toBeFocused();
  await node.click({ delay: 1500 });
  await expect(page.locator(".of-node")).toContainText("Node 10.0.0.2");
  await expect(requests).toContainText("50");
  expect(page.url()).toContain("node=10.0.0.2");
  await page.getByRole("button", { name: "All nodes" }).click();
  await expect(page.locator(".of-node")).toBeHidden();
  await expect(requests).toContainText("100");

  await page.goto(`${server.link}&recording=grows.helenus&tab=nodes&node=10.0.0.9`);
  const state = page.locator(".live-state");
  await expect(state).toContainText("nothing was recorded of a node 10.0.0.9");
  await page.getByRole("button", { name: "All nodes" }).click();
  await expect(requests).toContainText("100");
  await expect(page.locator("#panel")).toContainText("10.0.0.2");
  // Figures of other nodes are not shown as those of this one.
  await page.goBack();
  await expect(state).toContainText("nothing was recorded of a node 10.0.0.9");
  await expect(page.locator(".tiles li")).toHaveCount(0);
  await expect(page.locator("figure canvas")).toHaveCount(0);
  await expect(threads.locator(".legend li:visible")).toHaveCount(0);
  await expect(page.locator("#panel")).toHaveText("");
  await page.getByRole("button", { name: "All nodes" }).click();
  await expect(requests).toContainText("100");
  await expect(page.locator("figure canvas").first()).toBeVisible();
  await expect(page.locator("#panel")).toContainText("10.0.0.2");
});

test("a drag over the live heatmap opens the time between press and release, while the picture moves on", async ({
  page,
  server,
}) => {
  server.grow("grows.helenus");
  await page.goto(`${server.link}&recording=grows.helenus`);
  const figure = page.locator("figure").filter({ hasText: "Latency heatmap" });
  const heat = figure.locator(".over");
  const state = page.locator(".live-state");
  await expect(state).toContainText("20:15:07");
  const box = await heat.boundingBox();
  if (!box) throw new Error("the heatmap is not drawn");
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + 0.5 * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.6 * box.width, y, { steps: 3 });
  const brush = figure.locator(".brush");
  /** The brush's edges as shares of the plotting area. */
  const edges = async () => {
    const drawn = await brush.boundingBox();
    return drawn && [drawn.x, drawn.x + drawn.width].map((x) => Number(((x - box.x) / box.width).toFixed(2)));
  };
  expect(await edges()).toEqual([0.5, 0.6]);
  server.pass(12);
  await expect(state).toContainText("20:15:19");
  // Twelve of sixty seconds further left; the pointer has not moved.
  expect(await edges()).toEqual([0.3, 0.6]);
  await page.mouse.move(box.x + 0.75 * box.width, y, { steps: 3 });
  const opened = page.waitForEvent("framenavigated", (frame) => frame.url().includes("at="));
  await page.mouse.up();
  const at = new URLSearchParams(new URL((await opened).url()).hash.slice(1)).get("at") ?? "";
  const [from, to] = at.split("-").map(Number);
  expect(from).toBeCloseTo(LIVE_END_S - 30, 0);
  expect(to).toBeCloseTo(LIVE_END_S + 12 - 15, 0);
  await expect(page.locator("#chart-throughput canvas").first()).toBeVisible();
});

test("the live page is paused when its address says so, also after back", async ({ page, server }) => {
  server.grow("grows.helenus");
  await page.goto(`${server.link}&recording=grows.helenus`);
  const state = page.locator(".live-state");
  await expect(state).toContainText("● Live");
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(state).toContainText("⏸ Paused");
  expect(page.url()).toContain("until=");
  await page.getByRole("button", { name: "Go on" }).click();
  await expect(state).toContainText("● Live");
  expect(page.url()).not.toContain("until=");
  await page.goBack();
  expect(page.url()).toContain("until=");
  await expect(state).toContainText("⏸ Paused");
  await page.goBack();
  await expect(state).toContainText("● Live");
  await page.keyboard.press("ArrowLeft");
  await expect(state).toContainText("⏸ Paused");
  const last = server.asked.findLast(({ pathname }) => pathname === "/api/live");
  expect(page.url()).toContain(`until=${last?.searchParams.get("until")}`);
});

test("an address with a length or a time that cannot be shows the last minute", async ({ page, server }) => {
  server.grow("grows.helenus");
  for (const wrong of ["length=60.5", "length=-5", "length=1e99", "until=1e400"]) {
    await page.goto("about:blank");
    await page.goto(`${server.link}&recording=grows.helenus&${wrong}`);
    await expect(page.locator(".live-state"), wrong).toContainText("● Live");
    await expect(page.getByRole("button", { name: "60 s", exact: true })).toHaveAttribute(
      "aria-pressed",
      "true",
    );
    const asked = server.asked.findLast(({ pathname }) => pathname === "/api/live")?.searchParams;
    expect([asked?.get("length"), asked?.get("until")]).toEqual(["60", null]);
  }
});

test("only a recording that a recorder writes now is called live", async ({ page, server }) => {
  server.grow("grows.helenus");
  server.abandon("killed.helenus");
  // The link of the server goes on opening the recording that grows.
  await page.goto(server.link);
  await expect(page.locator(".live-state")).toContainText("Live");
  await page.getByRole("link", { name: "All recordings" }).click();
  const item = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  await expect(item("grows.helenus")).toContainText("● live");
  await expect(item("killed.helenus")).toBeVisible();
  await expect(item("killed.helenus")).not.toContainText("live");
  await expect(item("run.helenus")).not.toContainText("live");
  await item("run.helenus").getByRole("link").click();
  await expect(page.getByRole("combobox", { name: "Recording" }).getByRole("option")).toHaveText([
    "run.helenus",
    "grows.helenus (live)",
    "killed.helenus",
  ]);
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
  await expect(page.locator(".gone")).toContainText("open the link that helenus serve printed", {
    timeout: 30_000,
  });
  await page.reload();
  await expect(page.getByRole("alert")).toHaveText([/open the link that helenus serve printed/]);
  // Its link works in the same tab.
  await page.goto(server.link);
  await expect(page.locator("#chart-throughput canvas").first()).toBeVisible();
  await expect(page.locator(".gone")).toBeHidden();
});

test("a paused live page asks again for findings that failed", async ({ page, server }) => {
  server.grow("grows.helenus");
  await page.goto(`${server.link}&recording=grows.helenus`);
  await expect(page.locator(".live-state")).toContainText("● Live");
  const release = server.hold("answer");
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.locator(".live-state")).toContainText("⏸ Paused");
  await expect(page.locator(".window-answer").getByText("Searching for findings …")).toBeVisible();
  await server.stop();
  release();
  await expect(page.locator(".window-answer")).toContainText("The server does not answer.");
  await server.start();
  await expect(page.locator(".window-answer")).toContainText("What delayed requests", { timeout: 30_000 });
});

test("without the token there is a way out", async ({ page, server }) => {
  await page.goto(server.address);
  await expect(page.getByRole("alert").last()).toContainText("open the link that helenus serve printed");
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
