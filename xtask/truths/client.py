"""A client that is not ours: the Python driver sends the requests of a workload file until it is told to end.

  client.py ADDRESS WORKLOAD WEIGHTS RATE THREADS READY [--from ADDRESS] [--trace SHARE]

WEIGHTS is like read=9,write=1. READY is a file that is made when requests flow.
"""

import random
import socket
import sys
import threading
import time
import tomllib
from argparse import ArgumentParser
from pathlib import Path

from cassandra import ConsistencyLevel
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import FallthroughRetryPolicy
from cassandra.query import BatchStatement, BatchType


def bound_to(source):
    """Sockets of the driver that come from one address, as those of one host do."""
    default = Cluster.connection_class

    class Source:
        def __getattr__(self, name):
            return getattr(socket, name)

        @staticmethod
        def socket(*arguments):
            made = socket.socket(*arguments)
            made.bind((source, 0))
            return made

    class Bound(default):
        _socket_impl = Source()

    return Bound


class Operation:
    def __init__(self, session, workload, name):
        declared = workload["operations"][name]
        names = []
        words = []
        for word in declared["cql"].replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split():
            words.append("?" if word.startswith(":") else word)
            if word.startswith(":"):
                names.append(word[1:])
        self.parameters = [workload["parameters"][name] for name in names]
        self.statement = session.prepare(" ".join(words))
        self.batch = declared.get("batch", 1)

    def bound(self):
        return self.statement.bind([drawn(parameter) for parameter in self.parameters])

    def request(self):
        if self.batch == 1:
            return self.bound()
        batch = BatchStatement(BatchType.UNLOGGED)
        for _ in range(self.batch):
            batch.add(self.bound())
        return batch


def drawn(parameter):
    match parameter["kind"]:
        case "key":
            return random.randrange(parameter["population"])
        case "integer":
            return random.randrange(parameter["max"])
        case "fixed":
            return parameter["value"]
        case "value":
            return random.randbytes(parameter["size_bytes"])


def send(session, operations, weights, every_s, until, trace):
    due = time.monotonic() + random.random() * every_s
    while not until.is_set():
        time.sleep(max(0.0, due - time.monotonic()))
        due = max(due + every_s, time.monotonic() - every_s)
        (operation,) = random.choices(operations, weights)
        try:
            session.execute(operation.request(), trace=random.random() < trace)
        except Exception as error:
            # Some faults make requests fail; the failures are recorded on the wire.
            print(type(error).__name__, file=sys.stderr)


def main():
    parser = ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("workload", type=Path)
    parser.add_argument("weights")
    parser.add_argument("rate", type=float)
    parser.add_argument("threads", type=int)
    parser.add_argument("ready", type=Path)
    parser.add_argument("--from", dest="source")
    parser.add_argument("--trace", type=float, default=0.0)
    arguments = parser.parse_args()
    workload = tomllib.loads(arguments.workload.read_text())
    profile = ExecutionProfile(
        consistency_level=ConsistencyLevel.LOCAL_ONE, retry_policy=FallthroughRetryPolicy(), request_timeout=20
    )
    more = {"connection_class": bound_to(arguments.source)} if arguments.source else {}
    cluster = Cluster([arguments.address], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, **more)
    session = cluster.connect()
    chosen = [pair.split("=") for pair in arguments.weights.split(",")]
    operations = [Operation(session, workload, name) for name, _ in chosen]
    weights = [float(weight) for _, weight in chosen]
    until = threading.Event()
    every_s = arguments.threads / arguments.rate
    given = (session, operations, weights, every_s, until, arguments.trace)
    threads = [threading.Thread(target=send, args=given) for _ in range(arguments.threads)]
    for thread in threads:
        thread.start()
    arguments.ready.touch()
    # The bench closes standard input; a bound on the time is there in case it was killed.
    ends = threading.Timer(120, until.set)
    ends.daemon = True
    ends.start()
    threading.Thread(target=lambda: (sys.stdin.read(), until.set()), daemon=True).start()
    for thread in threads:
        thread.join()
    cluster.shutdown()


main()
