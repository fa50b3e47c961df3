import { expect } from "@playwright/test";
import { LIVE_END_S, LIVE_STATEMENTS } from "../sample/live";
import { overloadReport } from "../sample/reports";
import { beyondTheEdge } from "./edges";
import { test } from "./sample-server";

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
  // A source that did not record has no zeros.
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
  // All columns are in sight.
  const table = page.getByRole("region", { name: "Nodes as a table" });
  expect(await table.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
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

for (const chart of ["Latency heatmap", "Requests", "CPU"])
  test(`a drag over the live chart ${chart} opens the time between press and release, while it moves on`, async ({
    page,
    server,
  }) => {
    server.grow("grows.helenus");
    await page.goto(`${server.link}&recording=grows.helenus`);
    const figure = page.getByRole("figure", { name: chart, exact: true });
    const state = page.locator(".live-state");
    await expect(state).toContainText("20:15:07");
    const area = figure.locator(".over, .u-over");
    await area.scrollIntoViewIfNeeded();
    const box = await area.boundingBox();
    if (!box) throw new Error("the chart is not drawn");
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + 0.5 * box.width, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.6 * box.width, y, { steps: 3 });
    const brush = figure.locator(".brush");
    /** The brush's edges as shares of the plotting area. */
    const edges = async () => {
      const drawn = await brush.boundingBox();
      return (
        drawn && [drawn.x, drawn.x + drawn.width].map((x) => Number(((x - box.x) / box.width).toFixed(2)))
      );
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

test("a statement, a client or a table limits the live page, by click and by key, and the address has it", async ({
  page,
  server,
}) => {
  server.grow("grows.helenus");
  await page.goto(`${server.link}&recording=grows.helenus`);
  const select = page.locator("#panel").getByRole("button", { name: /^SELECT a/ });
  await select.focus();
  await page.keyboard.press("Enter");
  const only = page.locator(".of-requests");
  await expect(only).toContainText("Statement SELECT a FROM shop.orders WHERE id = ?");
  await expect(page.getByRole("tab", { name: "Slowest" })).toHaveAttribute("aria-selected", "true");
  const asked = () => server.asked.findLast(({ pathname }) => pathname === "/api/live")?.searchParams;
  await expect.poll(() => asked()?.get("statement")).toBe("SELECT a FROM shop.orders WHERE id = ?");
  // A client instead, from the list of its slowest requests.
  await page.locator("#panel").getByRole("button", { name: "10.0.0.7:4711" }).first().click();
  await expect(only).toContainText("Client 10.0.0.7");
  await expect.poll(() => [asked()?.get("client"), asked()?.get("statement")]).toEqual(["10.0.0.7", null]);
  await page.reload();
  await expect(only).toContainText("Client 10.0.0.7");
  await page.getByRole("button", { name: "All requests" }).click();
  await expect(only).toBeHidden();
  // A table leads to the statements that name it.
  await page.getByRole("tab", { name: "Tables" }).click();
  await page.locator("#panel").getByRole("button", { name: "shop.orders" }).click();
  await expect(page.locator("#panel tbody tr")).toHaveCount(1);
  expect(page.url()).toContain("contains=orders");
  await page.getByRole("button", { name: "Statements that contain orders ×" }).click();
  await expect(page.locator("#panel tbody tr")).toHaveCount(2);
  // A loss of one row in a million does not warn.
  const lost = page.locator(".tiles li").filter({ hasText: "lost" });
  await expect(lost).toContainText("1 row");
  await expect(lost).not.toHaveClass(/bad/);
});

test("findings of the live page have an age, and open in their window", async ({ page, server }) => {
  const [finding] = overloadReport().findings;
  if (!finding) throw new Error("no finding");
  server.found = {
    from_s: LIVE_END_S - 100,
    to_s: LIVE_END_S - 40,
    answer: "Something delayed requests. Next: see `helenus flame RECORDING`.",
    findings: [{ ...finding, rank: 1, title: "Collections delayed 12 % of the slow requests" }],
    error: "",
  };
  server.grow("grows.helenus");
  await page.goto(`${server.link}&recording=grows.helenus`);
  const answer = page.locator(".window-answer");
  await expect(answer).toContainText("Found in 20:13:27 – 20:14:27 UTC, 40 s ago.");
  server.pass(30);
  await expect(answer).toContainText("70 s ago.");
  const command = answer.getByRole("link", { name: "helenus flame RECORDING" });
  await expect(command).toHaveAttribute("href", /closer=yes&at=.*&tab=flame/);
  await answer.getByRole("link", { name: /Collections delayed/ }).click();
  await expect(page.locator("#chart-throughput canvas").first()).toBeVisible();
  expect(page.url()).toContain("finding=1");
  await page.getByRole("link", { name: "← Live page" }).click();
  await expect(page.locator(".live-state")).toContainText("● Live");
});

test("a rectangle of the live heatmap opens its requests, and a cell tells its count", async ({
  page,
  server,
}) => {
  server.grow("grows.helenus");
  await page.goto(`${server.link}&recording=grows.helenus`);
  await expect(page.locator(".live-state")).toContainText("20:15:07");
  const figure = page.getByRole("figure", { name: "Latency heatmap", exact: true });
  await expect(figure.locator(".scale")).toContainText("requests per cell");
  const area = figure.locator(".over");
  await area.scrollIntoViewIfNeeded();
  const box = await area.boundingBox();
  if (!box) throw new Error("the chart is not drawn");
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5);
  await expect(figure.locator(".tip")).toContainText(/100 requests.*UTC/);
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + box.height * 0.8, { steps: 3 });
  await page.mouse.up();
  await expect(page.getByRole("heading", { name: /^What these 40 requests have in common/ })).toBeVisible();
  const took = server.asked.findLast(({ pathname }) => pathname === "/api/shared")?.searchParams.get("took");
  expect(took).toMatch(/^[\d.]+-[\d.]*$/);
});

test("the workbench and its live page fit on a phone, and a tab is as high as its content", async ({
  page,
  server,
}) => {
  await page.setViewportSize({ width: 375, height: 812 });
  server.grow("grows.helenus");
  const [statement] = LIVE_STATEMENTS.rows;
  await page.goto(
    `${server.link}&recording=grows.helenus&statement=${encodeURIComponent(statement?.name ?? "")}`,
  );
  await expect(page.locator(".live-state")).toContainText("● Live");
  await expect(page.locator("#panel table")).toBeVisible();
  await expect.poll(() => beyondTheEdge(page)).toEqual([]);
  // The last button can be reached.
  await page.getByRole("button", { name: "Help" }).click();
  await page.keyboard.press("?");
  await page.goto("about:blank");
  await page.goto(`${server.link}&recording=run.helenus&tab=compare&t=40-60&against=10-20`);
  await expect(page.locator("#panel")).toContainText("By statement");
  await expect.poll(() => beyondTheEdge(page)).toEqual([]);
  const below = () =>
    page.evaluate(() => {
      const panel = document.getElementById("panel")?.getBoundingClientRect();
      return document.documentElement.scrollHeight - ((panel?.bottom ?? 0) + scrollY);
    });
  await expect.poll(below).toBeLessThan(100);
});

test("a setting that can be changed has its current value beside it", async ({ page, server }) => {
  server.grow("grows.helenus");
  await page.goto(`${server.link}&recording=grows.helenus&tab=control`);
  const form = page.getByRole("form", { name: "Setting" });
  await expect(form).toContainText("now 64");
  await form.getByRole("combobox", { name: "Setting: name" }).selectOption("threads");
  await expect(form).toContainText("now read=32");
  await page.getByRole("combobox", { name: "Node" }).selectOption("10.0.0.2");
  const asked = () => server.asked.findLast(({ pathname }) => pathname === "/api/setting-now")?.searchParams;
  await expect.poll(() => [asked()?.get("node"), asked()?.get("name")]).toEqual(["10.0.0.2", "threads"]);
  const sources = page.getByRole("form", { name: "Recording" });
  await expect(sources.getByRole("option", { name: "on (now)" })).toHaveCount(1);
});
