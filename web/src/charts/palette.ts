/**
 * The heatmap's colours: lightness changes evenly with the logarithm of the count (so that equal steps look
 * equal), and hue runs from blue-green to violet or yellow, which the common colour blindnesses keep apart.
 * The colour of a single request stands out from the ground by at least 3 to 1 (WCAG 2.2, 1.4.11): in a
 * latency heatmap the lonely cells are the ones that matter.
 */
export type Rgb = readonly [number, number, number];

interface Stop {
  lightness: number;
  chroma: number;
  hue: number;
}

/** The colours in OKLCH. On a light background high counts are dark, on a dark background they are bright. */
const STOPS: Record<"light" | "dark", Stop[]> = {
  light: [
    { lightness: 0.65, chroma: 0.1, hue: 200 },
    { lightness: 0.55, chroma: 0.13, hue: 245 },
    { lightness: 0.43, chroma: 0.17, hue: 285 },
    { lightness: 0.32, chroma: 0.15, hue: 315 },
    { lightness: 0.2, chroma: 0.08, hue: 335 },
  ],
  dark: [
    { lightness: 0.54, chroma: 0.13, hue: 285 },
    { lightness: 0.61, chroma: 0.13, hue: 240 },
    { lightness: 0.73, chroma: 0.12, hue: 190 },
    { lightness: 0.85, chroma: 0.14, hue: 140 },
    { lightness: 0.97, chroma: 0.12, hue: 105 },
  ],
};

export const SHADES = 256;

const tables = new Map<string, Rgb[]>();

/** The SHADES colours, from one request to the largest cell. */
export function shades(dark: boolean): Rgb[] {
  const key = dark ? "dark" : "light";
  const known = tables.get(key);
  if (known) return known;
  const table = Array.from({ length: SHADES }, (_, index) => mix(STOPS[key], index / (SHADES - 1)));
  tables.set(key, table);
  return table;
}

/** Index of a count's shade. */
export function shadeOf(count: number, most: number): number {
  if (most <= 1) return 0;
  return Math.round((Math.log(Math.max(1, count)) / Math.log(most)) * (SHADES - 1));
}

function mix(stops: Stop[], share: number): Rgb {
  const place = share * (stops.length - 1);
  const index = Math.min(stops.length - 2, Math.floor(place));
  const [a, b] = [stops[index], stops[index + 1]];
  if (!a || !b) return [0, 0, 0];
  const t = place - index;
  return toSrgb(
    a.lightness + (b.lightness - a.lightness) * t,
    a.chroma + (b.chroma - a.chroma) * t,
    a.hue + (b.hue - a.hue) * t,
  );
}

/** OKLCH to sRGB (Ottosson, "A perceptual color space for image processing", 2020), cut off at the gamut. */
function toSrgb(lightness: number, chroma: number, hue: number): Rgb {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    channel(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function channel(linear: number): number {
  const cut = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (cut <= 0.0031308 ? 12.92 * cut : 1.055 * cut ** (1 / 2.4) - 0.055));
}

/** Relative luminance of WCAG 2.2. */
export function luminance([red, green, blue]: Rgb): number {
  const linear = (value: number): number => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}
