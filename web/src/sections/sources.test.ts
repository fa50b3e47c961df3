import { describe, expect, it } from "vitest";
import type { Source } from "../model";
import { seriousLosses } from "./header";
import { slightLosses } from "./sources";

describe("what a source lost", () => {
  const source = (source: string, lost: number, is_serious: boolean): Source => ({
    source,
    node: "",
    provider: "proc",
    captured: 1716,
    lost,
    is_serious,
    lost_reason: "",
    cpu_share: null,
  });
  it("is a quiet line when it changes no figure, and no banner", () => {
    const slight = [source("cpus", 1, false), source("pauses", 0, false)];
    expect(slightLosses(slight)).toBe("Rows lost, too few to change a figure: cpus 1.");
    expect(seriousLosses(slight)).toBe("");
  });
  it("is a banner when a figure may be wrong", () => {
    const serious = [source("threads", 300, true)];
    expect(seriousLosses(serious)).toBe("threads lost 300 of 2,016 rows (15\u00a0%).");
    expect(slightLosses(serious)).toBe("");
  });
  it("is nothing when nothing was lost", () => {
    expect(slightLosses([source("cpus", 0, false)]) + seriousLosses([source("cpus", 0, false)])).toBe("");
  });
});
