//! Processes in a network namespace of their own, as in containers.

use crate::harness::Place;
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
    jvm.kill().unwrap();
    jvm.wait().unwrap();
    assert!(result.status.success(), "{}{}", result.out, result.err);
    assert!(place.ask("apart", "select count(*) from sources where source = 'pauses'") > 0, "{}", result.err);
}
