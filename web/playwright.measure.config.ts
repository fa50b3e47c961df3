import { defineConfig } from "@playwright/test";
import test from "./playwright.config";

/** How long redraws take, for a person to read; not part of the tests, as a busy machine would fail them. */
export default defineConfig({ ...test, testDir: "tests/measure", timeout: 120_000 });
