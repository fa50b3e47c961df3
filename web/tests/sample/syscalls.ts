import type { Spectrogram, Syscall } from "../../src/model";
import { Random } from "./random";

const COLUMNS = 80;
const CALLS = ["futex", "epoll_wait", "read", "write", "pread64"];
const GROUPS = ["epollEventLoopGroup", "ReadStage", "CompactionExecutor"];
const FILES = [
  "",
  "epoll",
  "socket:127.0.0.1:9042->127.0.0.1:51234",
  "/var/lib/cassandra/data/ks/t/nb-1-big-Data.db",
  "/var/lib/cassandra/data/ks/t/nb-2-big-Data.db",
];
const DATA = 3;
/** Calls of the last file stand for files without a number of their own. */
const OTHER_FILES = 17;

/** Bounds of columns, evenly wide in the logarithm. */
export function edges(columns: number): number[] {
  return Array.from({ length: columns + 1 }, (_, column) =>
    Math.ceil(10 ** ((column * 10) / columns) - 1e-6),
  );
}

/**
 * System calls of a node that reads: short ones on sockets, waits of all lengths, and reads of data files that take some
 * tens of microseconds; from two fifths to half of the run the disk is slow, and they take 30 ms.
 */
export function spectrogramOf(duration_s: number): Spectrogram {
  const random = new Random(9);
  const edges_ns = edges(COLUMNS);
  const bin_s = 0.5;
  const rows = Math.ceil(duration_s / bin_s);
  const cells = new Map<string, { place: number[]; events: number; total_ns: number; bytes: number }>();
  const longest = new Map<string, Syscall>();
  let events = 0;
  const add = (start_s: number, duration_ns: number, call: number, group: number, file: number): void => {
    const row = Math.floor(start_s / bin_s);
    const column = Math.min(
      COLUMNS - 1,
      edges_ns.findLastIndex((edge) => edge <= duration_ns),
    );
    const place = [row, column, call, group, file];
    const known = cells.get(place.join()) ?? { place, events: 0, total_ns: 0, bytes: 0 };
    const moved = CALLS[call] === "pread64" ? 65_536 : CALLS[call] === "futex" ? 0 : 120;
    known.events += 1;
    known.total_ns += duration_ns;
    known.bytes += moved;
    cells.set(place.join(), known);
    events += 1;
    const at = `${Math.floor(start_s / 2)} ${column}`;
    if ((longest.get(at)?.duration_ns ?? -1) < duration_ns)
      longest.set(at, {
        start_s,
        duration_ns,
        group: GROUPS[group] ?? "",
        tid: 4000 + group,
        call: CALLS[call] ?? "",
        file: FILES[file] ?? "/var/lib/cassandra/data/ks/t/nb-9-big-Data.db",
        bytes: moved === 0 ? null : moved,
        error: null,
      });
  };
  const log = (low: number, high: number): number => Math.round(10 ** random.between(low, high));
  for (let row = 0; row < rows; row += 1) {
    const slow = row >= rows * 0.4 && row < rows * 0.5;
    for (let one = 0; one < 60; one += 1) {
      const at = Math.min((row + random.next()) * bin_s, duration_s - 1e-6);
      add(at, log(2.6, 3.6), 2 + (one % 2), 0, 2);
      add(at, log(3, 8.3), one % 2, one % 3, one % 2);
      if (one % 3 === 0) add(at, log(4.2, 4.9), 4, 1, DATA + (one % 9 === 0 ? 2 : one % 2));
      if (slow && one % 6 === 0) add(at, log(7.4, 7.6), 4, 1, DATA);
    }
  }
  const sorted = [...cells.values()];
  const lists = [0, 1, 2, 3, 4].map((part) => sorted.map(({ place }) => place[part] ?? 0));
  const [row = [], column = [], call = [], group = [], file = []] = lists;
  return {
    of: "syscalls",
    bin_s,
    rows,
    edges_ns,
    calls: CALLS,
    groups: GROUPS,
    files: FILES,
    other_calls: 0,
    other_groups: 0,
    other_files: OTHER_FILES,
    cells: {
      row,
      column,
      call,
      group,
      file,
      events: sorted.map((cell) => cell.events),
      total_ns: sorted.map((cell) => cell.total_ns),
      bytes: sorted.map((cell) => cell.bytes),
      errors: sorted.map(() => 0),
    },
    longest: [...longest.values()].sort((a, b) => a.start_s - b.start_s),
    complete: false,
    events,
    lost: [],
  };
}
