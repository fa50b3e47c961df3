import { describe, expect, it } from "vitest";
import type { Comparison, Probe } from "../model";
import { byProbe, probes, ratioOf, variantsOf } from "./probes";

describe("probes", () => {
  const probe = (name: string, variant: string | null) => ({ probe: name, variant }) as Probe;

  it("have no section where none was recorded", () => {
    expect(probes({ probes: [] } as unknown as Parameters<typeof probes>[0])).toEqual([]);
  });

  it("keep the order of their first rows", () => {
    const all = byProbe([probe("b", "none"), probe("b", "valve"), probe("a", "none"), probe("c", "valve")]);
    expect(all.map((one) => [one.probe, [...one.of.keys()]])).toEqual([
      ["b", ["none", "valve"]],
      ["a", ["none"]],
      ["c", ["valve"]],
    ]);
  });

  it("are compared with the baseline, if by variant at all", () => {
    const comparison = { baseline: "none" } as Comparison;
    const rows = [probe("b", "valve 2"), probe("b", "valve 1"), probe("a", "none")];
    expect(variantsOf({ probes: rows, comparison })).toEqual(["none", "valve 1", "valve 2"]);
    expect(variantsOf({ probes: [probe("a", null)], comparison })).toBeNull();
    expect(ratioOf(10, 5)).toBe(0.5);
    expect(ratioOf(10, 0)).toBe(0);
    expect([ratioOf(0, 5), ratioOf(undefined, 5), ratioOf(10, null)]).toEqual([null, null, null]);
  });
});
