import { describe, expect, it } from "vitest";
import { luminance, type Rgb, shadeOf, shades } from "./palette";

const GROUND: Record<string, Rgb> = { light: [255, 255, 255], dark: [0x17, 0x1b, 0x21] };

describe.each([
  ["light", false],
  ["dark", true],
])("the %s shades", (name, dark) => {
  const table = shades(dark);
  it("grow steadily lighter or darker, so that more always looks like more", () => {
    const levels = table.map(luminance);
    for (let index = 1; index < levels.length; index += 1) {
      const step = (levels[index] ?? 0) - (levels[index - 1] ?? 0);
      // Two neighbours may round to the same colour.
      expect(dark ? step : -step).toBeGreaterThan(-0.002);
    }
  });
  it("let a single request stand out from the ground by 3 to 1", () => {
    const [a, b] = [luminance(table[0] ?? [0, 0, 0]), luminance(GROUND[name] ?? [0, 0, 0])];
    expect((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)).toBeGreaterThanOrEqual(3);
  });
});

describe("a shade", () => {
  it("follows the logarithm of the count", () => {
    expect(shadeOf(1, 10000)).toBe(0);
    expect(shadeOf(100, 10000)).toBe(128);
    expect(shadeOf(10000, 10000)).toBe(255);
    expect(shadeOf(1, 1)).toBe(0);
  });
});
