import { describe, expect, it } from "vitest";
import { binRows, groupedRows, toCsv } from "./rows";

describe("rows", () => {
  it("are the bins of the window", () => {
    const rows = binRows([0, 1, 2, 3], { start: 1, end: 3 }, [
      { name: "p99", unit: "ms", values: [1, 2, null, 4] },
    ]);
    expect(rows.total).toBe(2);
    expect([rows.row(0), rows.row(1)]).toEqual([
      [1, 2],
      [2, null],
    ]);
  });
  it("go through one thing after the other", () => {
    const pools = [
      { name: "a", time_s: [0, 1, 2], active: [1, 2, 3] },
      { name: "b", time_s: [0, 2], active: [4, 5] },
    ];
    const rows = groupedRows(
      pools,
      { start: 1, end: 3 },
      [{ name: "pool", of: ({ name }) => name }],
      [{ name: "active", unit: "tasks", of: ({ active }) => active }],
    );
    expect(Array.from({ length: rows.total }, (_, index) => rows.row(index))).toEqual([
      ["a", 1, 2],
      ["a", 2, 3],
      ["b", 0, 4],
      ["b", 2, 5],
    ]);
  });
  it("become CSV that any program reads", () => {
    const csv = toCsv({
      columns: [
        { name: "what", unit: "" },
        { name: "duration", unit: "ms" },
      ],
      total: 2,
      row: (index) => (index === 0 ? ['G1New, "young"', 12.5] : ["", null]),
    });
    expect(csv).toBe('what,duration (ms)\r\n"G1New, ""young""",12.5\r\n,\r\n');
  });
});
