#!/usr/bin/env python3
"""Follows requests inside the JVM again and again under one load, and looks for what is left behind.

  python3 xtask/attach.py HELENUS [--rounds 100] [--rate 500] [--address 127.0.42.31]

Each round attaches the agent, reads the requests of all connections for half a second, and detaches. Afterwards no request of
the load may have failed, and no handler of ours may be in the JVM.
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

OURS = ("io.helenus.agent.requests.netty.Tap", "io.helenus.agent.requests.netty.Acceptor")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("helenus", type=Path)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--address", default="127.0.42.31")
    arguments = parser.parse_args()
    binary = str(arguments.helenus.resolve())

    def ask(*words):
        return subprocess.run([binary, *map(str, words)], capture_output=True, text=True, check=True).stdout

    def query(recording, sql):
        return int(next(iter(json.loads(ask("sql", recording, sql, "--json"))[0].values())) or 0)

    folder = Path(tempfile.mkdtemp(prefix="helenus-attach-"))
    name = folder.name
    load = None
    (node,) = json.loads(ask("up", "--name", name, "--address", arguments.address, "--json"))
    try:
        words = ["load", "keyvalue/mixed", "--node", arguments.address, "--population", "10k", "--connections", "4"]
        words += ["--rate", str(arguments.rate), "--for", "1h", "-o", str(folder / "load")]
        load = subprocess.Popen([binary, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seen, empty = 0, 0
        for number in range(arguments.rounds):
            recording = folder / "round"
            of_round = ["--requests", "jvm", "--stacks", "off", "--for", "500ms", "-o", recording]
            ask("record", "--node", arguments.address, *of_round)
            rows = query(recording, "select count(*) as n from wire")
            seen, empty = seen + rows, empty + (rows == 0)
            shutil.rmtree(recording)
            print(f"\rround {number + 1} of {arguments.rounds}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        load.send_signal(signal.SIGINT)
        load.wait(timeout=60)
        sent = query(folder / "load", "select count(*) as n from requests")
        failed = query(folder / "load", "select count(*) as n from requests where outcome <> 'ok'")
        histogram = subprocess.run(["jcmd", str(node["pid"]), "GC.class_histogram"], capture_output=True, text=True)
        left = [line.split() for line in histogram.stdout.splitlines() if any(name in line for name in OURS)]
        print(f"{arguments.rounds} rounds: {seen} requests read in the JVM, {empty} rounds without any")
        print(f"load: {sent} requests, {failed} failed")
        print(f"handlers left: {sum(int(line[1]) for line in left)}")
        return 1 if failed or left or empty else 0
    finally:
        if load and load.poll() is None:
            load.kill()
            load.wait()
        ask("down", name)
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
