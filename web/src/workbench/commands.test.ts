import { expect, test } from "vitest";
import { shownBy } from "./commands";

const RUN = "deeper/run.helenus";

test("commands that read this recording have a tab, and others have none", () => {
  expect(shownBy("io", " RECORDING", RUN)).toEqual({ tab: "files" });
  expect(shownBy("gc", "", RUN)).toEqual({ tab: "gc" });
  expect(shownBy("tables", " /var/tmp/deeper/run.helenus --json", RUN)).toEqual({ tab: "tables" });
  expect(shownBy("statements", " '/tmp/a b/run.helenus'", RUN)).toEqual({ tab: "statements" });
  for (const [command, rest] of [
    ["io", " files.helenus"],
    ["io", " 'an other.helenus'"],
    ["record", " --node 127.0.0.1"],
    ["partitions", " --node ADDRESS --keys"],
    ["statements", " --node ADDRESS"],
    ["valve", " add"],
    ["doctor", ""],
  ] as const)
    expect(shownBy(command, rest, RUN), `${command}${rest}`).toBeNull();
});
