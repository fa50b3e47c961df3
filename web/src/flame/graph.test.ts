import { expect, test } from "vitest";
import type { FlameTree } from "../model";
import { caption } from "./graph";

test("a caption says what the samples miss of the time that the kernel counted", () => {
  const data: FlameTree = {
    event: "cpu",
    title: "t",
    against: "",
    samples: 147,
    other_samples: 0,
    names: ["all"],
    nodes: { depth: [0], name: [0], kind: "a", weight: [2.9e9], other: [] },
  };
  expect(caption(data)).toBe("147 samples of cpu, 2.90 s");
  expect(caption({ ...data, counted_ns: 6.3e9 })).toBe(
    "147 samples of cpu, 2.90 s of the 6.30 s that the kernel counted",
  );
});

test("a caption of a comparison has the time and the samples of each side", () => {
  const data: FlameTree = {
    event: "cpu",
    title: "while a request was slow (over 20.000 ms)",
    against: "the rest of the judged time",
    samples: 290,
    other_samples: 610,
    names: ["all"],
    nodes: { depth: [0], name: [0], kind: "a", weight: [2.9e9], other: [6.1e9] },
  };
  expect(caption(data)).toBe(
    "cpu, while a request was slow (over 20.000 ms): 2.90 s (290 samples); the rest of the judged time: 6.10 s (610 samples). " +
      "Red is a larger share of its side, blue a smaller one.",
  );
});
