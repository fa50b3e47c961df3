#!/usr/bin/env python3
"""Measures how often the first finding of `helenus explain` is right.

  python3 xtask/truths HELENUS [--runs 1] [--only KIND]… [--load own|foreign] [--seconds 20] [--json FILE] [--keep FOLDER]
  python3 xtask/truths --list

For each kind of fault and each load (our driver, the Python driver) it brings the fault about on a real node, records with
default options, explains, and compares the first finding with the true cause: the finding must be above information, have
the cause's name, and say what to change. Everything happens in a network namespace of its own, as root. A kind that this
machine can't bring about is left out, and named.
"""

import argparse
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import faults
from kinds import KINDS
from world import Failure, Helenus, Nodes, run


def wilson(right, runs):
    """The 95 % interval of a share."""
    z = 1.96
    share = right / runs
    middle = share + z * z / (2 * runs)
    half = z * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return [(middle + way * half) / (1 + z * z / runs) for way in (-1, 1)]


def say(text):
    print(text, file=sys.stderr, flush=True)


def measure(helenus, folder, wanted, arguments):
    """Rows of kind, load, whether the first finding was right, and its name; and what was left out."""
    rows, absent = [], {}
    bases = list(dict.fromkeys(kind.base.name for kind in wanted))
    for base in bases:
        kinds = [kind for kind in wanted if kind.base.name == base]
        of_base = folder / base.replace(" ", "-")
        of_base.mkdir()
        try:
            nodes = Nodes(helenus, of_base, kinds[0].base)
        except Failure as failure:
            absent |= {kind.name: str(failure) for kind in kinds}
            say(f"{base}: left out, {failure}")
            continue
        try:
            for number in range(arguments.runs):
                for kind in kinds:
                    rows += of_kind(nodes, kind, number, of_base, arguments, absent)
        finally:
            nodes.end()
            shutil.rmtree(nodes.data, ignore_errors=True)
    return rows, absent


def of_kind(nodes, kind, number, folder, arguments, absent):
    rows = []
    for load in kind.loads:
        if arguments.load not in (None, load) or kind.name in absent:
            continue
        place = folder / f"{kind.name.replace(' ', '-')}-{load}-{number}"
        try:
            explanation = run(nodes, kind, load, arguments.seconds, place)
        except faults.Absent as reason:
            absent[kind.name] = str(reason)
            say(f"{kind.name}: left out, {reason}")
            continue
        except (Failure, subprocess.SubprocessError) as failure:
            # For example a load whose client gave up: without an answer, which does not count as right.
            say(f"WRONG  {kind.name}, {load}: {failure}")
            rows.append({"kind": kind.name, "load": load, "right": False, "found": "no answer", "answer": str(failure)})
            continue
        is_right, found = kind.judge(explanation["findings"])
        rows.append({"kind": kind.name, "load": load, "right": is_right, "found": found, "answer": explanation["answer"]})
        say(f"{'right' if is_right else 'WRONG'}  {kind.name}, {load}: {found}: {explanation['findings'][0]['title']}")
        if not arguments.keep:
            shutil.rmtree(place)
    return rows


def table(rows, absent):
    by = defaultdict(list)
    for row in rows:
        by[row["kind"], row["load"]].append(row)
    print("| fault | load | runs | right first | first instead |\n|---|---|---|---|---|")
    for (kind, load), of in by.items():
        others = Counter(row["found"] for row in of if not row["right"])
        instead = ", ".join(f"{name} × {count}" for name, count in others.most_common()) or "–"
        print(f"| {kind} | {load} | {len(of)} | {sum(row['right'] for row in of)} | {instead} |")
    right, runs = sum(row["right"] for row in rows), len(rows)
    if runs:
        low, high = wilson(right, runs)
        kinds = len({row["kind"] for row in rows})
        print(f"\n{right} of {runs} runs right first: {right / runs:.0%} (95 % interval {low:.0%} to {high:.0%}); {kinds} kinds.")
    for kind, reason in absent.items():
        print(f"Left out: {kind} ({reason}).")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("helenus", nargs="?", type=Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", action="append", choices=[kind.name for kind in KINDS], metavar="KIND")
    parser.add_argument("--load", choices=["own", "foreign"])
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    if arguments.list or not arguments.helenus:
        print("\n".join(kind.name for kind in KINDS))
        return
    if os.geteuid() != 0:
        say("the truths are not measured: faults need root")
        return
    faults.needs("ip", "tc", "jcmd")
    wanted = [kind for kind in KINDS if not arguments.only or kind.name in arguments.only]
    helenus = Helenus(arguments.helenus.resolve())
    helenus.fetch()
    faults.alone_in_network()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if arguments.keep:
        Path(arguments.keep).mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="helenus-truths-", dir=arguments.keep))
    os.environ["XDG_STATE_HOME"] = f"{folder}/state"
    try:
        rows, absent = measure(helenus, folder, wanted, arguments)
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)
    table(rows, absent)
    if arguments.json:
        arguments.json.write_text(json.dumps({"runs": rows, "left_out": absent}, indent=1))


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(str(failure))
    except KeyboardInterrupt:
        sys.exit(130)
