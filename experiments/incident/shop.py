"""A shop with an incident, for run.sh beside it: a client of Cassandra by the DataStax driver, which knows nothing of Helenus.

    shop.py fill ADDRESS             2,000 customers with 20 orders each
    shop.py grow ADDRESS             one customer, a reseller, gets 10,000 orders more
    shop.py serve ADDRESS SECONDS    300 pages/s with the orders of a customer, and 30 new orders/s
"""

import random
import sys
import time

from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.policies import RoundRobinPolicy

CUSTOMERS, ORDERS = 2_000, 20
RESELLER, RESOLD = 42, 10_000
PAGES_PER_S, ORDERS_PER_S = 300, 30
# The reseller looks at its own page more often than other customers do.
RESELLER_SHARE = 0.02
TEXT = "x" * 200

SCHEMA = (
    "CREATE KEYSPACE IF NOT EXISTS shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    # Flushed every two seconds, so that the size of a partition is known: Cassandra reads it from SSTables.
    "CREATE TABLE IF NOT EXISTS shop.orders (customer int, number int, item text, PRIMARY KEY (customer, number))"
    " WITH memtable_flush_period_in_ms = 2000",
)
INSERT = "INSERT INTO shop.orders (customer, number, item) VALUES (?, ?, ?)"
SELECT = "SELECT number, item FROM shop.orders WHERE customer = ?"


def write(session, rows):
    execute_concurrent_with_args(session, session.prepare(INSERT), rows, concurrency=64)


def fill(session):
    for statement in SCHEMA:
        session.execute(statement)
    write(session, [(customer, number, TEXT) for customer in range(CUSTOMERS) for number in range(ORDERS)])


def grow(session):
    write(session, [(RESELLER, ORDERS + number, TEXT) for number in range(RESOLD)])


def serve(session, seconds):
    insert, select = session.prepare(INSERT), session.prepare(SELECT)
    start, pages, orders = time.monotonic(), 0, 0
    while (elapsed := time.monotonic() - start) < seconds:
        while pages < elapsed * PAGES_PER_S:
            reseller = random.random() < RESELLER_SHARE
            session.execute_async(select, (RESELLER if reseller else random.randrange(CUSTOMERS),))
            pages += 1
        while orders < elapsed * ORDERS_PER_S:
            session.execute_async(insert, (random.randrange(CUSTOMERS), random.randrange(ORDERS), TEXT))
            orders += 1
        time.sleep(0.002)


def main(what, address, *seconds):
    profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy())
    cluster = Cluster([address], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, protocol_version=5)
    with cluster:
        session = cluster.connect()
        {"fill": fill, "grow": grow, "serve": serve}[what](session, *map(float, seconds))


main(*sys.argv[1:])
