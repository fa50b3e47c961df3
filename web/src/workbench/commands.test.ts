import { expect, test } from "vitest";
import { shownBy } from "./commands";

test("commands that read a recording have a tab, and others have none", () => {
  expect(shownBy("io", " RECORDING")).toEqual({ tab: "files" });
  expect(shownBy("gc", "")).toEqual({ tab: "gc" });
  expect(shownBy("tables", " run.helenus --json")).toEqual({ tab: "tables" });
  for (const [command, rest] of [
    ["record", " --node 127.0.0.1"],
    ["partitions", " --node ADDRESS --keys"],
    ["statements", " --node ADDRESS"],
    ["valve", " add"],
    ["doctor", ""],
  ] as const)
    expect(shownBy(command, rest), command).toBeNull();
});
