import { defineConfig } from "@playwright/test";

/** Debian's own browser: nothing is downloaded. The flags let it run as root and keep it off the network. */
export const launchOptions = {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
  ],
};

export default defineConfig({
  testDir: "tests/e2e",
  outputDir: "test-results",
  globalSetup: "./tests/sample/pages.ts",
  forbidOnly: true,
  workers: 1,
  fullyParallel: false,
  reporter: "list",
  timeout: 120_000,
  use: { viewport: { width: 1440, height: 900 }, launchOptions, screenshot: "only-on-failure" },
});
