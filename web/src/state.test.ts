import { describe, expect, it } from "vitest";
import { formatHash, parseHash, wholeSelection } from "./state";

const whole = { start: 0, end: 90 };

describe("an address", () => {
  it("carries all that was chosen, there and back", () => {
    const hash = "t=12.5-20&chart=heatmap&latency=service&finding=2";
    const selection = parseHash(`#${hash}`, whole);
    expect(selection).toEqual({
      window: { start: 12.5, end: 20 },
      chart: "heatmap",
      latency: "service",
      finding: 2,
    });
    expect(formatHash(selection, whole)).toBe(hash);
  });
  it("is empty for the whole run", () => {
    expect(formatHash(wholeSelection(whole), whole)).toBe("");
    expect(parseHash("", whole)).toEqual(wholeSelection(whole));
  });
  it("is as exact as a thousandth of the window", () => {
    const selection = { ...wholeSelection(whole), window: { start: 12.3456789, end: 12.3556789 } };
    expect(formatHash(selection, whole)).toBe("t=12.34568-12.35568");
  });
  it("with nonsense in it shows the whole run", () => {
    for (const hash of [
      "#t=20-12",
      "#t=a-b",
      "#t=200-300",
      "#t=-5-3",
      "#chart=<b>",
      "#finding=x",
      "#latency=p99",
    ])
      expect(parseHash(hash, whole)).toEqual(wholeSelection(whole));
  });
  it("is cut off at the end of the run", () => {
    expect(parseHash("#t=80-1000", whole).window).toEqual({ start: 80, end: 90 });
  });
});
