import { describe, expect, it } from "vitest";
import { busyPools } from "./pools";

describe("thread pools", () => {
  it("leave out what did nothing, the longest queue is first", () => {
    const pool = (name: string, active: number, pending: number) => ({
      node: "",
      pool: name,
      time_s: [0],
      active: [active],
      pending: [pending],
      blocked: [0],
    });
    expect(busyPools([pool("idle", 0, 0), pool("a", 9, 0), pool("b", 1, 5)]).map((one) => one.pool)).toEqual([
      "b",
      "a",
    ]);
  });
});
