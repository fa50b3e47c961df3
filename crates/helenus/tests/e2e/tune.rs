//! Settings of one node: changed, killed halfway, altered by others, and restored.

use crate::harness::{Place, signal_to, wait_for};
use helenus_cassandra::cql::Connection;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

const LEVELED: &str = r#"{"class":"LeveledCompactionStrategy","sstable_size_in_mb":8}"#;

/// A node with a table, and the output of helenus about it.
struct Tuned {
    place: Place,
    node: String,
}

impl Tuned {
    fn apply(&self) -> String {
        format!("tune apply --node {} --table helenus.keyvalue --compaction {LEVELED}", self.node)
    }

    fn status(&self) -> Value {
        self.place.json("tune status --json")
    }

    fn state(&self) -> String {
        self.status()[0]["state"].as_str().unwrap_or("nothing").to_string()
    }

    fn undo(&self) -> Value {
        self.place.json("tune undo --all --json")
    }

    fn refused(&self, arguments: &str, says: &[&str]) {
        let result = self.place.run(arguments);
        assert_eq!(result.status.code(), Some(2), "{arguments}: {}{}", result.out, result.err);
        for text in says {
            assert!(result.err.contains(text), "{arguments} does not say {text:?}: {}", result.err);
        }
    }

    fn cql(&self, statement: &str) {
        let address = format!("{}:9042", self.node).parse().unwrap();
        Connection::open(address, Duration::from_secs(30), None).unwrap().query(statement).unwrap();
    }

    fn journal(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.place.path("state/helenus/tunings"));
        let files = files.into_iter().flatten().map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
    }
}

#[test]
fn whatever_ends_it_the_node_gets_back_what_it_had() {
    let place = Place::new();
    place.well("up --name tune --heap 512m");
    let listed = place.json("ps --json");
    let node = listed[0]["nodes"][0]["address"].as_str().unwrap().trim_end_matches(":9042").to_string();
    place.well(&format!("load keyvalue --node {node} --populate --population 1k -o populate.helenus"));
    let pid = i32::try_from(listed[0]["nodes"][0]["pid"].as_i64().unwrap()).unwrap();
    let tuned = Tuned { place, node };

    let before = changed_and_put_back(&tuned);
    what_is_wrong_is_refused(&tuned);
    killed_at_any_moment(&tuned, &before);
    a_lease_needs_nobody(&tuned, &before);
    what_others_have_set_stays(&tuned);

    a_lease_can_begin_anew(&tuned);
    a_node_that_ends_while_it_is_compared(&tuned, pid);
}

/// Changes the table and undoes it. Returns the table's original compaction parameters.
fn changed_and_put_back(tuned: &Tuned) -> Value {
    let made = &tuned.place.json(&format!("{} --json", tuned.apply()))[0];
    assert_eq!(made["set"]["sstable_size_in_mb"], "8");
    assert!(made["set"]["class"].as_str().unwrap().ends_with(".LeveledCompactionStrategy"), "{made}");
    let before = made["before"].clone();
    assert_ne!(before, made["set"]);
    assert_eq!(tuned.state(), "applied");
    tuned.refused(&tuned.apply(), &["tuned already", "tune undo"]);
    // Without the journal's entry, the agent in the node reports the change, and the change can be undone.
    let journal = tuned.journal().remove(0);
    let kept = std::fs::read(&journal).unwrap();
    std::fs::remove_file(&journal).unwrap();
    let status = tuned.place.json(&format!("tune status --node {} --json", tuned.node));
    assert_eq!((&status[0]["state"], &status[0]["before"]), (&json!("applied"), &before), "{status}");
    std::fs::write(&journal, kept).unwrap();
    let undone = tuned.undo();
    assert_eq!((&undone[0]["outcome"], &undone[0]["now"]), (&json!("undone"), &before));
    assert_eq!(tuned.undo(), json!([]));

    limits_of_requests(tuned);

    let both = format!("tune apply --node {} --compaction-throughput 8 --concurrent-compactors 1 --json", tuned.node);
    let made = tuned.place.json(&both);
    assert_eq!((&made[0]["set"], &made[1]["set"]), (&json!(8), &json!(1)), "{made}");
    let undone = tuned.undo();
    assert_eq!((&undone[0]["now"], &undone[1]["now"]), (&made[1]["before"], &made[0]["before"]));
    before
}

