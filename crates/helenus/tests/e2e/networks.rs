//! Processes in a network namespace of their own, as in containers.

use crate::harness::{Place, signal_to};
use helenus_needs::{need, program, root};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn a_jvm_in_a_network_of_its_own_is_recorded_through_its_agent() {
    need!(root(), program("unshare"), program("ip"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../observe/tests/Split.java");
    let script = format!("ip link set lo up && exec java -Xmx64m -XX:TieredStopAtLevel=1 {source}");
    let mut jvm = Command::new("unshare")
        .args(["--net", "sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(jvm.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "ready");
    let place = Place::new();
    let result = place.run(&format!("record --pid {} --for 1s -o apart", jvm.id()));
    let pid = i32::try_from(jvm.id()).unwrap();
    signal_to(pid, libc::SIGSTOP);
    let unattached = place.run(&format!("record --pid {pid} --for 1s -o unattached"));
    let demanded = place.run(&format!("record --pid {pid} --requests jvm --for 1s -o demanded"));
    jvm.kill().unwrap();
    jvm.wait().unwrap();
    assert!(result.status.success(), "{}{}", result.out, result.err);
    recorded_without_the_agent(&place, &unattached.err);
    assert_eq!(demanded.status.code(), Some(2), "requests inside the JVM need the agent: {}", demanded.err);
    assert!(place.ask("apart", "select count(*) from sources where source = 'pauses'") > 0, "{}", result.err);
}

/// A process to which no agent can be attached is recorded by all other sources.
fn recorded_without_the_agent(place: &Place, warnings: &str) {
    assert!(warnings.contains("no agent: ") && warnings.contains("kill -CONT"), "{warnings}");
    assert!(place.ask("unattached", "select count(*) from cpus") > 0);
    let reason = "select count(*) from sources where source = 'agent' and lost_reason like 'no agent: %'";
    assert_eq!(place.ask("unattached", reason), 1, "{warnings}");
    assert!(place.well("recording info unattached").contains("no agent: "));
}
