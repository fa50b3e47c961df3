import type { FlameScope, FlameTree } from "../../src/model";
import { Random } from "./random";

export interface Sampled {
  node: number;
  step: number;
  /** The stack's weight, in units. */
  weight: number;
  count: number;
}

/** Encodes times of samples as the binary does. */
export function encode(sampled: Sampled[], first: number): string {
  const bytes: number[] = [];
  const put = (number: number): void => {
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
  };
  let before = 0;
  for (const node of [...new Set(sampled.map((one) => one.node))].sort((a, b) => a - b)) {
    const own = sampled.filter((one) => one.node === node).sort((a, b) => a.step - b.step);
    put(node - before);
    before = node;
    put(own.length);
    let step = first;
    for (const one of own) {
      put(one.step - step);
      put(one.weight);
      put(one.count);
      step = one.step;
    }
  }
  return Buffer.from(bytes).toString("base64");
}

const NAMES = [
  "all",
  "GC Thread",
  "GangWorker::run",
  "ReadStage",
  "java.lang.Thread.run",
  "org.apache.cassandra.db.ReadCommand.executeLocally",
  "org.apache.cassandra.io.util.CompressedChunkReader.readChunk",
  "pread64",
  "org.apache.cassandra.db.rows.UnfilteredSerializer.deserialize",
];
const DEPTH = [0, 1, 2, 1, 2, 3, 4, 5, 4];
/** Nodes at which stacks end. */
const GC = 2;
const READ = 7;
const ROWS = 8;

/**
 * A minute of samples, one each 10 ms of CPU time: reads, fewer in each second's second half; a collection in the first
 * 300 ms of every tenth second; nothing at all from 40 to 43 s.
 */
export function flameOfMinute(): FlameTree {
  const random = new Random(5);
  const sampled: Sampled[] = [];
  const add = (node: number, step: number): void => {
    const last = sampled.at(-1);
    if (last && last.node === node && last.step === step) {
      last.count += 1;
      last.weight += 1;
    } else sampled.push({ node, step, weight: 1, count: 1 });
  };
  for (let step = 0; step < 60_000; step += 5) {
    const second = Math.floor(step / 1000);
    if (second >= 40 && second < 43) continue;
    if (second % 10 === 5 && step % 1000 < 300) {
      for (let thread = 0; thread < 2; thread += 1) add(GC, step);
      continue;
    }
    const busy = step % 1000 < 500 ? 0.7 : 0.25;
    if (random.next() < busy) add(random.next() < 0.4 ? READ : ROWS, step);
  }
  const self = new Array<number>(DEPTH.length).fill(0);
  for (const { node, weight } of sampled) self[node] = (self[node] ?? 0) + weight * 10e6;
  const under = (node: number): number => {
    let end = node + 1;
    while (end < DEPTH.length && (DEPTH[end] ?? 0) > (DEPTH[node] ?? 0)) end += 1;
    return self.slice(node, end).reduce((sum, one) => sum + one, 0);
  };
  const scope: FlameScope = {
    first: 0,
    end: 60_000,
    step_ns: 1e6,
    binned: false,
    unit: 10e6,
    times: encode(sampled, 0),
  };
  return {
    event: "cpu",
    title: "A minute of reads",
    against: "",
    samples: sampled.reduce((sum, { count }) => sum + count, 0),
    other_samples: 0,
    names: NAMES,
    nodes: {
      depth: DEPTH,
      name: NAMES.map((_, index) => index),
      kind: "agcgjjjkj",
      weight: DEPTH.map((_, node) => under(node)),
      other: [],
    },
    scope,
  };
}
