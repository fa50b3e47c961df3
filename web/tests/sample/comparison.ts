import type { Comparison, Ratio } from "../../src/model";

function ratio(name: string, unit: string, figures: Partial<Ratio>): Ratio {
  return {
    name,
    unit,
    better: "lower",
    meaning: `what ${name} means`,
    baseline: 10,
    variant: 10,
    ratio: 1,
    low: null,
    high: null,
    p_value: 0.2,
    verdict: "not-enough",
    runs_needed: null,
    ...figures,
  };
}

/** One variant with every possible verdict, and one with too few blocks. */
export function comparisonOf(): Comparison {
  const throughput = { better: "higher", baseline: 4210, variant: 4715 } as const;
  return {
    baseline: "none",
    run_unit: "block",
    paired: true,
    confidence: 0.95,
    family_error: 0.05,
    resamples: 10_000,
    margin: 0.05,
    cut_short: 1,
    remarks: ["127.0.0.1: cycles, instructions and cache misses are not measured: this machine has no PMU"],
    variants: [
      {
        name: "throughput valve",
        sentence:
          "throughput valve: 12 % (8.1 to 16) more requests/s than none, p99 0.71 of none's (0.60 to 0.85); 8 blocks",
        runs: 8,
        compiling: null,
        metrics: [
          ratio("throughput", "requests/s", {
            ...throughput,
            ratio: 1.12,
            low: 1.081,
            high: 1.16,
            verdict: "better",
          }),
          ratio("response_p99", "ms", { variant: 7.1, ratio: 0.71, low: 0.6, high: 0.85, verdict: "better" }),
          ratio("response_max", "ms", { variant: 14, ratio: 1.4, low: 1.2, high: 1.7, verdict: "worse" }),
          ratio("response_p50", "ms", { ratio: 1, low: 0.98, high: 1.02, verdict: "no-difference" }),
          ratio("jitter", "ms²", { variant: 9, ratio: 0.9, low: 0.5, high: 30, runs_needed: 25 }),
          ratio("error_share", "share", { baseline: 0, variant: 0.1, ratio: null, verdict: "worse" }),
        ],
      },
      {
        name: "fixed",
        sentence:
          "fixed: 0.93 of none's requests/s, p99 1.20 of none's; 3 blocks, too few for an interval, which takes 6",
        runs: 3,
        compiling: null,
        metrics: [
          ratio("throughput", "requests/s", { ...throughput, variant: 3915, ratio: 0.93, runs_needed: 6 }),
          ratio("response_p99", "ms", { variant: 12, ratio: 1.2, runs_needed: 6 }),
        ],
      },
    ],
  };
}
