import { describe, expect, it } from "vitest";
import { withoutRest } from "./throughput";

describe("failures", () => {
  it("have a line, and none where there are none", () => {
    expect(withoutRest([0, 0, 0, 5, 0, 0])).toEqual([null, null, 0, 5, 0, null]);
  });
});
