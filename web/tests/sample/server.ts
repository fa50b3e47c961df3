import type { Cpu, Phase, Pool, Table, ThreadGroup } from "../../src/model";
import { binStarts } from "./bins";
import type { Random } from "./random";

/** Share of the capacity that is in use at a time. */
export type Strain = (time: number) => number;

export function strainOf(phases: readonly Phase[], capacity_per_s: number): Strain {
  return (time) => {
    const phase = phases.find(({ start_s, end_s }) => time >= start_s && time < end_s);
    return phase ? Math.min(1, phase.throughput_per_s / capacity_per_s) : 0;
  };
}

export function cpuOf(duration_s: number, strain: Strain, random: Random): Cpu {
  const cpu: Cpu = {
    node: "127.0.0.1",
    time_s: [],
    user: [],
    system: [],
    iowait: [],
    irq: [],
    steal: [],
    idle: [],
  };
  for (const time of binStarts(duration_s, 0.1)) {
    const busy = Math.min(1, 0.06 + 0.86 * strain(time) + 0.05 * random.normal() ** 2);
    const iowait = Math.min(1 - busy, 0.02 + (Math.sin(time / 4) > 0.8 ? 0.12 : 0) * random.next());
    cpu.time_s.push(time);
    cpu.user.push(busy * 0.68);
    cpu.system.push(busy * 0.24);
    cpu.irq.push(busy * 0.06);
    cpu.steal.push(busy * 0.02);
    cpu.iowait.push(iowait);
    cpu.idle.push(1 - busy - iowait);
  }
  return cpu;
}

const SERVER_GROUPS: [name: string, weight: number, threads: number][] = [
  ["MutationStage", 0.52, 32],
  ["Native-Transport-Requests", 0.44, 96],
  ["epollEventLoopGroup-5", 0.25, 4],
  ["CompactionExecutor", 0.16, 2],
  ["GC Thread", 0.14, 2],
  ["C2 CompilerThread", 0.08, 1],
  ["MemtableFlushWriter", 0.06, 2],
  ["PERIODIC-COMMIT-LOG-SYNCER", 0.04, 1],
  ["COMMIT-LOG-ALLOCATOR", 0.02, 1],
  ["ScheduledTasks", 0.01, 1],
  ["VM Thread", 0.01, 1],
];

export function groupsOf(duration_s: number, strain: Strain, random: Random, more: number): ThreadGroup[] {
  const server = [...SERVER_GROUPS];
  for (let index = 0; index < more; index += 1)
    server.push([`InternalStage-${index}`, 0.01 + 0.02 / (index + 1), 3]);
  const time_s = binStarts(duration_s, duration_s > 300 ? 0.5 : 0.1);
  const group = (process: string, name: string, weight: number, threads: number): ThreadGroup => {
    const cpus = time_s.map((time) =>
      Math.max(0, weight * (0.05 + strain(time)) * (1 + 0.12 * random.normal())),
    );
    const cpu_s = cpus.reduce((sum, busy) => sum + busy, 0) * ((time_s[1] ?? 1) - (time_s[0] ?? 0));
    return {
      process,
      group: name,
      threads,
      cpu_s,
      run_queue_s: cpu_s * 0.3,
      migrations: Math.round(cpu_s * 210),
      voluntary_switches: Math.round(cpu_s * 4200),
      involuntary_switches: Math.round(cpu_s * 320),
      time_s,
      cpus,
    };
  };
  return [
    ...server.map(([name, weight, threads]) => group("server", name, weight, threads)),
    group("load", "helenus-load", 0.22, 1),
    group("load", "tokio-runtime", 0.05, 2),
  ];
}

const POOLS: [name: string, active: number, pending: number][] = [
  ["MutationStage", 32, 240],
  ["Native-Transport-Requests", 96, 512],
  ["MemtableFlushWriter", 1, 1],
  ["CompactionExecutor", 2, 6],
  ["ReadStage", 0, 0],
  ["GossipStage", 0, 0],
  ["AntiEntropyStage", 0, 0],
];

export function poolsOf(duration_s: number, strain: Strain, random: Random): Pool[] {
  const time_s = binStarts(duration_s, 1);
  return POOLS.map(([pool, most, queue]) => ({
    node: "127.0.0.1",
    pool,
    time_s,
    active: time_s.map((time) => Math.round(most * strain(time) * random.between(0.5, 1))),
    pending: time_s.map((time) => Math.round(queue * Math.max(0, strain(time) - 0.9) * 10 * random.next())),
    blocked: time_s.map(() => 0),
  }));
}

export function tablesOf(phases: readonly Phase[], duration_s: number, random: Random): Table[] {
  const time_s = binStarts(duration_s, 1);
  const rate = (time: number): number =>
    phases.find(({ start_s, end_s }) => time >= start_s && time < end_s)?.throughput_per_s ?? 0;
  let disk = 4e6;
  return [
    {
      node: "127.0.0.1",
      keyspace: "helenus",
      table: "keyvalue",
      time_s,
      reads_per_s: time_s.map(() => 0),
      writes_per_s: time_s.map((time) => rate(time) * random.between(0.97, 1.03)),
      read_ms: time_s.map(() => null),
      write_ms: time_s.map(() => random.between(0.03, 0.06)),
      sstables: time_s.map((time) => 1 + (Math.floor(time / 9) % 4)),
      live_disk_bytes: time_s.map((time) => {
        disk += rate(time) * 140;
        return disk;
      }),
    },
  ];
}
