#!/bin/sh
# Runs tests, and says at the end how long each group took, which ten were the slowest, and what was skipped.
#
# tests.sh check   those that need no JVM, Maven, npm or browser; those that need root are skipped without it
# tests.sh test    all others: first the agent's and the workloads' beside those that start single nodes and the pages', then those of
#                  helenus as a user runs it, then those that a busy machine would disturb
set -u
cd "$(dirname "$0")/.." || exit 2

# The integration tests of `check`, and those that a busy machine would disturb. Each one that is in neither list starts nodes.
CHECK="damage explain hostile import responder_protocol survives counters kernel_stacks page_cache pressure sched syscalls"
ALONE="measured responder stacks"
# The test of nodes that runs after the agent's, which makes the two streams about equally long.
WITH_AGENT="workloads"

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export HELENUS_SKIPPED="$out/skipped"
# Snapshots are looked for here, also by a test that was built in another clone with the same target folder.
export INSTA_WORKSPACE_ROOT="$PWD"
: >"$HELENUS_SKIPPED"

# libtest tells each test's time where RUSTC_BOOTSTRAP is set when it runs. Were it set for cargo, all would be built again.
triple=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
export "CARGO_TARGET_${triple}_RUNNER=env RUSTC_BOOTSTRAP=1"

starting_nodes() {
    for path in crates/*/tests/*.rs crates/*/tests/*/main.rs; do
        name=$(basename "${path%/main.rs}" .rs)
        case " $CHECK $ALONE " in *" $name "*) ;; *) echo "$name" ;; esac
    done
}

targets() { for name in "$@"; do echo "--test $name"; done; }

rust() { cargo test --release --locked --workspace --no-fail-fast "$@" -- -Z unstable-options --report-time; }

# NAME COMMAND...: notes how long it takes and how it ends, and keeps what it prints.
group() {
    name=$1
    shift
    begun=$(date +%s)
    { "$@" 2>&1 || touch "$out/$name.failed"; } | tee "$out/$name.log"
    echo "$(($(date +%s) - begun)) s  $name$([ -e "$out/$name.failed" ] && echo '  FAILED')" >>"$out/groups"
}

# Seconds and name of each test: of libtest, of Maven by class, and of Playwright.
seconds() {
    sed -n 's/^test \(.*\) \.\.\. .*<\([0-9.]*\)s>$/\2 \1/p' "$out"/*.log
    sed -n 's/.*Tests run.*Time elapsed: \([0-9.]*\) s .*-- in \(.*\)$/\1 \2/p' "$out"/*.log
    sed -n 's/^ *[✓✘x] *[0-9]* \(.*\) (\([0-9.]*\)s)$/\2 \1/p' "$out"/*.log
}

report() {
    echo
    echo "The ten slowest tests:"
    seconds | sort -rn | head -n 10 | sed 's/^\([0-9.]*\)/  \1 s /'
    if [ -s "$HELENUS_SKIPPED" ]; then
        echo "$(wc -l <"$HELENUS_SKIPPED") tests were skipped:"
        sort "$HELENUS_SKIPPED" | sed 's/^/  /'
    fi
    echo "Groups:"
    sed 's/^/  /' "$out/groups"
    grep -h '^test .* FAILED' "$out"/*.log
    ! ls "$out" | grep -q 'failed$'
}

case "${1:-}" in
check)
    # A test runs this example.
    cargo build --quiet --release --locked --workspace --example write_until_killed || exit 1
    group check rust --lib --bins $(targets $CHECK)
    ;;
test)
    nodes=$(targets $(starting_nodes | grep -vx -e e2e -e "$WITH_AGENT"))
    alone=$(targets $ALONE)
    cargo test --release --locked --workspace --no-run --test e2e --test "$WITH_AGENT" $nodes $alone || exit 1
    # These two build again what is in the binary: with another time of change it would be built again, too.
    cp -p agent/target/helenus-agent.jar "$out/"
    cp -rp web/dist "$out/"
    # One CPU for each of the two streams; the output of the agent's stream comes when both have ended.
    {
        group agent mvn -B -ntp -f agent/pom.xml verify
        group "$WITH_AGENT" rust --test "$WITH_AGENT"
    } >"$out/beside" &
    group nodes rust $nodes
    group pages npm --prefix web test
    wait
    cat "$out/beside"
    cp -p "$out/helenus-agent.jar" agent/target/
    cp -rp "$out/dist" web/
    # Two of these at a time fill two CPUs.
    group e2e rust --test e2e
    group alone rust $alone
    ;;
*)
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
report
