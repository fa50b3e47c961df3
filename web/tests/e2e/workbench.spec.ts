import { test as base, expect, type Page } from "@playwright/test";
import { WorkbenchServer } from "../sample/workbench";
import { SCHEMES, seriousProblems } from "./axe";

/** Each test has a server of its own, and fails on any console message except that the server is gone. */
const test = base.extend<{ server: WorkbenchServer }>({
  server: async ({ page }, use) => {
    const server = new WorkbenchServer();
    await server.start();
    const said: string[] = [];
    page.on("console", (message) => {
      if (!/ERR_CONNECTION|401|422/.test(message.text())) said.push(message.text());
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
  const window = server.windowsOf("answer").at(-1) ?? "";
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

test("a server that ends is shown, and the page goes on when it is back", async ({ page, server }) => {
  await open(page, server.link);
  await expect(page.locator(".gone")).toBeHidden();
  await server.stop();
  await tab(page, "Statements").click();
  await expect(page.locator(".gone")).toContainText("The server does not answer");
  await server.start();
  await expect(page.locator(".gone")).toBeHidden({ timeout: 30_000 });
  await tab(page, "Flame graph").click();
  await expect(page.locator("#panel canvas")).toBeVisible();
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
