"""Nodes, loads and recordings of a run."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ADDRESS = "127.0.42.1"
HERE = Path(__file__).parent
WORKLOAD = HERE / "shop.toml"
PATIENCE_S = 180
WARM_UP_S = 2
ANSWERS_LOST = 4
# Requests per second that a process of the Python driver can easily send.
MOST_OF_PYTHON = 600


@dataclass(frozen=True)
class Host:
    """A client host, by its address, with what it asks."""

    address: str | None
    weights: str
    rate: float


class Failure(Exception):
    pass


class Helenus:
    def __init__(self, binary):
        self.binary = binary

    def fetch(self):
        """Cassandra comes from Maven Central, which no network namespace of ours reaches."""
        cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "helenus", "cassandra")
        if not any(cache.glob("5.0*")):
            name = f"truths-{os.getpid()}-fetch"
            self.ask("up", "--name", name, "--address", ADDRESS, timeout=600)
            self.ask("down", name)

    def ask(self, *words, timeout=PATIENCE_S):
        ran = subprocess.run([self.binary, *map(str, words)], capture_output=True, text=True, timeout=timeout)
        if ran.returncode != 0:
            raise Failure(f"helenus {' '.join(map(str, words))}: {ran.stderr.strip()[-600:]}")
        return ran.stdout

    def start(self, *words):
        return subprocess.Popen(
            [self.binary, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )


class Nodes:
    """One node or a ring, with the rows of the shop."""

    def __init__(self, helenus, folder, base):
        self.helenus = helenus
        self.base = base
        self.data = folder / "data"
        self.name = f"truths-{os.getpid()}"
        words = ["--name", self.name, "--address", ADDRESS, "--data", self.data, "--json", *base.options]
        self.pids = [node["pid"] for node in json.loads(helenus.ask("up", *words, timeout=600))]
        self.addresses = [f"127.0.42.{1 + number}" for number in range(len(self.pids))]
        try:
            self.create_tables()
            for operation, requests in base.rows.items():
                self.populate(operation, requests)
            # Warm-up, in which the JVM compiles the code for the requests.
            self.load("read=1,write=1", f"--in-flight 16 --for {base.warm_up_s}s")
        except BaseException:
            self.end()
            raise

    def create_tables(self):
        """A node with short timeouts makes a change of its schema, and may never answer that it has."""
        for _ in range(ANSWERS_LOST):
            with contextlib.suppress(Failure):
                return self.populate("write", 1)
        return self.populate("write", 1)

    def populate(self, operation, requests):
        self.load(f"{operation}=1", f"--in-flight 16 --count {requests}")

    def load(self, weights, schedule):
        folder = self.data.parent / "populate"
        self.helenus.ask(*self.load_words(weights, schedule, folder), timeout=600)
        subprocess.run(["rm", "-rf", folder], check=True)

    def load_words(self, weights, schedule, folder):
        nodes = [word for address in self.addresses for word in ("--node", address)]
        return ["load", f"{WORKLOAD}/{weights}", *nodes, "--no-populate", *schedule.split(), "-o", folder]

    def end(self):
        self.helenus.ask("down", self.name)


class Recorder:
    """`helenus record` by default options."""

    def __init__(self, nodes, recording):
        words = [word for address in nodes.addresses for word in ("--node", address)]
        self.child = nodes.helenus.start("record", *words, "-o", recording)
        said = []
        for line in self.child.stderr:
            said.append(line)
            if "Ctrl-C ends it" in line:
                return
        self.child.wait()
        raise Failure(f"helenus record: {''.join(said)}")

    def end(self):
        self.child.send_signal(signal.SIGINT)
        _, said = self.child.communicate(timeout=PATIENCE_S)
        if self.child.returncode != 0:
            raise Failure(f"helenus record: {said}")


class OwnLoad:
    """`helenus load`, whose recording says when its requests were due."""

    def __init__(self, nodes, folder, kind, seconds):
        self.folder = folder / "load"
        schedule = f"--rate {kind.rate} --max-in-flight 64 --warm-up {WARM_UP_S}s --for {seconds}s"
        self.children = [nodes.helenus.start(*nodes.load_words(kind.weights, schedule, self.folder))]

    def flows(self):
        return any(path.stat().st_size > 0 for path in self.folder.glob("requests/*"))

    def last(self, seconds):
        try:
            self.children[0].communicate(timeout=seconds + PATIENCE_S)
        except subprocess.TimeoutExpired as late:
            raise Failure("the load does not end") from late

    def end(self):
        for child in self.children:
            if child.poll() is None:
                child.send_signal(signal.SIGCONT)
                child.kill()
                child.communicate()


class ForeignLoad:
    """The Python driver, one process for each client host."""

    def __init__(self, nodes, folder, kind, _seconds):
        self.ready, self.children = [], []
        hosts = kind.hosts or [Host(None, kind.weights, min(kind.rate, MOST_OF_PYTHON))]
        for number, host in enumerate(hosts):
            ready = folder / f"ready-{number}"
            words = [HERE / "client.py", ADDRESS, WORKLOAD, host.weights, host.rate, kind.threads, ready]
            words += ["--from", host.address] if host.address else []
            words += ["--trace", kind.traced] if kind.traced else []
            with (folder / f"client-{number}.log").open("w") as log:
                command = [sys.executable, *map(str, words)]
                self.children.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log))
            self.ready.append(ready)

    def flows(self):
        return all(ready.exists() for ready in self.ready)

    def last(self, seconds):
        time.sleep(seconds)

    def end(self):
        for child in self.children:
            child.stdin.close()
        for child in self.children:
            try:
                child.wait(timeout=30)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


LOADS = {"own": OwnLoad, "foreign": ForeignLoad}


def run(nodes, kind, load_name, seconds, folder):
    """Brings a fault about under a load, records the nodes by default options, and explains: the explanation."""
    folder.mkdir(parents=True)
    kind.before(nodes)

    loads = []
    recording = folder / "nodes"
    with contextlib.ExitStack() as undo:

        def begin():
            loads.append(begun(LOADS[load_name](nodes, folder, kind, seconds), folder))
            undo.callback(loads[0].end)

        # As in production, the connections and most of the faults exist before the recording begins.
        if load_name == "foreign":
            begin()
            time.sleep(WARM_UP_S)
        undo.enter_context(kind.fault(nodes, loads))
        recorder = Recorder(nodes, recording)
        undo.callback(recorder.end)
        if load_name == "own":
            begin()
        loads[0].last(seconds)
    if load_name == "own":
        both = folder / "both"
        nodes.helenus.ask("recording", "merge", loads[0].folder, recording, "-o", both)
        recording = both
    explanation = json.loads(nodes.helenus.ask("explain", recording, "--json"))
    (folder / "explanation.json").write_text(json.dumps(explanation, indent=1))
    return explanation


def begun(load, folder):
    until = time.monotonic() + 60
    while not load.flows():
        if time.monotonic() > until or any(child.poll() is not None for child in load.children):
            load.end()
            raise Failure(f"the load did not begin, see {folder}")
        time.sleep(0.1)
    return load
