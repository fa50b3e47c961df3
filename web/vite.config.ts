import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";

// A page is one file with everything in it: the binary embeds it and writes a recording's figures into it. Each is built
// by itself, the mode says which.
export default defineConfig(({ mode }) => {
  const flame = mode === "flame";
  return {
    plugins: [viteSingleFile({ removeViteModuleLoader: true })],
    build: {
      target: "es2023",
      rollupOptions: { input: flame ? "flame.html" : "report.html" },
      emptyOutDir: !flame,
      modulePreload: false,
    },
    test: { include: ["src/**/*.test.ts"] },
  };
});
