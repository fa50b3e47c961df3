"""Faults that are brought about beside a load, each undone at its end."""

import contextlib
import ctypes
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path


class Absent(Exception):
    """This machine can't bring the fault about."""


@contextlib.contextmanager
def again_and_again(act):
    """Does something every 2 to 4 s, at uneven times, in a thread."""
    over = threading.Event()

    def run():
        while not over.wait(random.uniform(2.0, 4.0)):
            act()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def stop(pid, for_s):
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(for_s)
    finally:
        os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def running(*commands):
    """Other processes meanwhile."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    # Each in a session of its own, because the scheduler divides the CPUs between sessions first.
    children = [subprocess.Popen(command, start_new_session=True, **quiet) for command in commands]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


class Cgroup:
    """A cgroup of its own for a process, which returns to where it was; of version 1 or 2."""

    def __init__(self, controller):
        self.controller = controller
        self.is_first = Path(f"/sys/fs/cgroup/{controller}").is_dir()
        root = Path("/sys/fs/cgroup", controller if self.is_first else "")
        if not self.is_first and controller not in (root / "cgroup.controllers").read_text().split():
            raise Absent(f"no cgroup controller {controller}")
        self.root = root
        self.path = root / f"helenus-truths-{os.getpid()}"

    def of(self, pid):
        """The cgroup that a process is in."""
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "" and not self.is_first or self.controller in controllers.split(","):
                return self.root / path.lstrip("/")
        return self.root

    @contextlib.contextmanager
    def around(self, pid, first, second):
        """Limits are pairs of file and text: `first` for version 1, `second` for version 2."""
        before = self.of(pid)
        try:
            self.path.mkdir()
        except OSError as error:
            raise Absent(f"no cgroup can be made: {error}") from error
        try:
            for name, text in first if self.is_first else second:
                try:
                    (self.path / name).write_text(text)
                except OSError as error:
                    raise Absent(f"{name}: {error}") from error
            (self.path / "cgroup.procs").write_text(str(pid))
            yield
        finally:
            for left in (self.path / "cgroup.procs").read_text().split():
                (before / "cgroup.procs").write_text(left)
            self.path.rmdir()


def cpu_quota(pid, cpus):
    quota = int(cpus * 100_000)
    first = [("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", str(quota))]
    return Cgroup("cpu").around(pid, first, [("cpu.max", f"{quota} 100000")])


def slow_disk(pid, folder, per_s):
    """So many reads and writes a second of the disk below a folder."""
    device = os.stat(folder).st_dev
    name = f"{os.major(device)}:{os.minor(device)}"
    if not Path(f"/sys/dev/block/{name}").exists():
        raise Absent("the data lie on no disk")
    controller = "blkio" if Path("/sys/fs/cgroup/blkio").is_dir() else "io"
    first = [(f"blkio.throttle.{way}_iops_device", f"{name} {per_s}") for way in ("read", "write")]
    return Cgroup(controller).around(pid, first, [("io.max", f"{name} riops={per_s} wiops={per_s}")])


def evict(folder):
    """Takes files out of the page cache."""
    for path in Path(folder).rglob("*.db"):
        with contextlib.suppress(OSError), path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@contextlib.contextmanager
def lossy_network():
    """The loopback device of the bench's own network namespace loses packets at random."""
    words = "tc qdisc add dev lo root netem loss 3%".split()
    added = subprocess.run(words, capture_output=True, text=True)
    if added.returncode != 0:
        raise Absent(f"tc: {added.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["tc", "qdisc", "del", "dev", "lo", "root"], check=True)


def histogram(pid):
    """What a monitoring script does that counts objects: a full collection."""
    subprocess.run(["jcmd", str(pid), "GC.class_histogram"], stdout=subprocess.DEVNULL, check=True)


def needs(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise Absent(f"there is no {program}")


def alone_in_network():
    """Moves this process into a network namespace of its own, which ends with it."""
    libc = ctypes.CDLL(None, use_errno=True)
    clone_newnet = 0x40000000
    if libc.unshare(clone_newnet) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
