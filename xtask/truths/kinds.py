"""The kinds of faults, each with what the first finding must say."""

import contextlib
import os
import re
import sys
from dataclasses import dataclass, field
from typing import Callable

import faults
from world import Host

BUSY_HALF = "import time\nwhile True:\n t = time.process_time() + 0.05\n while time.process_time() < t: pass\n time.sleep(0.05)"
ORDERS = {"fill_orders": 400}
LARGE_ORDERS = {"fill_orders": 1_000}


@dataclass(frozen=True)
class Base:
    """How nodes are started, and what is written before: operations of shop.toml, with how many requests."""

    name: str
    options: tuple[str, ...]
    rows: dict[str, int]
    warm_up_s: int = 8


@dataclass(frozen=True)
class Right:
    """A finding that is right: its name, and words that say what to change."""

    finding: str
    words: str = ""

    def is_met(self, finding):
        text = " ".join([finding["title"], finding["detail"], finding["next"]])
        return re.fullmatch(self.finding, finding["finding"]) and re.search(self.words, text, re.IGNORECASE)


@contextlib.contextmanager
def nothing(_nodes, _loads):
    yield


@dataclass(frozen=True)
class Kind:
    name: str
    base: Base
    right: tuple[Right, ...]
    fault: Callable = nothing
    weights: str = "read=9,write=1"
    rate: int = 300
    loads: tuple[str, ...] = ("own", "foreign")
    threads: int = 8
    hosts: tuple[Host, ...] = ()
    traced: float = 0.0
    before: Callable = field(default=lambda _nodes: None)
    is_healthy: bool = False

    def judge(self, findings):
        """Whether the first finding is right, and its name."""
        first = findings[0]
        serious = [finding for finding in findings if finding["severity"] != "information"]
        if self.is_healthy:
            is_right = all(any(right.is_met(finding) for right in self.right) for finding in serious)
        else:
            is_right = bool(serious) and any(right.is_met(first) for right in self.right)
        return bool(is_right), first["finding"] if serious else "nothing serious"


def bursts(act):
    """Again and again while the load runs; `act` is given nodes and load."""
    return lambda nodes, loads: faults.again_and_again(lambda: act(nodes, loads))


def beside(*commands):
    return lambda _nodes, _loads: faults.running(*commands)


def stop_node(number, for_s):
    return bursts(lambda nodes, _loads: faults.stop(nodes.pids[number], for_s))


def stop_load(for_s):
    def stop(_nodes, loads):
        # The fault begins before the load.
        if loads:
            faults.stop(loads[0].children[0].pid, for_s)

    return bursts(stop)


def quota(number, cpus):
    return lambda nodes, _loads: faults.cpu_quota(nodes.pids[number], cpus)


@contextlib.contextmanager
def cold_reads(nodes, _loads):
    """The node's files leave the page cache all the time, and the disk is slow."""
    with faults.slow_disk(nodes.pids[0], nodes.data, 60):
        with faults.again_and_again(lambda: faults.evict(nodes.data)):
            faults.evict(nodes.data)
            yield


def slow_disk(per_s):
    return lambda nodes, _loads: faults.slow_disk(nodes.pids[0], nodes.data, per_s)


def lossy_network(_nodes, _loads):
    return faults.lossy_network()


CPUS = os.cpu_count() or 1
PLAIN = Base(
    "plain",
    ("--set", "batch_size_fail_threshold=10MiB", "--set", "batch_size_warn_threshold=10MiB"),
    {"write": 5_000, **LARGE_ORDERS, "fill_hot": 30_000, "fill_feeds": 2_000, "remove": 600},
)
WIDE = Base("wide", (), {"write": 5_000, "fill_orders": 1_200})
SMALL_HEAP = Base("small heap", ("--heap", "192m"), {"write": 2_000, **ORDERS})
# A write waits for the next sync of the commit log, up to 30 ms, and keeps the thread meanwhile, but no CPU and no disk.
ONE_CLIENT_THREAD = Base(
    "one thread",
    (
        *("--set", "native_transport_max_threads=1", "--set", "commitlog_sync=group"),
        *("--set", "commitlog_sync_group_window=30ms", "--set", "commitlog_sync_period=0ms"),
    ),
    {"write": 200},
)
SHORT_TIMEOUTS = Base("short timeouts", ("--set", "read_request_timeout=30ms"), {"write": 2_000, "fill_orders": 1_200})
COLD = Base(
    "cold",
    ("--set", "disk_access_mode=standard", "--set", "file_cache_size=32MiB", "--heap", "512m"),
    {"write": 2_000, "upload": 4_000},
)
SYNC = Base("synced", ("--set", "commitlog_sync=batch", "--set", "commitlog_sync_period=0ms"), {"write": 2_000})
INTERPRETED = Base("interpreted", ("--jvm-opt=-Xint",), {"write": 500, "fill_orders": 100}, warm_up_s=3)
RING = Base("ring", ("--nodes", "3", "--heap", "384m"), {"write": 3_000})

