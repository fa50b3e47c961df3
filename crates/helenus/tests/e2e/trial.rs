//! A change tried on copies of a table: its output, and that nothing remains of the try whenever it is killed.

use crate::harness::{Place, Running, wait_for};
use helenus_cassandra::cql::Connection;
use helenus_lab::trial::Step;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LEVELED: &str = r#"{"class":"LeveledCompactionStrategy","sstable_size_in_mb":1}"#;
const PARTITIONS: usize = 100;
const ROWS: usize = 20;
const ROUNDS: usize = 8;

const READS: &str = r#"
description = "Reads of partitions and of rows, and one that no row of the table has the values for"
[parameters.shop]
kind = "key"
population = 100
[parameters.day]
kind = "key"
population = 7
[parameters.row]
kind = "key"
population = 20
[parameters.after]
kind = "key"
population = 100
[operations.partition]
cql = "SELECT row, value FROM churn.events WHERE shop = :shop AND day = :day"
weight = 3
[operations.row]
cql = "SELECT value FROM churn.events WHERE shop = :shop AND day = :day AND row = :row"
[operations.page]
cql = "SELECT shop FROM churn.events WHERE token(shop, day) > :after LIMIT 1"
"#;

/// A node with a table whose rows were written and deleted again and again, each round in an SSTable of its own.
struct Churned {
    place: Place,
    node: String,
    cql: RefCell<Connection>,
}

impl Churned {
    fn new() -> Churned {
        let place = Place::new();
        place.well(&format!("up --name churned --heap 512m --data {}", place.path("node").display()));
        let address = place.json("ps --json")[0]["nodes"][0]["address"].as_str().unwrap().to_string();
        let cql = Connection::open(address.parse().unwrap(), Duration::from_secs(30), None).unwrap();
        let node = address.trim_end_matches(":9042").to_string();
        let churned = Churned { place, node, cql: RefCell::new(cql) };
        churned.write();
        churned
    }

    fn query(&self, statement: &str) {
        self.cql.borrow_mut().query(statement).unwrap();
    }

