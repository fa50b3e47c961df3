//! The load is honest: its report matches its schedule, no matter which side was stopped.

use crate::alone;
use crate::harness::{Place, Running, signal_to, wait_for};
use serde_json::Value;
use std::net::TcpStream;
use std::time::{Duration, Instant, SystemTime};

const RATE_PER_S: i64 = 1_000;
const SECONDS: i64 = 20;
const STOP: Duration = Duration::from_millis(2_500);

/// Wall-clock times before and after a stop.
struct Stopped {
    from_ns: i64,
    to_ns: i64,
}

fn now_ns() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as i64
}

fn stop(pid: i32) -> Stopped {
    let (from_ns, begun) = (now_ns(), Instant::now());
    signal_to(pid, libc::SIGSTOP);
    std::thread::sleep(STOP - begun.elapsed());
    let to_ns = now_ns();
    signal_to(pid, libc::SIGCONT);
    Stopped { from_ns, to_ns }
}

fn responder(place: &Place, address: &str) -> Running {
    let responder = place.start(&format!("responder --listen {address}"));
    wait_for("the responder to listen", || TcpStream::connect(address).is_ok());
    responder
}

/// Drives the responder for 20 s, and stops one of the two in the middle.
fn drive(place: &Place, address: &str, name: &str, whom: impl FnOnce(&Running) -> i32) -> (Value, Stopped) {
    let load = format!("keyvalue/write --rate {RATE_PER_S} --for {SECONDS}s --max-in-flight 10000 --json");
    let load = place.start(&format!("load {load} --node {address} -o {name}"));
    std::thread::sleep(Duration::from_secs(7));
    let stopped = stop(whom(&load));
    let load = load.end();
    assert!(load.status.success(), "{}", load.err);
    (serde_json::from_str(&load.out).unwrap(), stopped)
}

/// A busy machine may need this long to answer all requests that were due during the stop.
const CATCHES_UP_NS: i64 = 2_000_000_000;

/// Each reported percentile is within a tenth of the one that follows from the schedule and the stop: a request that was due
/// during the stop was answered at the end of the stop, or while the backlog drained.
fn assert_as_the_schedule_implies(place: &Place, name: &str, summary: &Value, stopped: &Stopped) {
    let first_ns = place.ask(name, "select min(intended_start_ns) from requests");
    let interval_ns = 1_000_000_000 / RATE_PER_S;
    let count = RATE_PER_S * SECONDS;
    let due = (0..count).map(|number| first_ns + number * interval_ns);
    let waits = |due_ns: i64| if due_ns >= stopped.from_ns { (stopped.to_ns - due_ns).max(0) } else { 0 };
    let mut implied: Vec<i64> = due.map(waits).collect();
    implied.sort_unstable();
    let own = place.ask(name, "select count(*) from requests");
    assert_eq!(own, count, "every request of the schedule is there");

    let Stopped { from_ns, to_ns } = stopped;
    let was_due = format!("intended_start_ns >= {from_ns} and intended_start_ns < {to_ns}");
    let last_ns = place.ask(name, &format!("select max(end_ns) from requests where {was_due}"));
    // The recording's clock may be off from ours by a little.
    let caught_up_ns = (last_ns - to_ns).max(0);
    assert!(caught_up_ns < CATCHES_UP_NS, "{name}: the last was answered after {caught_up_ns} ns");

    let phase = &summary["phases"][0]["response"];
    let reported = |name: &str| phase[name].as_i64().unwrap();
    let rank = |share: f64| implied[((count as f64 * share).ceil() as usize).max(1) - 1];
    let p90_ns = place.ask(
        name,
        &format!(
            "select end_ns - intended_start_ns as response_ns from requests order by response_ns limit 1 offset {}",
            count * 9 / 10 - 1
        ),
    );
    assert!(reported("p50_ns") < STOP.as_nanos() as i64 / 5, "most were due when nobody stood still: {name}: {phase}");
    for (share, what, reported_ns) in [
        (0.9, "p90", p90_ns),
        (0.95, "p95", reported("p95_ns")),
        (0.99, "p99", reported("p99_ns")),
        (0.999, "p99.9", reported("p999_ns")),
        (1.0, "max", reported("max_ns")),
    ] {
        let implied_ns = rank(share);
        // On a busy machine the time of the stop is not known more exactly.
        let bound_ns = implied_ns / 10;
        let meant = implied_ns - bound_ns..implied_ns + bound_ns + caught_up_ns;
        assert!(meant.contains(&reported_ns), "{name} {what}: {reported_ns} ns reported, {implied_ns} ns implied");
    }
}

#[test]
fn what_is_reported_is_what_the_schedule_implies() {
    let _alone = alone();
    let place = Place::new();
    let address = "127.0.31.1:9042";
    let responder = responder(&place, address);

    let (summary, stopped) = drive(&place, address, "server-stopped", |_| responder.pid());
    assert_as_the_schedule_implies(&place, "server-stopped", &summary, &stopped);
    // Only the server was stopped: requests were sent when due, except for delays of a busy machine.
    let due_meanwhile = RATE_PER_S * STOP.as_millis() as i64 / 1000;
    assert!(summary["lag"]["late_driver"].as_i64().unwrap() < due_meanwhile / 5, "{summary:#}");

    let (summary, stopped) = drive(&place, address, "driver-stopped", Running::pid);
    assert_as_the_schedule_implies(&place, "driver-stopped", &summary, &stopped);
    // The server is not blamed: it answered the requests that were sent, and the driver reports its own stall.
    let slow = "select count(*) from requests where end_ns - start_ns > 100000000";
    assert!(place.ask("driver-stopped", slow) < due_meanwhile / 5, "only what was on its way had a long service time");
    let late = summary["lag"]["late_driver"].as_i64().unwrap();
    assert!(late > due_meanwhile * 9 / 10, "{late} of {due_meanwhile} are named as late because of the driver");
    let paused_ns = summary["stalls"]["watcher_longest_ns"].as_i64().unwrap();
    assert!(paused_ns > STOP.as_nanos() as i64 * 9 / 10, "{paused_ns}");

    responder.signal(libc::SIGINT);
    let responder = responder.end();
    assert!(responder.status.success(), "{}", responder.err);
    assert!(responder.err.contains("requests answered"), "{}", responder.err);
}