/// Cassandra's own: that of requests a second does hold requests back, and what was not in force is put back, too.
fn limits_of_requests(tuned: &Tuned) {
    let apply =
        format!("tune apply --node {} --requests-per-second 50 --concurrent-request-bytes 5000000000", tuned.node);
    let made = tuned.place.json(&format!("{apply} --json"));
    let (bytes, rate) = (&made[0], &made[1]);
    assert_eq!(bytes["set"], 5_000_000_000_u64, "{made}");
    assert_eq!(rate["set"], json!({"enabled": "true", "per_second": "50"}));
    assert_eq!(rate["before"]["enabled"], "false");
    let read = |recording: &str| -> f64 {
        let load = format!("load keyvalue/read --node {} --in-flight 8 --for 4s -o {recording} --json", tuned.node);
        let phase = &tuned.place.json(&load)["phases"][0];
        assert_eq!(phase["failed"], 0, "they wait, and are not refused: {phase}");
        phase["throughput_per_s"].as_f64().unwrap()
    };
    let limited_per_s = read("limited.helenus");
    let undone = tuned.undo();
    assert_eq!((&undone[0]["now"], &undone[1]["now"]), (&rate["before"], &bytes["before"]));
    // The server slows each connection down, so that several together get more than the rate.
    let free_per_s = read("free.helenus");
    assert!(limited_per_s * 2.0 < free_per_s, "{limited_per_s}/s, and {free_per_s}/s without");
}

fn what_is_wrong_is_refused(tuned: &Tuned) {
    let apply = tuned.apply();
    tuned.refused(&apply.replace("keyvalue", "keyvalues"), &["helenus.keyvalues", "did you mean helenus.keyvalue"]);
    tuned.refused(&apply.replace("LeveledCompaction", "LevelledCompaction"), &["LevelledCompactionStrategy"]);
    tuned.refused(&apply.replace("sstable_size_in_mb\":8", "sstable_size_in_mb\":0"), &["sstable_size_in_mb"]);
    tuned.refused(&apply.replace('"', "'"), &["no JSON", "double quotes"]);
    tuned.refused(&apply.replace(&tuned.node, "127.0.31.9"), &["nobody listens"]);
    tuned.refused(&format!("tune apply --node {} --threads reed=4", tuned.node), &["reed-threads", "read-threads"]);
    tuned.refused("tune undo --table helenus.keyvalue", &["tune status"]);
    // The second of two fails, and the first is put back.
    tuned.refused(&format!("{apply} --threads read=0"), &["read-threads"]);
    assert_eq!(tuned.status(), json!([]), "what was refused leaves nothing behind");
    let keep = tuned.place.well(&format!("tune cql --table helenus.keyvalue --compaction {LEVELED} --gc-grace 1h"));
    assert_eq!(
        keep.trim(),
        "ALTER TABLE helenus.keyvalue WITH compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': '8'} \
         AND gc_grace_seconds = 3600;"
    );
}

fn killed_at_any_moment(tuned: &Tuned, before: &Value) {
    for after_ms in [0, 1, 3, 6, 10, 20, 50, 200] {
        let apply = tuned.place.start(&tuned.apply());
        wait_for("the journal", || !tuned.journal().is_empty());
        std::thread::sleep(Duration::from_millis(after_ms));
        apply.signal(libc::SIGKILL);
        apply.end();
        let state = tuned.state();
        assert!(["applied", "not-made"].contains(&state.as_str()), "killed after {after_ms} ms: {state}");
        // Killed while the change is undone: the next undo completes it.
        let undo = tuned.place.start("tune undo --all");
        std::thread::sleep(Duration::from_millis(100 * after_ms.min(10)));
        undo.signal(libc::SIGKILL);
        undo.end();
        tuned.undo();
        assert_eq!(tuned.status(), json!([]));
    }
    // Killed between the change on the node and the second write of the journal.
    let made = tuned.place.json(&format!("{} --json", tuned.apply()));
    assert_eq!(&made[0]["before"], before, "no kill has left anything");
    let journal = tuned.journal().remove(0);
    let mut entry: Value = serde_json::from_slice(&std::fs::read(&journal).unwrap()).unwrap();
    entry["set"] = Value::Null;
    std::fs::write(&journal, entry.to_string()).unwrap();
    assert_eq!(tuned.state(), "applied");
    assert_eq!(tuned.undo()[0]["outcome"], "undone");
    // Killed before the change: the node never had it.
    std::fs::write(&journal, entry.to_string()).unwrap();
    assert_eq!(tuned.state(), "not-made");
    assert_eq!(tuned.undo()[0]["outcome"], "gone");
}

