//! Explain names the stopped process: the load driver for its own stop, and the node for the node's.

use crate::harness::{Place, Running, origin, pid_of_node, record_under_load, signal_to};
use crate::{alone, blamed};
use std::time::Duration;

/// Lets the load run for a while, stops a process for a second, and lets it go on.
fn stop_for_a_second(pid: i32) {
    std::thread::sleep(Duration::from_secs(6));
    signal_to(pid, libc::SIGSTOP);
    std::thread::sleep(Duration::from_secs(1));
    signal_to(pid, libc::SIGCONT);
}

#[test]
fn who_stood_still_is_blamed_and_nobody_else() {
    let _alone = alone();
    let place = Place::new();
    let address = "127.0.30.1";
    place.well(&format!("up --name healthy --address {address} --heap 768m"));
    let node = pid_of_node(&place);
    place.well(&format!("load keyvalue/mixed --node {address} --no-populate --in-flight 16 --for 15s -o warm-up"));
    let calm = "keyvalue/mixed --rate 150 --for 15s --warm-up 2s";

    record_under_load(&place, "client-stopped", address, calm, |load| stop_for_a_second(load.pid()));
    let explanation = place.json("explain client-stopped --json");
    let found = blamed(&explanation);
    assert_eq!(found.first(), Some(&"client-stall"), "{explanation:#}");
    for server in ["gc-pause", "server-stall", "safepoint"] {
        assert!(!found.contains(&server), "the server is not blamed: {found:?}");
    }
    let there = origin(&explanation);
    let longest_ms = there["slow"]["in_node_max_ms"].as_f64().unwrap();
    assert!(longest_ms < 600.0, "the driver's second is not on the wire: {there:#}");

    record_under_load(&place, "server-stopped", address, calm, |_: &Running| stop_for_a_second(node));
    let explanation = place.json("explain server-stopped --json");
    let found = blamed(&explanation);
    assert_eq!(found.first(), Some(&"server-stall"), "{explanation:#}");
    for other in ["gc-pause", "client-stall", "safepoint"] {
        assert!(!found.contains(&other), "neither GC nor the client is blamed: {found:?}");
    }
    let share = origin(&explanation)["slow"]["in_node"]["share"].as_f64().unwrap();
    assert!(share > 0.5, "the node's second is on the wire: {share}");
}