    fn write(&self) {
        let run = |statement: &str| self.query(statement);
        run("CREATE KEYSPACE churn WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        run("CREATE TYPE churn.note (at timestamp, text text)");
        // Cassandra's schema.cql of a snapshot leaves out types within collections and tuples.
        run("CREATE TYPE churn.\"Part\" (n int, \"In Use\" frozen<map<text, frozen<note>>>)");
        run("CREATE TYPE churn.whole (parts frozen<list<frozen<\"Part\">>>)");
        run("CREATE TABLE churn.events (shop int, day int, row int, value text, old int, note frozen<note>, \
             pair frozen<tuple<int, frozen<whole>>>, wholes list<frozen<whole>>, \
             PRIMARY KEY ((shop, day), row)) \
             WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': '30'}");
        run("ALTER TABLE churn.events DROP old");
        for round in 0..ROUNDS {
            for partition in 0..PARTITIONS {
                let of = format!("{partition}, {}", partition % 7);
                let row = |row: usize| match (row + round) % 2 {
                    0 => format!(
                        "INSERT INTO churn.events (shop, day, row, value, pair) VALUES ({of}, {row}, '{:0300}', \
                         (1, {{parts: [{{n: 2, \"In Use\": {{'a': {{text: 'b'}}}}}}]}}))",
                        row * round
                    ),
                    _ => format!(
                        "DELETE FROM churn.events WHERE shop = {partition} AND day = {} AND row = {row}",
                        partition % 7
                    ),
                };
                let rows: Vec<String> = (0..ROWS).map(row).collect();
                self.query(&format!("BEGIN UNLOGGED BATCH {}; APPLY BATCH", rows.join("; ")));
            }
            if round > 0 {
                run("DROP INDEX churn.by_value");
            }
            self.flush_by_an_index();
            assert_eq!(self.sstables(), round + 1);
        }
    }

    /// Building an index begins with a flush of its table, which no timer does as reliably.
    fn flush_by_an_index(&self) {
        self.query("CREATE INDEX by_value ON churn.events (value)");
        let built = "SELECT index_name FROM system.\"IndexInfo\" WHERE table_name = 'churn'";
        wait_for("an index", || !self.cql.borrow_mut().query(built).unwrap().rows.is_empty());
    }

    fn sstables(&self) -> usize {
        self.files().keys().filter(|path| path.to_string_lossy().ends_with("-Data.db")).count()
    }

    fn folder(&self) -> PathBuf {
        let keyspace = self.place.path("node/node1/data/data/churn");
        let folders = std::fs::read_dir(keyspace).unwrap().map(|folder| folder.unwrap().path());
        folders.into_iter().find(|folder| folder.to_string_lossy().contains("/events-")).unwrap()
    }

    /// Files of the table on the node: inode, time and bytes of each.
    fn files(&self) -> BTreeMap<PathBuf, (u64, i64, Vec<u8>)> {
        let files = std::fs::read_dir(self.folder()).unwrap().map(|file| file.unwrap().path());
        // A file that a flush is renaming does not exist yet.
        let whole = |path: PathBuf| {
            let facts = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
            let bytes = std::fs::read(&path).ok()?;
            Some((path, (facts.ino(), facts.mtime_nsec(), bytes)))
        };
        files.filter_map(whole).collect()
    }

    fn try_it(&self, more: &str) -> String {
        format!("try --node {} --table churn.events --heap 512m --json {more}", self.node)
    }

    fn refused(&self, arguments: &str, says: &[&str]) {
        let result = self.place.run(arguments);
        assert_eq!(result.status.code(), Some(2), "{arguments}: {}{}", result.out, result.err);
        for text in says {
            assert!(result.err.contains(text), "{arguments} does not say {text:?}: {}", result.err);
        }
        self.nothing_is_left();
    }

    fn journal(&self) -> Vec<Value> {
        let files = std::fs::read_dir(self.place.path("state/helenus/tries")).into_iter().flatten();
        let paths =
            files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "json"));
        paths.filter_map(|path| serde_json::from_slice(&std::fs::read(path).ok()?).ok()).collect()
    }

    /// Nodes take longer to start on a busy machine. A step of milliseconds may be over before it is seen.
    fn wait_for_step(&self, step: Step, running: &mut Running) {
        let until = Instant::now() + Duration::from_secs(400);
        let step_of = |entry: &Value| serde_json::from_value::<Step>(entry["step"].clone()).unwrap();
        while !self.journal().iter().any(|entry| step_of(entry) >= step) {
            assert!(Instant::now() < until, "waited in vain for {step:?}");
            assert!(running.is_running(), "ended before {step:?}");
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// No snapshot, no folder, no node, no logs and no entry of a try.
    fn nothing_is_left(&self) {
        let names = |folder: &Path| -> Vec<String> {
            let entries = std::fs::read_dir(folder).into_iter().flatten();
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
        };
        let snapshots = names(&self.folder().join("snapshots"));
        assert!(snapshots.is_empty(), "{snapshots:?}");
        let beside = names(&self.place.path("node/node1/data"));
        assert!(!beside.iter().any(|name| name.contains("helenus-try")), "{beside:?}");
        assert_eq!(names(&self.place.path("state/helenus/logs")), ["churned"]);
        assert!(names(&self.place.path("state/helenus/tries")).is_empty());
        let clusters = self.place.json("ps --json");
        assert_eq!(clusters.as_array().unwrap().len(), 1, "{clusters}");
    }
}

#[test]
fn a_try_shows_what_a_change_is_worth_and_leaves_the_node_alone() {
    let churned = &Churned::new();
    let (files, sstables) = (churned.files(), churned.sstables());

    let shown = churned.place.json(&churned.try_it(&format!("--compaction {LEVELED} --gc-grace 1s --blocks 6")));
    churned.nothing_is_left();
    assert!(churned.files() == files, "not a file of the node's is another than before");
    let outcome = &shown["outcome"];
    assert_eq!(outcome["sstables"], sstables);
    assert_eq!(outcome["copied_bytes"], 0, "the files were linked");
    let [now, leveled] = outcome["variants"].as_array().unwrap().as_slice() else { panic!("{shown}") };
    assert_eq!((&now["sstables"], &now["compacted_bytes"]), (&json!(sstables), &json!(0)), "{shown}");
    assert_eq!((&now["settled"], &leveled["settled"]), (&json!(true), &json!(true)));
    let of =
        |variant: &Value, figure: &str| variant[figure].as_f64().unwrap_or_else(|| panic!("no {figure}: {variant}"));
    assert!(of(leveled, "sstables") < of(now, "sstables"));
    assert!(of(leveled, "live_disk_bytes") < of(now, "live_disk_bytes") * 0.5);
    assert!(of(leveled, "compacted_bytes") > 0.0);
    assert_eq!(now["cql"], Value::Null);
    assert!(leveled["cql"].as_str().unwrap().contains("gc_grace_seconds = 1"));
    let metrics = shown["reads"]["variants"][0]["metrics"].as_array().unwrap();
    let ratio = |name: &str| metrics.iter().find(|metric| metric["name"] == name).unwrap();
    let (met, tombstones) = (ratio("sstables_per_read"), ratio("tombstones_per_slice"));
    assert!(of(met, "baseline") > 4.0 && of(met, "variant") < 1.5, "{met}");
    assert!(of(tombstones, "baseline") > 4.0 && of(tombstones, "variant") < 1.5, "{tombstones}");
    assert_eq!((&met["verdict"], &tombstones["verdict"]), (&json!("better"), &json!("better")));
    assert!(of(met, "high") < 0.5, "{met}");
    // A partition may have lost all its rows.
    let partitions = usize::try_from(outcome["reads"]["partitions"].as_u64().unwrap()).unwrap();
    assert!((PARTITIONS * 9 / 10..=PARTITIONS).contains(&partitions), "{partitions}");
    assert!(outcome["remarks"].to_string().contains("index"), "{outcome}");

    what_is_wrong_is_refused(churned);
    // Half of the token range has about half of the table, and is read by the recorded statements.
    std::fs::write(churned.place.path("reads.toml"), READS).unwrap();
    churned.place.well(&format!("load reads.toml --node {} --rate 200 --for 2s -o reads.helenus", churned.node));
    let half = churned.place.json(&churned.try_it("--gc-grace 1s --sample 50% --replay reads.helenus --blocks 1"));
    churned.nothing_is_left();
    assert!(churned.files() == files);
    // Of such small SSTables most bytes are of files that grow little with the number of partitions.
    let sampled = half["outcome"]["sampled"].as_f64().unwrap();
    assert!((0.1..1.0).contains(&sampled), "{sampled}");
    let now = &half["outcome"]["variants"][0];
    assert_eq!(now["sstables"], ROUNDS, "each SSTable has its part");
    let partitions = half["outcome"]["reads"]["partitions"].as_u64().unwrap() as f64 / PARTITIONS as f64;
    assert!((0.25..0.75).contains(&partitions), "{partitions}");
    let replayed = half["outcome"]["reads"]["statements"].as_array().unwrap();
    let texts: Vec<&str> = replayed.iter().map(|statement| statement["text"].as_str().unwrap()).collect();
    assert!(texts.len() == 2 && texts.iter().all(|text| text.contains(r#"FROM "churn"."events" WHERE"#)), "{texts:?}");
    let left_out = half["outcome"]["reads"]["left_out"].to_string();
    assert!(left_out.contains("no value for") && left_out.contains("token(shop, day) > :after"), "{left_out}");
}

fn what_is_wrong_is_refused(churned: &Churned) {
    let leveled = churned.try_it(&format!("--compaction {LEVELED}"));
    churned.refused(&leveled.replace("churn.events", "churn.event"), &["churn.event", "did you mean churn.events"]);
    churned.refused(&leveled.replace("churn.events", "events"), &["KEYSPACE.TABLE"]);
    churned.refused(&churned.try_it(""), &["say what is to be tried"]);
    churned.refused(&leveled.replace(&churned.node, "127.0.31.9"), &["nobody listens"]);
    churned.refused(&leveled.replace("--heap 512m", "--heap 90000g"), &["of memory", "smaller --heap"]);
    churned.refused(&leveled.replace("LeveledCompaction", "LevelledCompaction"), &["LevelledCompactionStrategy"]);
}

#[test]
fn wherever_it_is_killed_the_rest_is_cleaned_up() {
    let churned = Churned::new();
    let files = churned.files();
    for step in [Step::Begin, Step::Snapshot, Step::Link, Step::Clear, Step::Start, Step::Trim] {
        let sample = if step == Step::Trim { "--sample 50%" } else { "" };
        let mut running = churned.place.start(&churned.try_it(&format!("--compaction {LEVELED} {sample}")));
        churned.wait_for_step(step, &mut running);
        running.signal(libc::SIGKILL);
        running.end();
        assert_eq!(churned.journal().len(), 1, "killed at {step:?}");
        if step == Step::Link {
            let warned =
                churned.place.run(&churned.try_it("--gc-grace 1s").replace("--heap 512m", "--heap 90000g")).err;
            assert!(warned.contains("was cut off") && warned.contains("try --clean"), "{warned}");
        }
        churned.place.well("try --clean");
        churned.nothing_is_left();
        assert!(churned.files() == files, "killed at {step:?}");
    }
    // A running try is not cleaned up, and reports that the table was altered meanwhile.
    let mut running = churned.place.start(&churned.try_it("--gc-grace 1s --blocks 1"));
    churned.wait_for_step(Step::Settle, &mut running);
    churned.query("ALTER TABLE churn.events WITH comment = 'altered'");
    assert_eq!(churned.place.json("try --clean --json"), json!([]));
    let result = running.end();
    assert!(result.status.success(), "{}", result.err);
    assert!(result.out.contains("was changed") && result.out.contains("since the snapshot"), "{}", result.out);
    churned.nothing_is_left();
    let mut running = churned.place.start(&churned.try_it("--gc-grace 1s"));
    churned.wait_for_step(Step::Start, &mut running);
    running.signal(libc::SIGINT);
    let result = running.end();
    assert!(result.status.code() == Some(2) && result.err.contains("cut short"), "{}", result.err);
    churned.nothing_is_left();
    // The snapshot of a node that has ended is found without it.
    let mut running = churned.place.start(&churned.try_it("--gc-grace 1s"));
    churned.wait_for_step(Step::Read, &mut running);
    running.signal(libc::SIGKILL);
    running.end();
    let snapshot = format!("helenus-try-{}", churned.journal()[0]["id"].as_str().unwrap());
    let snapshot = churned.folder().join("snapshots").join(snapshot);
    std::fs::create_dir_all(&snapshot).unwrap();
    std::fs::write(snapshot.join("schema.cql"), "").unwrap();
    churned.place.well("down churned");
    churned.place.well("try --clean");
    assert!(!snapshot.exists() && churned.journal().is_empty());
    assert_eq!(churned.place.json("ps --json"), json!([]));
}
