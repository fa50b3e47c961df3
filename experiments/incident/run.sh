#!/bin/sh
# An incident and how it is found, in about two minutes: a partition grows wide while a shop's own client reads it.
# The recorder sees a node and packets, and knows nothing of the client. Needs root for packets.
#
# run.sh HELENUS PYTHON [ADDRESS]     PYTHON has the module cassandra-driver
set -eu
helenus=$1 python=$2 address=${3:-127.0.0.1}
shop=$(dirname "$0")/shop.py
recording=incident-$(date -u +%Y%m%d-%H%M%S).helenus

say() { echo; echo "== $*"; }

say "a node"
"$helenus" up --name incident --address "$address"
trap '"$helenus" down incident' EXIT INT TERM

say "a shop: 2,000 customers with 20 orders each"
"$python" "$shop" fill "$address"
"$python" "$shop" serve "$address" 70 &
shop_pid=$!
trap 'kill "$shop_pid" 2>/dev/null || true; "$helenus" down incident' EXIT INT TERM
sleep 15

say "the incident: the partition of one customer grows to 10,000 orders"
"$python" "$shop" grow "$address"
sleep 5

say "why are the shop's requests slow?"
"$helenus" record --node "$address" --for 30s -o "$recording"
"$helenus" explain "$recording"
"$helenus" statements "$recording"
"$helenus" report "$recording"
