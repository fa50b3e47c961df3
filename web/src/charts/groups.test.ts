import { describe, expect, it } from "vitest";
import type { ThreadGroup } from "../model";
import { byProcess } from "./groups";

function group(process: string, name: string, cpu_s: number): ThreadGroup {
  return {
    process,
    group: name,
    threads: 1,
    cpu_s,
    run_queue_s: null,
    migrations: null,
    voluntary_switches: null,
    involuntary_switches: null,
    time_s: [0],
    cpus: [1],
  };
}

describe("thread groups", () => {
  it("keep server and load apart, the heaviest group first", () => {
    const processes = byProcess([
      group("load", "driver", 9),
      group("server", "a", 1),
      group("server", "b", 5),
    ]);
    expect(processes.map(({ name, groups }) => [name, groups.map((one) => one.group)])).toEqual([
      ["server", ["b", "a"]],
      ["load", ["driver"]],
    ]);
  });
});