fn a_lease_needs_nobody(tuned: &Tuned, before: &Value) {
    tuned.place.well(&format!("{} --lease 3s", tuned.apply()));
    wait_for("the end of the lease", || tuned.state() == "undone");
    assert_eq!(tuned.status()[0]["by_lease"], true);
    let undone = tuned.undo();
    assert_eq!((&undone[0]["outcome"], &undone[0]["now"]), (&json!("gone"), before));
}

fn what_others_have_set_stays(tuned: &Tuned) {
    let alter = |class: &str| tuned.cql(&format!("ALTER TABLE helenus.keyvalue WITH compaction = {{{class}}}"));
    tuned.place.well(&tuned.apply());
    // Altering another option of the table does not count.
    tuned.cql("ALTER TABLE helenus.keyvalue WITH gc_grace_seconds = 864001");
    assert_eq!(tuned.state(), "applied");
    alter("'class': 'UnifiedCompactionStrategy'");
    wait_for("the schema", || tuned.state() == "altered");
    let altered = tuned.status();
    assert_eq!(altered[0]["in_schema"], true);
    let undone = tuned.undo();
    assert_eq!((&undone[0]["outcome"], &undone[0]["now"]), (&json!("altered"), &altered[0]["now"]));
    // The tried setting has become the table's own in the schema; putting the old one back would undo that.
    tuned.place.well(&tuned.apply());
    alter("'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': '8'");
    wait_for("the schema", || tuned.state() == "altered");
    assert_eq!(tuned.undo()[0]["outcome"], "altered");
    alter("'class': 'SizeTieredCompactionStrategy'");
    tuned.place.well(&tuned.apply());
    tuned.cql("DROP TABLE helenus.keyvalue");
    assert_eq!(tuned.undo()[0]["outcome"], "dropped");
    tuned.cql("CREATE TABLE helenus.keyvalue (key bigint PRIMARY KEY, value blob)");
}

fn a_lease_can_begin_anew(tuned: &Tuned) {
    tuned.place.well(&format!("{} --lease 8s", tuned.apply()));
    let renew = format!("tune renew --node {} --lease", tuned.node);
    let renewed = tuned.place.json(&format!("{renew} 1h --json"));
    assert_eq!(renewed[0]["lease_ms"], 3_600_000, "{renewed}");
    std::thread::sleep(Duration::from_secs(8));
    let status = tuned.status();
    assert_eq!(status[0]["state"], "applied", "the first lease is over: {status}");
    assert!(status[0]["left_ms"].as_u64().unwrap() > 3_500_000, "{status}");
    // A renewed lease may be shorter.
    tuned.place.well(&format!("{renew} 1s"));
    wait_for("the end of the lease", || tuned.state() == "undone");
    assert_eq!(tuned.status()[0]["by_lease"], true);
    tuned.refused(&format!("{renew} 1h"), &["not in force any more", "its lease has ended"]);
    tuned.undo();
    tuned.refused(&format!("{renew} 1h"), &["nothing of that is tuned"]);
}

/// Killed while it is watched: an error reports it, the journal shows what is left, and can be cleared.
fn a_node_that_ends_while_it_is_compared(tuned: &Tuned, pid: i32) {
    let apply = tuned.place.start(&format!("{} --compare --window 1s --for 1m", tuned.apply()));
    let is_set = |path: &PathBuf| {
        let entry: Option<Value> = std::fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        entry.is_some_and(|entry| !entry["set"].is_null())
    };
    wait_for("the change", || tuned.journal().iter().any(is_set));
    signal_to(pid, libc::SIGKILL);
    let result = apply.end();
    assert_eq!(result.status.code(), Some(2), "{}{}", result.out, result.err);
    for text in ["changed, and not compared to the end", "tune status", "has ended, and all that was set on it with it"]
    {
        assert!(result.err.contains(text), "{text:?} is not in {}", result.err);
    }
    assert_eq!(tuned.state(), "restarted");
    tuned.refused(&format!("tune renew --node {} --lease 1h", tuned.node), &["the process of the node has ended"]);
    tuned.refused(&tuned.apply(), &["nobody listens"]);
    assert_eq!(tuned.undo()[0]["outcome"], "restarted");
    assert_eq!(tuned.status(), json!([]));
    // Best effort: the rest of the cluster is removed with the place.
    let _ = tuned.place.run("down tune");
}
