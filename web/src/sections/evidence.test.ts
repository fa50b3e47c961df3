import { describe, expect, it } from "vitest";
import { inLine, named } from "./evidence";

function plain(name: string, value: unknown): string {
  const { words, write } = named(name);
  return `${words}: ${inLine(value, write).replaceAll("\u00a0", " ")}`;
}

describe("evidence", () => {
  it("gets its unit from the end of the name", () => {
    expect(plain("longest_pause_ms", 740)).toBe("longest pause: 740 ms");
    expect(plain("longest_pause_ns", 740e6)).toBe("longest pause: 740 ms");
    expect(plain("start_ns", 1773457965250000000)).toBe("start: 2026-03-14 03:12:45.250 UTC");
    expect(plain("heap_before_bytes", 1024 ** 3)).toBe("heap before: 1.0 GiB");
    expect(plain("cpu_busy_share", 0.96)).toBe("cpu busy share: 96 %");
    expect(plain("share", 0.62)).toBe("share: 62 %");
    expect(plain("knee_per_s", 5600)).toBe("knee: 5,600/s");
    expect(plain("slow_requests", 4211)).toBe("slow requests: 4,211");
  });
  it("hands the unit on to what is in it", () => {
    expect(plain("response_ms", { p50: 1.2, p99: 41 })).toBe("response: p50 1.20 ms, p99 41.0 ms");
    expect(plain("usage", { idle_share: 0.04, busy_cpus: 1.92 })).toBe(
      "usage: idle share 4 %, busy cpus 1.92",
    );
  });
  it("shows what is no number as it is", () => {
    expect(plain("phase", "step 4")).toBe("phase: step 4");
    expect(plain("phase", null)).toBe("phase: –");
    expect(plain("pools", ["a", "b"])).toBe("pools: a, b");
    expect(plain("full_pools", [])).toBe("full pools: none");
    expect(plain("reached", true)).toBe("reached: yes");
  });
});
