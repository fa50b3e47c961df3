import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";

// One file with everything in it: the binary embeds it and writes a recording's figures into it.
export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: "es2023", rollupOptions: { input: "report.html" }, modulePreload: false },
  test: { include: ["src/**/*.test.ts"] },
});