STOPPED = Right("server-stall", "kill -STOP|freez|frozen")
SLOW_DISK = Right("disk-wait", "disk")
# Our load has a rate, which a slow disk can keep a node from.
OVERLOADED_DISK = Right("overload", "limited by the disk")
WORK = "(yes|python)"

KINDS = [
    # On a shared machine, a finding about other work is acceptable.
    Kind("healthy", PLAIN, (Right("other-processes"),), is_healthy=True),
    Kind(
        "healthy beside half a CPU",
        PLAIN,
        (Right("other-processes", WORK),),
        beside([sys.executable, "-c", BUSY_HALF]),
        is_healthy=True,
    ),
    Kind("node stopped", PLAIN, (STOPPED,), stop_node(0, 0.7)),
    Kind("driver stopped", PLAIN, (Right("client-stall", "driver"),), stop_load(0.5), loads=("own",)),
    Kind("CPU hog", PLAIN, (Right("other-processes", "yes"),), beside(*[["yes"]] * 24 * CPUS)),
    Kind("CPU quota", PLAIN, (Right("cpu-quota", "quota"),), quota(0, 0.25)),
    Kind("wide partitions", PLAIN, (Right("in-common", r"shop\.orders|all_orders"),), weights="read=95,all_orders=3,write=2"),
    Kind(
        "large answers before small ones",
        PLAIN,
        (Right("in-common", r"behind large answers|shop\.orders"),),
        # So seldom that most of the slowest percent are small ones that wait.
        weights="read=996,all_orders=4",
        loads=("foreign",),
    ),
    Kind("hot partition", PLAIN, (Right("in-common", r"shop\.feeds|hot_feed"),), weights="read=50,feed=47,hot_feed=3"),
    Kind(
        "one host asks for more",
        WIDE,
        (Right("in-common", r"127\.0\.42\.13|shop\.orders"),),
        loads=("foreign",),
        hosts=(
            Host("127.0.42.11", "read=9,write=1", 60),
            Host("127.0.42.12", "read=9,write=1", 60),
            Host("127.0.42.13", "all_orders=1", 4),
        ),
    ),
    Kind("tombstones", PLAIN, (Right("in-common|tombstones.*", "tombstones"),), weights="read=95,cart=3,write=2"),
    Kind("large batches", PLAIN, (Right("in-common", "batch|`import`"),), weights="read=97,import=2,write=1"),
    Kind("scans", PLAIN, (Right("in-common", "FILTERING|`scan`"),), weights="read=95,scan=3,write=2"),
    Kind("contended LWT", PLAIN, (Right("in-common|lwt-contention", "IF owner|contention|`claim`"),), weights="claim=1", threads=48, rate=1_000),
    Kind("tracing", PLAIN, (Right("tracing", "settraceprobability"),), loads=("foreign",), traced=0.5),
    Kind(
        "heap histograms",
        PLAIN,
        (Right("gc-pause|safepoint", "Heap Inspection|histogram"),),
        bursts(lambda nodes, _loads: faults.histogram(nodes.pids[0])),
    ),
    Kind("lost packets", PLAIN, (Right("retransmission", "lost"),), lossy_network, weights="read=95,all_orders=3,write=2"),
    Kind("small heap", SMALL_HEAP, (Right("gc-pause|gc-time|heap.*|node-ended", "heap"),), weights="read=8,all_orders=2"),
    Kind(
        "one client thread",
        ONE_CLIENT_THREAD,
        (Right("pool-queue", "native_transport_max_threads"),),
        rate=200,
    ),
    Kind("short timeouts", SHORT_TIMEOUTS, (Right("errors", "timeout"),), weights="read=96,all_orders=4"),
    Kind("cold reads, slow disk", COLD, (SLOW_DISK, OVERLOADED_DISK), cold_reads, weights="read=50,photo=50", rate=100),
    Kind("slow disk of writes", SYNC, (SLOW_DISK, OVERLOADED_DISK), slow_disk(20), weights="write=1"),
    Kind("no compiler", INTERPRETED, (Right("jit", "-Xint"),), weights="read=98,write=2", rate=100),
    Kind("node of a ring stopped", RING, (STOPPED,), stop_node(1, 0.7)),
    Kind("CPU quota in a ring", RING, (Right("cpu-quota", "quota"),), quota(2, 0.2)),
]
