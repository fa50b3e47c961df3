#!/usr/bin/env python3
"""Follows requests inside the JVM again and again under one load, and looks for what is left behind.

  python3 xtask/attach.py HELENUS [--rounds 100] [--rate 500] [--address 127.0.42.31]

Each round attaches the agent, reads the requests of all connections for half a second, and detaches. Afterwards no request of
the load may have failed, and neither handlers nor threads of the agent may be in the JVM.
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OURS = ("io.helenus.agent.requests.netty.Tap", "io.helenus.agent.requests.netty.Acceptor")


def wait_for(holds, what):
    until = time.monotonic() + 120
    while not holds():
        if time.monotonic() > until:
            sys.exit(f"waited in vain for {what}")
        time.sleep(0.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("helenus", type=Path)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--address", default="127.0.42.31")
    arguments = parser.parse_args()
    binary = str(arguments.helenus.resolve())

    def ask(*words):
        done = subprocess.run([binary, *map(str, words)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"helenus {' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def query(recording, sql):
        return int(float(ask("sql", recording, sql, "--csv").splitlines()[1] or 0))

    def jcmd(pid, what):
        return subprocess.run(["jcmd", str(pid), what], capture_output=True, text=True, check=True).stdout

    folder = Path(tempfile.mkdtemp(prefix="helenus-attach-"))
    name = folder.name
    load = None
    (node,) = json.loads(ask("up", "--name", name, "--address", arguments.address, "--json"))
    try:
        words = ["load", "keyvalue/mixed", "--node", arguments.address, "--population", "10k", "--connections", "4"]
        words += ["--rate", str(arguments.rate), "--for", "1h", "-o", str(folder / "load")]
        load = subprocess.Popen([binary, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: load.poll() is not None or any(folder.glob("load/requests*/*")), "the load")
        seen, empty, started = 0, 0, time.monotonic()
        for number in range(arguments.rounds):
            recording = folder / "round"
            of_round = ["--requests", "jvm", "--stacks", "off", "--for", "500ms", "-o", recording]
            ask("record", "--node", arguments.address, *of_round)
            rows = query(recording, "select count(*) as n from wire")
            seen, empty = seen + rows, empty + (rows == 0)
            shutil.rmtree(recording)
            print(f"\rround {number + 1} of {arguments.rounds}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        seconds = time.monotonic() - started
        load.send_signal(signal.SIGINT)
        load.wait(timeout=60)
        sent = query(folder / "load", "select count(*) as n from requests")
        failed = query(folder / "load", "select count(*) as n from requests where outcome <> 'ok'")
        late = "select approx_percentile_cont(end_ns - intended_start_ns, {}) / 1000000 as ms from requests"
        p50, p99, most = (query(folder / "load", late.format(share)) for share in (0.5, 0.99, 1.0))
        # The histogram shows what remains after a full collection.
        classes = [line.split() for line in jcmd(node["pid"], "GC.class_histogram").splitlines()]
        left = sum(int(line[1]) for line in classes if len(line) > 3 and line[3] in OURS)
        threads = jcmd(node["pid"], "Thread.print").count('"helenus-agent')
        print(f"{arguments.rounds} rounds in {seconds:.0f} s: {seen} requests read in the JVM, {empty} rounds without any")
        print(f"load: {sent} requests, {failed} failed; response time p50 {p50} ms, p99 {p99} ms, at most {most} ms")
        print(f"left in the JVM: {left} handlers, {threads} threads of the agent")
        return 1 if failed or left or threads or empty else 0
    finally:
        if load and load.poll() is None:
            load.kill()
            load.wait()
        ask("down", name)
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
