#!/usr/bin/env python3
"""Measures Helenus' load driver beside the load generators that are on this machine.

  python3 xtask/peers HELENUS [--rounds 3] [--seconds 8] [--only COMMAND] [--skip-cassandra] [--skip-stop]

Two questions, each asked of all tools in turn, round after round, so that what the machine does meanwhile meets all of
them:

cost   the client's CPU time per request and the requests/s of a closed loop with 128 in flight, against the responder and
       against a real Cassandra.
stop   which percentiles a tool reports of 20 s at 1,000 requests/s when the responder is stopped for 2 s, beside those
       that the schedule and the stop imply.

A peer is a command in ~/.cache/helenus/peers/bin, where `make peers` installs, or on the PATH. Without any, nothing is
measured: Helenus alone is what the example client_cost measures.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tools import OPEN_PER_S, PERCENTILES, TOOLS, Failure, Helenus, Said

OPEN_S = 20
STOP_AFTER_S = 10
STOP_S = 2
# Warm-up in seconds of tools that run in a JVM.
JVM_WARM_UP_S = 10
RESPONDER = "127.0.20.66"
CASSANDRA = "127.0.20.67"


@dataclass(frozen=True)
class Ran:
    """A run: what the tool says of it, and the CPU time, user and system, that the kernel says it took."""

    said: Said
    cpu_s: float


@dataclass
class Stop:
    """A stop of a process, `after_s` into a run; how long it took is known afterwards."""

    pid: int
    after_s: float
    took_s: float = 0.0

    def perform(self):
        time.sleep(self.after_s)
        os.kill(self.pid, signal.SIGSTOP)
        began = time.monotonic()
        time.sleep(STOP_S)
        self.took_s = time.monotonic() - began
        os.kill(self.pid, signal.SIGCONT)

    def implies_ms(self, percentile, seconds):
        """A request that is due u seconds before the end of the stop waits u seconds, and all others next to nothing. So
        the share 1 - p of all that lies above percentile p is (1 - p) * seconds of those u, counted from the longest."""
        return 1e3 * max(0.0, self.took_s - (1 - percentile / 100) * seconds)


def run(tool, command, stop=None):
    """Runs a command to its end. The CPU time is that of the process and of all its children."""
    with tempfile.TemporaryFile("w+") as printed:
        environment = os.environ | tool.environment
        process = subprocess.Popen(command, cwd=tool.folder, env=environment, stdout=printed, stderr=subprocess.STDOUT)
        stopping = threading.Thread(target=stop.perform if stop else lambda: None)
        stopping.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if process.returncode is None:
                process.kill()
            stopping.join()
        printed.seek(0)
        text = printed.read()
    if process.returncode != 0:
        raise Failure(f"{tool.name} ended with {process.returncode}: {text.strip()[-600:]}")
    try:
        return Ran(tool.said(text), usage.ru_utime + usage.ru_stime)
    except (AttributeError, KeyError, OSError, ValueError) as error:
        raise Failure(f"{tool.name} printed what is not understood ({error}): {text.strip()[-600:]}") from error


def cost(tool, node, seconds):
    """A closed loop. What a JVM takes to start and to compile is taken out: a run that ends after its warm-up is taken off
    one that goes on for `seconds` after it."""
    if not tool.jvm:
        return run(tool, tool.closed(node, seconds))
    short = run(tool, tool.closed(node, JVM_WARM_UP_S))
    whole = run(tool, tool.closed(node, JVM_WARM_UP_S + seconds))
    requests, took_s = whole.said.requests - short.said.requests, whole.said.seconds - short.said.seconds
    return Ran(Said(requests, took_s, whole.said.percentiles_ms), whole.cpu_s - short.cpu_s)


def span(values, form):
    low, high = (form.format(value) for value in (min(values), max(values)))
    return low if low == high else f"{low}–{high}"


def cost_table(tools, targets, rounds, seconds):
    figures = {}
    for round_ in range(rounds):
        for target, node in targets:
            for tool in (tool for tool in tools if tool.closed):
                ran = attempt(cost, tool, node, seconds)
                if not ran:
                    continue
                per_s, cpu_us = ran.said.requests / ran.said.seconds, 1e6 * ran.cpu_s / ran.said.requests
                say(f"{round_ + 1}/{rounds} {target:10} {tool.name:32} {per_s:9.0f}/s {cpu_us:7.2f} us{load()}")
                figures.setdefault((tool.name, target), []).append((per_s / 1e3, cpu_us))
    heads = "".join(f" {target}: CPU µs per request | 1,000 requests/s |" for target, _ in targets)
    print(f"\n| tool | version |{heads}\n|---|---|{'---|---|' * len(targets)}")
    for tool in (tool for tool in tools if tool.closed):
        cells = ""
        for target, _ in targets:
            rounds_of = figures.get((tool.name, target))
            per_s, cpu_us = zip(*rounds_of) if rounds_of else ((), ())
            cells += f" {span(cpu_us, '{:.2f}')} | {span(per_s, '{:.0f}')} |" if rounds_of else " failed | |"
        print(f"| {tool.name} | {tool.version()} |{cells}")


def stop_table(tools, responder, rounds):
    figures, implied = {}, []
    for round_ in range(rounds):
        for tool in (tool for tool in tools if tool.open):
            stop = Stop(responder.pid, STOP_AFTER_S)
            ran = attempt(run, tool, tool.open(RESPONDER, OPEN_S), stop)
            if not ran:
                continue
            implied.append([stop.implies_ms(percentile, OPEN_S) for percentile in PERCENTILES])
            shown = " ".join(f"{said:8.1f} of {due:4.0f}" for said, due in zip(ran.said.percentiles_ms, implied[-1]))
            say(f"{round_ + 1}/{rounds} {tool.name:32} {ran.said.requests:6} requests, ms: {shown}{load()}")
            figures.setdefault(tool.name, []).append((ran.said.requests, *ran.said.percentiles_ms))
    print("\n| tool | requests | p50 ms | p99 ms | p99.9 ms | max ms |\n|---|---|---|---|---|---|")
    due = "".join(f" {span(values, '{:.0f}')} |" for values in zip(*implied))
    print(f"| what the schedule implies | {OPEN_S * OPEN_PER_S} |{due}")
    for name, rounds_of in figures.items():
        requests, *percentiles = zip(*rounds_of)
        cells = "".join(f" {span(values, '{:.1f}')} |" for values in percentiles)
        print(f"| {name} | {span(requests, '{}')} |{cells}")


broken = set()


def attempt(what, tool, *arguments):
    """What a tool did, or None where it failed, which is said once; the others go on."""
    if tool.name in broken:
        return None
    try:
        return what(tool, *arguments)
    except Failure as failure:
        broken.add(tool.name)
        say(f"left out: {failure}")
        return None


def load():
    """How busy the machine is with all that runs on it."""
    return f", load average {os.getloadavg()[0]:.1f}"


def say(text):
    print(text, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("helenus", help="the binary")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--only", action="append", metavar="COMMAND", help="of the peers, only this (may be given again)")
    parser.add_argument("--skip-cassandra", action="store_true")
    parser.add_argument("--skip-cost", action="store_true")
    parser.add_argument("--skip-stop", action="store_true")
    given = parser.parse_args()
    helenus = str(Path(given.helenus).resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        ours = [Helenus(folder, helenus, driver) for driver in ("thin", "scylla")]
        peers = [tool for tool in (kind(folder) for kind in TOOLS) if tool.path()]
        if given.only:
            peers = [tool for tool in peers if tool.command in given.only]
        if not peers:
            say("no other load generator is here to measure beside; `make peers` installs what can be had")
            return 0
        say("measuring beside: " + ", ".join(tool.name for tool in peers))
        responder = subprocess.Popen([helenus, "responder", "--listen", f"{RESPONDER}:9042"], stderr=subprocess.DEVNULL)
        try:
            targets = [("responder", RESPONDER)]
            if not given.skip_cost and not given.skip_cassandra:
                subprocess.run([helenus, "up", "--name", "peers", "--address", CASSANDRA], check=True, stdout=sys.stderr)
                targets.append(("Cassandra", CASSANDRA))
            # The table exists and the server is warm before the first tool is measured.
            for _, node in targets:
                run(ours[0], ours[0].closed(node, 2 * given.seconds))
            if not given.skip_cost:
                cost_table(ours + peers, targets, given.rounds, given.seconds)
            if not given.skip_stop:
                stop_table(ours + peers, responder, given.rounds)
        finally:
            responder.terminate()
            responder.wait()
            if len(targets) > 1:
                subprocess.run([helenus, "down", "peers"], check=True, stdout=sys.stderr)
    return 2 if broken else 0


if __name__ == "__main__":
    # Everything that was started is stopped, however this ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    try:
        sys.exit(main())
    except Failure as failure:
        say(f"peers: {failure}")
        sys.exit(2)
