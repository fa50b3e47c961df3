import { expect, test } from "vitest";
import { overloadReport } from "../../tests/sample/reports";
import type { Finding } from "../model";
import { sameFinding } from "./same-finding";

const [first] = overloadReport().findings as [Finding];
const of = (rank: number, title: string, node = "127.0.0.1"): Finding => ({
  ...first,
  finding: "pool-queue",
  rank,
  title,
  node,
});
const wanted = of(1, "A queue before ReadStage delayed 62 % of the slow requests");

test("a finding is the same in another window, with another rank and other figures", () => {
  const findings = [
    of(1, "A queue before MutationStage delayed 62 % of the slow requests"),
    of(2, "A queue before ReadStage delayed 62 % of the slow requests", "127.0.0.2"),
    of(3, "Minor: A queue before ReadStage delayed 4.5 % of the slow requests"),
  ];
  expect(sameFinding(findings, wanted)?.rank).toBe(3);
  expect(sameFinding([...findings, { ...wanted, rank: 4 }], wanted)?.rank).toBe(4);
});

test("a finding of another kind, thing or node is another one", () => {
  const others = [
    of(1, "A queue before MutationStage delayed 62 % of the slow requests"),
    of(2, wanted.title, ""),
    { ...wanted, finding: "gc-pause" },
  ];
  expect(sameFinding(others, wanted)).toBeUndefined();
});
