#!/bin/sh
# Runs one test again and again: on the machine as it is, then beside two busy loops. A test that fails once is mended or deleted.
#
# repeat.sh TARGET TEST [RUNS]   such as: repeat.sh sched moves_are_counted_by_both_cpus 5
#
# TARGET is an integration test, or `lib` for the unit tests of all crates. PROFILE is the profile of cargo: release, or dev.
set -eu
cd "$(dirname "$0")/.."
target=${1:?"TARGET TEST [RUNS]"} test=${2:?"TARGET TEST [RUNS]"} runs=${3:-5}
case $target in lib) target=--lib ;; *) target="--test $target" ;; esac

log=$(mktemp)
busy=""
end() {
    [ -z "$busy" ] || kill $busy
    rm -f "$log"
}
trap end EXIT

run() {
    begun=$(date +%s) how=passed
    cargo test --profile "${PROFILE:-release}" --locked --workspace $target "$test" >"$log" 2>&1 || how=FAILED
    grep -q '^running [1-9]' "$log" || how="FAILED: there is no such test"
    printf '%-6s %3s  %4s s  %s\n' "$1" "$2" "$(($(date +%s) - begun))" "$how"
    if [ "$how" != passed ]; then
        failures=$((failures + 1))
        grep -A 2 'panicked at' "$log" | cut -c -200 | sed 's/^/    /'
    fi
}

failures=0
cargo test --profile "${PROFILE:-release}" --locked --workspace --no-run --quiet $target
for number in $(seq "$runs"); do run quiet "$number"; done
for _ in 1 2; do
    sh -c 'while :; do :; done' &
    busy="$busy $!"
done
for number in $(seq "$runs"); do run busy "$number"; done
echo "$failures of $((2 * runs)) runs of $test failed"
[ "$failures" = 0 ]
