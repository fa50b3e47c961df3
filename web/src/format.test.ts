import { describe, expect, it } from "vitest";
import {
  bytes,
  clock,
  count,
  digits3,
  milliseconds,
  percent,
  perSecond,
  plural,
  span,
  wallTime,
} from "./format";

/** No-break spaces are there for the layout. */
const plain = (text: string): string => text.replaceAll("\u00a0", " ");

describe("numbers", () => {
  it("keep three digits", () => {
    expect([0, 0.0412, 4.123, 41.23, 412.3, 4123].map(digits3)).toEqual([
      "0",
      "0.0412",
      "4.12",
      "41.2",
      "412",
      "4,123",
    ]);
  });
  it("are a dash where there is no number, as JSON makes of one that is not finite", () => {
    for (const value of [null as unknown as number, Number.NaN, Number.POSITIVE_INFINITY]) {
      for (const write of [count, digits3, percent]) expect(write(value)).toBe("–");
      for (const write of [milliseconds, perSecond, span, bytes]) expect(write(value)).toMatch(/^–/);
    }
  });
  it("carry the unit that reads best", () => {
    expect([0.0123, 0.5, 41.2, 1240].map(milliseconds).map(plain)).toEqual([
      "12.3 µs",
      "0.500 ms",
      "41.2 ms",
      "1.24 s",
    ]);
    expect([12, 2048, 100_000_000, 3 * 1024 ** 3].map(bytes).map(plain)).toEqual([
      "12 B",
      "2.0 KiB",
      "95.4 MiB",
      "3.0 GiB",
    ]);
    expect([0.25, 12.34, 5600].map(perSecond)).toEqual(["0.250/s", "12.3/s", "5,600/s"]);
    expect(plural(1, "request")).toBe("1 request");
    expect(plural(1200, "request")).toBe("1,200 requests");
  });
});

describe("shares", () => {
  it("never round something to nothing, nor nearly all to all", () => {
    expect([0, 0.0002, 0.021, 0.62, 0.996, 0.9999, 1].map(percent).map(plain)).toEqual([
      "0 %",
      "< 0.1 %",
      "2.1 %",
      "62 %",
      "99.6 %",
      "> 99.9 %",
      "100 %",
    ]);
  });
});

describe("times", () => {
  it("are seconds in short runs and clock-like in long ones", () => {
    expect(clock(43.25, 0.01, 90)).toBe("43.25");
    expect(clock(43.25, 1, 90)).toBe("43");
    expect(clock(763.25, 0.1, 900)).toBe("12:43.3");
    expect(clock(4363, 1, 7200)).toBe("1:12:43");
  });
  it("carry over when the seconds round up to a minute", () => {
    expect(clock(119.96, 0.1, 900)).toBe("2:00.0");
  });
  it("have lengths that read well", () => {
    expect([0.25, 4, 90, 600, 750, 7500].map(span).map(plain)).toEqual([
      "250 ms",
      "4.00 s",
      "90 s",
      "10 min",
      "12 min 30 s",
      "2 h 5 min",
    ]);
  });
  it("map to the wall clock that logs use", () => {
    expect(wallTime("2026-03-14T03:12:45.250Z", 60.5)).toBe("03:13:45.750");
    expect(wallTime("2026-03-14T03:12:45.250Z", 60.5, 0.1)).toBe("03:13:45.8");
    expect(wallTime("2026-03-14T23:59:59.250Z", 0.5, 2)).toBe("00:00:00");
    expect(wallTime("not a date", 1)).toBe("");
  });
});
