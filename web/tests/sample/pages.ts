import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FlameTree, Report } from "../../src/model";
import { probesByVariant } from "./agent";
import { comparisonOf } from "./comparison";
import { flameOfMinute } from "./flame";
import { brokenReport, largeReport, refusedReport } from "./odd-reports";
import { randomReport } from "./random-report";
import { denseReport, emptyReport, millionReport, overloadReport, withoutAgent } from "./reports";

export const PLACEHOLDER = "/*HELENUS_REPORT*/";

export const FLAME_PLACEHOLDER = "/*HELENUS_FLAME*/";

const WEB = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const FOLDER = join(WEB, "dist", "samples");

/** Seeds of random recordings. */
const RANDOM_REPORTS = Array.from({ length: 8 }, (_, seed) => seed);

export type Sample =
  | `random-${number}`
  | "broken"
  | "refused"
  | "large"
  | "overload"
  | "million"
  | "dense"
  | "empty"
  | "without-agent"
  | "variants"
  | "template"
  | "flame";

export function randomSamples(): Sample[] {
  return RANDOM_REPORTS.map((seed): Sample => `random-${seed}`);
}

/** Address of a sample's page, as a person would open it from disk. */
export function pageOf(sample: Sample): string {
  return `file://${join(FOLDER, `${sample}.html`)}`;
}

/** Puts a report into the template, as the binary does. */
export function fill(template: string, report: Report | FlameTree, placeholder = PLACEHOLDER): string {
  const json = JSON.stringify(report).replaceAll("<", "\\u003c");
  const at = template.indexOf(placeholder);
  if (at < 0 || template.indexOf(placeholder, at + 1) >= 0)
    throw new Error(`the template must hold ${placeholder} once`);
  return template.slice(0, at) + json + template.slice(at + placeholder.length);
}

/** Writes all samples from the template that was built last. */
export default function writePages(): void {
  const template = readFileSync(join(WEB, "dist", "report.html"), "utf8");
  mkdirSync(FOLDER, { recursive: true });
  const write = (sample: Sample, page: string): void => writeFileSync(join(FOLDER, `${sample}.html`), page);
  const flame = readFileSync(join(WEB, "dist", "flame.html"), "utf8");
  write("flame", fill(flame, flameOfMinute(), FLAME_PLACEHOLDER));
  const overload = overloadReport();
  write("template", template);
  write("overload", fill(template, overload));
  write("without-agent", fill(template, withoutAgent(overload)));
  const run = (at: number) => (at === 0 ? "none, block 1" : "valve, block 1");
  const phases = overload.phases.slice(0, 2).map((phase, at) => ({ ...phase, name: "surge", run: run(at) }));
  const compared = { comparison: comparisonOf(), probes: probesByVariant(), phases };
  write("variants", fill(template, { ...emptyReport(), title: "Two valves", ...compared }));
  write("million", fill(template, millionReport()));
  write("dense", fill(template, denseReport()));
  write("empty", fill(template, emptyReport()));
  write("broken", fill(template, brokenReport(overload)));
  write("refused", fill(template, refusedReport(overload)));
  write("large", fill(template, largeReport()));
  for (const seed of RANDOM_REPORTS) write(`random-${seed}`, fill(template, randomReport(seed)));
}
