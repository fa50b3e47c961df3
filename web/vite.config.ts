import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";

// The report and the flame graph are one self-contained file each; the binary embeds them and inserts a recording's
// figures. The workbench is a page with a script and styles, which the binary serves. The mode selects what to build.
export default defineConfig(({ mode }) => {
  const served = mode === "workbench";
  return {
    plugins: served ? [] : [viteSingleFile({ removeViteModuleLoader: true })],
    build: {
      target: "es2023",
      outDir: served ? "dist/workbench" : "dist",
      rollupOptions: served
        ? {
            input: "workbench.html",
            output: {
              entryFileNames: "workbench.js",
              assetFileNames: "workbench[extname]",
              codeSplitting: false,
            },
          }
        : { input: mode === "flame" ? "flame.html" : "report.html" },
      chunkSizeWarningLimit: 2000,
      emptyOutDir: mode !== "flame",
      modulePreload: false,
    },
    test: { include: ["src/**/*.test.ts"] },
  };
});
