import { test as base, expect } from "@playwright/test";
import { WorkbenchServer } from "../sample/workbench";

/** Each test has a server of its own, and fails on any console message except that the server is gone. */
export const test = base.extend<{ server: WorkbenchServer }>({
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
