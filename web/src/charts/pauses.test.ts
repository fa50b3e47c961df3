import { describe, expect, it } from "vitest";
import type { Pause } from "../model";
import { lanes, notCaptured } from "./pauses";

describe("pauses", () => {
  it("have a lane for each kind of pause, the server first, by start", () => {
    const pause = (side: Pause["side"], kind: Pause["kind"], start_s: number, node: string): Pause => ({
      side,
      kind,
      start_s,
      node,
      duration_ms: 1,
      label: "",
    });
    const found = lanes([
      pause("load", "stall", 1, ""),
      pause("server", "gc", 5, "127.0.0.1"),
      pause("server", "gc", 2, "127.0.0.1"),
      pause("server", "gc", 3, "127.0.0.2"),
    ]);
    expect(found.map(({ title, pauses }) => [title, pauses.map(({ start_s }) => start_s)])).toEqual([
      ["Server GC 127.0.0.1", [2, 5]],
      ["Server GC 127.0.0.2", [3]],
      ["Load driver stall", [1]],
    ]);
  });
  it("are not said to be missing where there are some", () => {
    const stall = { start_s: 1, duration_ms: 9, side: "load", kind: "stall", node: "", label: "" } as const;
    expect(notCaptured({ pauses: [], sources: [] })).toContain("stalls");
    expect(notCaptured({ pauses: [stall], sources: [] })).toMatch(/^Not captured: GC .*attached\)\.$/);
  });
});
