import { describe, expect, it } from "vitest";
import { readable } from "./evidence";

const plain = ({ name, value }: { name: string; value: string }): string =>
  `${name}: ${value.replaceAll("\u00a0", " ")}`;

describe("evidence", () => {
  it("gets its unit from the end of the name", () => {
    expect(plain(readable("longest_pause_ms", 740))).toBe("longest pause: 740 ms");
    expect(plain(readable("longest_pause_ns", 740e6))).toBe("longest pause: 740 ms");
    expect(plain(readable("heap_before_bytes", 1024 ** 3))).toBe("heap before: 1.00 GiB");
    expect(plain(readable("cpu_busy_share", 0.96))).toBe("cpu busy share: 96 %");
    expect(plain(readable("knee_per_s", 5600))).toBe("knee: 5,600/s");
    expect(plain(readable("slow_requests", 4211))).toBe("slow requests: 4,211");
  });
  it("shows what is no number as it is", () => {
    expect(plain(readable("phase", "step 4"))).toBe("phase: step 4");
    expect(plain(readable("phase", null))).toBe("phase: –");
    expect(plain(readable("pools", ["a", "b"]))).toBe("pools: a, b");
    expect(plain(readable("heap_ms", true))).toBe("heap: yes");
  });
});
