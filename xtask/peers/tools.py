"""The load generators: the commands that make each send the same load, and how what it prints is read."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

IN_FLIGHT = 128
# An open loop needs this many requests in flight to start 2 s of requests on time, for tools that limit them.
OPEN_IN_FLIGHT = 4096
OPEN_PER_S = 1000
# Median, p99, p99.9 and maximum, which all tools report.
PERCENTILES = (50.0, 99.0, 99.9, 100.0)

# Rows as cassandra-stress writes them: a key and five columns of 34 bytes.
WORKLOAD = Path(__file__).parents[2] / "crates/load/examples/client_cost.toml"

# The same in the language of latte; the table is the one that Helenus has made.
LATTE = """
use latte::*;
const INSERT = "insert";
pub async fn prepare(db) {
    let cql = "INSERT INTO cost.standard (key, c0, c1, c2, c3, c4) VALUES (?, ?, ?, ?, ?, ?)";
    db.prepare(INSERT, cql).await?;
}
pub async fn run(db, i) {
    let v = blob(i, 34);
    db.execute_prepared(INSERT, [i % 1000000, v, v, v, v, v]).await?;
}
"""


class Failure(Exception):
    pass


@dataclass(frozen=True)
class Said:
    """What a tool says of a run. The percentiles are those of PERCENTILES, or None where it does not say them."""

    requests: int
    seconds: float
    percentiles_ms: tuple


class Tool:
    """A load generator. `closed` and `open` are the commands of a closed loop and of a fixed rate; `said` reads what was
    printed. A tool without a fixed rate has no `open`."""

    name = ""
    command = ""
    version_argument = "--version"
    jvm = False
    environment = {}
    open = None

    def __init__(self, folder):
        self.folder = folder

    def path(self):
        installed = Path.home() / ".cache/helenus/peers/bin" / self.command
        return str(installed) if installed.exists() else shutil.which(self.command)

    def version(self):
        done = subprocess.run([self.path(), self.version_argument], capture_output=True, text=True, cwd=self.folder)
        found = re.search(r"\d+(\.\d+)+\S*", done.stdout + done.stderr)
        return found.group() if found else "?"


class Helenus(Tool):
    def __init__(self, folder, path, driver):
        super().__init__(folder)
        self.name, self.driver, self.command = f"helenus, {driver}", driver, path
        shutil.copy(WORKLOAD, folder / "cost.toml")

    def path(self):
        return self.command

    def closed(self, node, seconds):
        return self.load(node, ["--in-flight", str(IN_FLIGHT), "--for", f"{seconds}s"])

    def open(self, node, seconds):
        return self.load(node, ["--rate", str(OPEN_PER_S), "--for", f"{seconds}s"])

    def load(self, node, phase):
        recording = self.folder / "recording"
        shutil.rmtree(recording, ignore_errors=True)
        return [self.path(), "load", "cost.toml", "--node", node, "--driver", self.driver, "--json", "-o", recording, *phase]

    def said(self, printed):
        phase = json.loads(printed[printed.index("{"):printed.rindex("}") + 1])["phases"][0]
        percentiles = tuple(phase["response"][name] / 1e6 for name in ("p50_ns", "p99_ns", "p999_ns", "max_ns"))
        return Said(phase["requests"], (phase["end_ns"] - phase["start_ns"]) / 1e9, percentiles)


class Latte(Tool):
    name = "latte"
    command = "latte"
    open_in_flight = IN_FLIGHT
    more = []

    def closed(self, node, seconds):
        return self.run(node, seconds, ["-p", str(IN_FLIGHT)])

    def open(self, node, seconds):
        return self.run(node, seconds, ["-p", str(self.open_in_flight), "-r", str(OPEN_PER_S)])

    def run(self, node, seconds, load):
        (self.folder / "latte.rn").write_text(LATTE)
        # An existing file belongs to the previous run.
        (self.folder / "latte.json").unlink(missing_ok=True)
        how = ["-q", "-t", "1", "-w", "1", "-d", f"{seconds}s", *load, "-o", self.folder / "latte.json", *self.more]
        return [self.path(), "run", *how, "latte.rn", node]

    def said(self, _):
        report = json.loads((self.folder / "latte.json").read_text())
        result, names = report["result"], [round(name, 2) for name in report["percentiles"]]
        # The longer of its two times: a cycle begins when it is due in the schedule, a request when it is
        # sent.
        values = result["cycle_latency"]["percentiles"]
        percentiles = tuple(values[names.index(name)]["value"] for name in PERCENTILES)
        return Said(result["request_count"], result["elapsed_time_s"], percentiles)


class LatteWide(Latte):
    """latte with room for all requests that fall due while the server stands."""

    name = f"latte, -p {OPEN_IN_FLIGHT}"
    closed = None
    open_in_flight = OPEN_IN_FLIGHT


class LatteScylla(Latte):
    name = "latte, ScyllaDB's"
    command = "latte-scylladb"
    more = ["--generate-report"]


class LatteScyllaWide(LatteWide):
    name = f"latte, ScyllaDB's, -p {OPEN_IN_FLIGHT}"
    command = LatteScylla.command
    more = LatteScylla.more


class CassandraStress(Tool):
    name = "cassandra-stress"
    command = "cassandra-stress"
    version_argument = "version"
    jvm = True
    # Without this option its driver uses a beta of protocol v5.
    mode = ["-mode", "native", "cql3", "protocolVersion=4"]

    def closed(self, node, seconds):
        return self.write(node, seconds, [f"threads={IN_FLIGHT}"])

    def open(self, node, seconds):
        return self.write(node, seconds, [f"threads={IN_FLIGHT}", f"fixed={OPEN_PER_S}/s"])

    def write(self, node, seconds, rate):
        how = ["write", f"duration={seconds}s", "no-warmup", "cl=LOCAL_ONE", "-pop", "seq=1..1000000", *self.mode]
        return [self.path(), *how, "-rate", *rate, "-node", node]

    def said(self, printed):
        def figure(name):
            # The last match counts: a run may be summed up for each operation and then for all.
            found = re.findall(rf"^\s*{name}\s*:\s*([\d.,:]+)", printed, re.MULTILINE)
            if not found:
                raise Failure(f"{self.name} says no {name!r}")
            return found[-1].replace(",", "")

        requests = int(figure("Total (?:partitions|operations)"))
        names = ("Latency median", "Latency 99th percentile", "Latency 99.9th percentile", "Latency max")
        percentiles = tuple(float(figure(name)) for name in names)
        # cassandra-stress reports its total time only in whole seconds, so the rate is read.
        return Said(requests, requests / float(figure("Op rate")), percentiles)


class CassandraStressThrottled(CassandraStress):
    name = "cassandra-stress, throttle="
    closed = None

    def open(self, node, seconds):
        return self.write(node, seconds, [f"threads={IN_FLIGHT}", f"throttle={OPEN_PER_S}/s"])


class CqlStress(CassandraStress):
    name = "cql-stress"
    command = "cql-stress-cassandra-stress"
    jvm = False
    mode = []
    # Its workers are tasks; by default there is a thread for each CPU.
    environment = {"TOKIO_WORKER_THREADS": "1"}


class ScyllaBench(Tool):
    """Has one value and no five columns: it is given one as long as the five."""

    name = "scylla-bench"
    command = "scylla-bench"
    version_argument = "-version"
    environment = {"GOMAXPROCS": "1"}

    def version(self):
        printed = subprocess.run([self.path(), self.version_argument], capture_output=True, text=True).stdout
        return re.search(r"version:\s*(\S+)", printed).group(1)

    def closed(self, node, seconds):
        return self.write(node, seconds, [])

    def open(self, node, seconds):
        return self.write(node, seconds, ["-max-rate", str(OPEN_PER_S)])

    def write(self, node, seconds, load):
        rows = ["-partition-count", "1000000", "-clustering-row-count", "1", "-clustering-row-size", "fixed:170"]
        plain = ["-client-compression=false", "-consistency-level", "local_one", "-iterations", "0"]
        connection = ["-connection-count", "1", "-concurrency", str(IN_FLIGHT), "-duration", f"{seconds}s"]
        how = ["-mode", "write", "-workload", "sequential", "-nodes", node]
        return [self.path(), *how, *rows, *plain, *connection, *load]

    def said(self, printed):
        requests = int(re.search(r"Total ops:\s*(\d+)", printed).group(1))
        seconds = span_s(re.search(r"Time \(avg\):\s*(\S+)", printed).group(1))
        # The last block is the one that is corrected for coordinated omission.
        block = printed[printed.rindex("c-o fixed latency"):]
        spans = (re.search(rf"\b{name}:\s*(\S+)", block).group(1) for name in ("median", "99th", "99.9th", "max"))
        return Said(requests, seconds, tuple(1e3 * span_s(span) for span in spans))


def span_s(text):
    """A span as Go prints it, such as 1m2.5s or 812µs."""
    units = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+)([hmµun]?s|[hm])", text))


TOOLS = (
    Latte,
    LatteWide,
    LatteScylla,
    LatteScyllaWide,
    CqlStress,
    ScyllaBench,
    CassandraStress,
    CassandraStressThrottled,
)
