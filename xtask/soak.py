#!/usr/bin/env python3
"""Leaves the flight recorder on under load with short segments, and looks whether what it takes stays flat.

  python3 xtask/soak.py HELENUS [--minutes 10] [--keep 20s] [--rate 5000] [--address 127.0.42.33]

Segments last 10 s, so that ten minutes have as many of them as an hour of `--keep 30m`. All sources are on that go on from
segment to segment: stacks, system calls added up, scheduling and requests, with a trigger that never comes true. Columns are of
the recorder's process, but the last two: objects of the agent's classes in the node's heap after a full collection. A column is
flat if the mean of the last third is at most a tenth above that of the third before, or by less than its slack.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EACH_S = 10
AGENT = "io.helenus.agent."
# Columns with the growth that does not count: pages of the allocator, a segment that is being closed, tasks
# that are running.
COLUMNS = {"rss_mib": 8, "threads": 3, "descriptors": 20, "disk_mib": 5, "segments": 2, "objects": 500, "objects_kib": 64}


def of_process(pid):
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {
        "rss_mib": int(status["VmRSS"].split()[0]) / 1024,
        "threads": int(status["Threads"]),
        "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir())),
    }


def of_folder(folder):
    size = 0
    # An old segment may be deleted meanwhile: os.walk goes on where a folder is gone.
    for inner, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                size += os.stat(os.path.join(inner, name)).st_size
    return {"disk_mib": size / 2**20, "segments": len(list((folder / "segments").iterdir()))}


def of_agent(pid):
    histogram = subprocess.run(["jcmd", str(pid), "GC.class_histogram"], capture_output=True, text=True, check=True)
    lines = [line.split() for line in histogram.stdout.splitlines() if AGENT in line]
    return {"objects": sum(int(line[1]) for line in lines), "objects_kib": sum(int(line[2]) for line in lines) / 1024}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("helenus", type=Path)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--keep", default="20s")
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--address", default="127.0.42.33")
    arguments = parser.parse_args()
    binary = str(arguments.helenus.resolve())
    folder = Path(tempfile.mkdtemp(prefix="helenus-soak-"))
    running = []

    def start(*words):
        errors = open(folder / f"{words[0]}.log", "w")
        running.append(subprocess.Popen([binary, *map(str, words)], stdout=subprocess.DEVNULL, stderr=errors))
        return running[-1]

    up = ["up", "--name", folder.name, "--address", arguments.address, "--json"]
    (node,) = json.loads(subprocess.run([binary, *up], capture_output=True, text=True, check=True).stdout)
    try:
        driven = ["--rate", arguments.rate, "--for", "24h", "--node", arguments.address, "--population", "100k"]
        start("load", "keyvalue/mixed", *driven, "-o", folder / "driven")
        kept = folder / "kept"
        sources = ["--syscalls", "summary", "--sched", "on", "--trigger", "max > 10m for 1m"]
        recorder = start("record", "--node", arguments.address, "--keep", arguments.keep, *sources, "-o", kept)
        begun, rows = time.monotonic(), []
        print("seconds", *COLUMNS)
        while time.monotonic() - begun < arguments.minutes * 60:
            time.sleep(EACH_S)
            if recorder.poll() is not None:
                sys.exit((folder / "record.log").read_text())
            row = of_process(recorder.pid) | of_folder(kept) | of_agent(node["pid"])
            rows.append(row)
            print(round(time.monotonic() - begun), *(round(row[name], 1) for name in COLUMNS), flush=True)
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=120)
        third = len(rows) // 3
        verdicts = {}
        for name, slack in COLUMNS.items():
            before, last = (sum(row[name] for row in of) / third for of in (rows[-2 * third : -third], rows[-third:]))
            verdicts[name] = last <= before * 1.1 or last - before <= slack
            print(f"{name}: {before:.1f}, then {last:.1f}: {'flat' if verdicts[name] else 'grows'}")
        return 0 if all(verdicts.values()) else 1
    finally:
        for process in reversed(running):
            if process.poll() is None:
                process.terminate()
                process.wait(timeout=120)
        subprocess.run([binary, "down", folder.name], check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
