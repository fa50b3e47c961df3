import { describe, expect, it } from "vitest";
import { formatHash, parseHash, wholeSelection } from "./state";

const whole = { start: 0, end: 90 };

describe("an address", () => {
  it("carries all that was chosen, there and back", () => {
    const hash =
      "t=12.5-20&chart=heatmap&latency=service&finding=2&area=12.5-13,1000-20000000&call=pread64&file=%2Fdata%2Fa%26b&tab=sql&q=select%201";
    const selection = parseHash(`#${hash}`, whole);
    expect(selection).toEqual({
      window: { start: 12.5, end: 20 },
      chart: "heatmap",
      latency: "service",
      finding: 2,
      area: { from_s: 12.5, to_s: 13, low_ns: 1000, high_ns: 20_000_000 },
      call: "pread64",
      group: null,
      file: "/data/a&b",
      more: { tab: "sql", q: "select 1" },
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
      "#area=5-3,1-2",
      "#area=1-2,20-10",
      "#area=1-2",
    ])
      expect(parseHash(hash, whole)).toEqual(wholeSelection(whole));
  });
  it("may have a rectangle without an upper end, and a name that is empty", () => {
    const hash = "area=0-0.5,1000000000-&file=";
    const selection = parseHash(`#${hash}`, whole);
    expect(selection.area).toEqual({ from_s: 0, to_s: 0.5, low_ns: 1e9, high_ns: null });
    expect(selection.file).toBe("");
    expect(formatHash(selection, whole)).toBe(hash);
  });
  it("is cut off at the end of the run", () => {
    expect(parseHash("#t=80-1000", whole).window).toEqual({ start: 80, end: 90 });
  });
});
