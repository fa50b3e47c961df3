import { describe, expect, it } from "vitest";
import type { Finding } from "../model";
import { neighbour } from "./actions";

describe("findings", () => {
  it("are gone through in a ring, from either end", () => {
    const findings = [1, 2, 3].map((rank) => ({ rank }) as Finding);
    expect(neighbour(findings, null, 1)?.rank).toBe(1);
    expect(neighbour(findings, null, -1)?.rank).toBe(3);
    expect(neighbour(findings, 3, 1)?.rank).toBe(1);
    expect(neighbour(findings, 1, -1)?.rank).toBe(3);
    expect(neighbour([], null, 1)).toBeUndefined();
  });
});
