//! Scripts of cassandra-stress on a real Cassandra: what they print, record and log must agree with the requests that
//! were sent.
//!
//! One node serves all tests.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use helenus_cassandra::{Cluster, ClusterOptions, Lifetime, Places};
use helenus_load::Cancel;
use helenus_load::stress::{Ran, Stress, run};
use helenus_recording::{Manifest, Recorder};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

const PROFILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/profiles");

/// A run and its output.
struct Script {
    ran: Ran,
    printed: String,
    recorded: u64,
}

impl Script {
    /// A figure of the printed results, such as `Total errors`.
    fn result(&self, label: &str) -> f64 {
        let line = self.printed.lines().find(|line| line.starts_with(label)).expect(label);
        let after = line.split_once(':').unwrap().1.trim();
        after.split(' ').next().unwrap().replace(',', "").parse().unwrap()
    }

    /// A rate of one operation over the whole run, such as its `Row rate`.
    fn rate(&self, label: &str, operation: &str) -> f64 {
        let line = self.printed.lines().find(|line| line.starts_with(label)).expect(label);
        let after = line.split_once(&format!("{operation}: ")).expect(operation).1;
        after.split(' ').next().unwrap().replace(',', "").parse().unwrap()
    }

    /// The last line of the table for an operation, as its numbers.
    fn last_row(&self, kind: &str) -> Vec<f64> {
        let mut rows = self.printed.lines().filter(|line| line.starts_with(&format!("{kind},")));
        let row = rows.next_back().expect(kind).split_once(',').unwrap().1;
        row.split(',').map(|number| number.trim().parse().unwrap()).collect()
    }

    fn assert_well(&self) {
        assert!(self.ran.well, "{}\n{:?}", self.printed, self.ran.rounds);
        assert_eq!(self.result("Total errors"), 0.0);
        assert!(self.printed.ends_with("END\n"), "{}", self.printed);
    }
}

struct Bench {
    node: String,
    folder: tempfile::TempDir,
}

impl Bench {
    fn try_run(&self, line: &str) -> Result<Script, helenus_load::Error> {
        let (address, port) = self.node.rsplit_once(':').unwrap();
        // A line that ends in values of `-node` continues in the next line.
        let node = if line.ends_with("whitelist") { "" } else { "-node " };
        let line = format!("{line} {node}{address} -port native={port}");
        let stress = Stress::parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>(), None)?;
        let folder = tempfile::tempdir_in(self.folder.path()).unwrap();
        let recorder = Recorder::create(&folder.path().join("recording"), Manifest::new("test", &line)).unwrap();
        let mut printed = Vec::new();
        let ran = run(&stress, &recorder, &Cancel::new(), &mut printed, &mut |_| {})?;
        let closed = recorder.close().unwrap();
        let recorded = closed.tables.get("requests").map_or(0, |table| table.rows);
        Ok(Script { ran, printed: String::from_utf8(printed).unwrap(), recorded })
    }

    fn run(&self, line: &str) -> Script {
        self.try_run(line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn scripts_run_on_a_real_node() {
    let places = tempfile::tempdir().unwrap();
    let places = Places { cache: Places::of_user().unwrap().cache, state: places.path().join("state") };
    let mut options = ClusterOptions::new(places, "stress");
    options.heap = "512m".to_owned();
    options.first_address = Some(Ipv4Addr::new(127, 0, 32, 1));
    options.lifetime = Lifetime::Tied;
    // The optimizing compiler takes a third of what a node needs to start.
    options.jvm_options = vec!["-XX:TieredStopAtLevel=1".to_owned()];
    let cluster = Cluster::start(&options, &mut |_| {}, &helenus_cassandra::Cancel::new()).unwrap();
    let node = cluster.nodes()[0].address.to_string();
    let bench = Bench { node, folder: tempfile::tempdir().unwrap() };

    what_is_not_there_is_told(&bench);
    writes_are_printed_recorded_and_logged(&bench);
    what_was_written_is_read(&bench);
    reads_that_find_nothing_fail_as_there(&bench);
    a_schedule_has_response_times(&bench);
    counters_and_truncation(&bench);
    threads_rise(&bench);
    profiles_run(&bench);
    markers_are_named_by_the_node(&bench);
    partitions_are_written_in_visits(&bench);
    tables_are_read_by_ranges_of_tokens(&bench);
    several_profiles_run_at_once(&bench);
}

fn what_is_not_there_is_told(bench: &Bench) {
    let error = bench.try_run("read n=10 no-warmup -rate threads=1").err().unwrap().to_string();
    assert!(error.contains("operation READ cannot be prepared"), "{error}");
}

fn writes_are_printed_recorded_and_logged(bench: &Bench) {
    let hlog = bench.path("write.hlog");
    let line = format!("write n=4000 -rate threads=16 -log interval=200ms hdrfile={}", hlog.display());
    let script = bench.run(&line);
    script.assert_well();
    assert!(script.printed.contains("Warming up WRITE with 1000 iterations..."), "{}", script.printed);
    assert!(script.printed.contains("Running WRITE with 16 threads for 4000 iteration"));
    assert_eq!(script.recorded, 5000);
    assert_eq!(script.result("Total partitions"), 4000.0);
    assert!(script.result("Latency mean") <= script.result("Latency max"));
    let last = script.last_row("total");
    assert_eq!((last[0], last.len()), (4000.0, 18));
    let rate = script.result("Op rate");
    let summary = &script.ran.rounds[0].phases[0];
    assert!((rate / summary.throughput_per_s - 1.0).abs() < 0.2, "{rate} {}", summary.throughput_per_s);

    let logged = logged(&hlog);
    assert_eq!(logged.keys().collect::<Vec<_>>(), ["WRITE-st"]);
    let times = &logged["WRITE-st"];
    assert_eq!(times.len(), 4000);
    let max_ns = summary.service.max_ns.unwrap() as f64;
    assert!((times.max() as f64 / max_ns - 1.0).abs() < 2e-3, "{} {max_ns}", times.max());
    assert_eq!(counted_by_its_own_tool(&hlog, "WRITE-st"), "4000");
}

/// The counts of HistogramLogProcessor, a tool by the format's authors that comes with Cassandra.
fn counted_by_its_own_tool(hlog: &Path, tag: &str) -> String {
    let cassandra = Places::of_user().unwrap().cache.join("cassandra");
    let releases = std::fs::read_dir(cassandra).unwrap().map(|release| release.unwrap().path().join("lib"));
    let mut jars = releases.flat_map(|lib| std::fs::read_dir(lib).into_iter().flatten());
    let jar = jars.find_map(|jar| {
        let path = jar.unwrap().path();
        path.file_name()?.to_str()?.starts_with("HdrHistogram-").then_some(path)
    });
    let output = std::process::Command::new("java")
        .arg("-cp")
        .arg(jar.expect("Cassandra has the jar"))
        .args(["org.HdrHistogram.HistogramLogProcessor", "-i"])
        .arg(hlog)
        .args(["-tag", tag])
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let count = printed.lines().find_map(|line| line.split("Total count").nth(1));
    count.expect(&printed).trim_matches(|c: char| !c.is_ascii_digit()).to_string()
}

fn what_was_written_is_read(bench: &Bench) {
    let script = bench.run(
        "read n=2000 no-warmup -pop dist=UNIFORM(1..4000) -rate threads=8 \
         -mode native cql3 compression=lz4 user=cassandra password=cassandra -node whitelist",
    );
    script.assert_well();
    bench.run("read n=500 no-warmup -pop dist=~EXP(1..4000) -rate threads=8").assert_well();
    assert_eq!(script.result("Total partitions"), 2000.0);
    // Each read has found its row.
    assert!((script.result("Row rate") - script.result("Op rate")).abs() < 1.0, "{}", script.printed);
}

fn reads_that_find_nothing_fail_as_there(bench: &Bench) {
    let line = "read n=50 no-warmup -pop dist=FIXED(1b) -rate threads=2";
    let failed = bench.run(line);
    assert!(!failed.ran.well && failed.printed.ends_with("FAILURE\n"));
    assert_eq!((failed.result("Total errors"), failed.ran.empty_reads), (50.0, 50));
    assert!(bench.run(&format!("{line} -errors ignore")).ran.well);
    assert_eq!(bench.run(&format!("{line} -errors skip-read-validation")).result("Total errors"), 0.0);
}

fn a_schedule_has_response_times(bench: &Bench) {
    let hlog = bench.path("mixed.hlog");
    let script = bench.run(&format!(
        "mixed ratio(write=1,read=3) duration=2s no-warmup -pop seq=1..4000 -rate threads=32 fixed=500/s \
         -log interval=500ms hdrfile={}",
        hlog.display()
    ));
    script.assert_well();
    assert_eq!(script.recorded, 1000);
    let (reads, writes) = (script.last_row("READ")[0], script.last_row("WRITE")[0]);
    assert_eq!(reads + writes, 1000.0);
    assert!((0.6..0.9).contains(&(reads / 1000.0)), "{reads}");
    // The last requests are late on a busy machine.
    let rate = script.result("Op rate");
    assert!((100.0..510.0).contains(&rate), "{rate}");
    let logged = logged(&hlog);
    let tags: Vec<&str> = logged.keys().map(String::as_str).collect();
    assert_eq!(tags, ["READ-rt", "READ-st", "READ-wt", "WRITE-rt", "WRITE-st", "WRITE-wt"]);
    assert_eq!(logged["READ-rt"].len() + logged["WRITE-rt"].len(), 1000);
    assert!(logged["READ-rt"].max() >= logged["READ-st"].max());
}

fn counters_and_truncation(bench: &Bench) {
    bench.run("counter_write n=200 no-warmup -rate threads=4").assert_well();
    bench.run("counter_read n=200 no-warmup -pop dist=UNIFORM(1..200) -rate threads=4").assert_well();
    // The table is truncated before the 100 rows are written, so the other 100 are gone.
    bench.run("counter_write n=100 no-warmup truncate=once -rate threads=4").assert_well();
    let gone = bench.run("counter_read n=200 no-warmup -pop seq=1..200 -rate threads=4");
    assert_eq!(gone.result("Total errors"), 100.0);
    // The second half of a sequence of keys.
    bench.run("counter_write n=100 no-warmup -pop seq=101..200 -rate threads=4").assert_well();
    bench.run("counter_read n=200 no-warmup -pop seq=1..200 -rate threads=4").assert_well();
}

fn threads_rise(bench: &Bench) {
    let script = bench
        .run("read err<0.9 n>2 n<4 no-warmup -pop seq=1..4000 -rate threads>=4 threads<=16 auto -log interval=100ms");
    let threads: Vec<&str> = script.printed.lines().filter(|line| line.ends_with("threadCount")).collect();
    assert_eq!(threads, ["Running with 4 threadCount", "Running with 8 threadCount", "Running with 16 threadCount"]);
    assert_eq!(script.ran.rounds.len(), 3);
    assert!(script.printed.contains("Improvement over 4 threadCount: "));
    assert_eq!(script.printed.lines().filter(|line| line.contains("threadCount, total,")).count(), 3);
    assert!(script.ran.well);
    let once = bench.run("read duration=60s no-warmup -pop seq=1..300 no-wrap -rate threads=4");
    assert_eq!(once.recorded, 300);
}

fn profiles_run(bench: &Bench) {
    for (name, operations, rows_per_insert) in [
        // 3 to 5 values are each selected with probability 1/2, or the last one if none was selected. There are two
        // rows for each, and two partitions.
        ("sensors", "insert=2,day=1,since=1,by_sample=1", 8.29),
        ("visits", "insert=1,one=1", 1.0),
        // Each of 200 rows is selected with a probability of 1/200, or one row.
        ("articles", "insert=1,newest=1,both=1", 1.367),
        ("everything", "insert=1,piece=1", 3.0),
    ] {
        let script =
            bench.run(&format!("user profile={PROFILES}/{name}.yaml ops({operations}) n=4000 -rate threads=16"));
        script.assert_well();
        // Figures of the whole run, because the table's last line may cover only a few requests.
        let (rows, inserts) = (script.rate("Row rate", "insert"), script.rate("Op rate", "insert"));
        assert!((rows / inserts / rows_per_insert - 1.0).abs() < 0.05, "{name}: {rows} rows/s in {inserts} inserts/s");
    }
    // Conditional statements have the level of `serial-cl`.
    let articles = format!("user profile={PROFILES}/articles.yaml ops(insert=1) n=100 serial-cl=LOCAL_SERIAL");
    bench.run(&format!("{articles} no-warmup -rate threads=4")).assert_well();
    // The schema exists already. The statement TRUNCATE names its table without a keyword after which a keyspace could
    // be inserted.
    bench
        .run(&format!("user profile={PROFILES}/sensors.yaml ops(empty=1) n=1 no-warmup -rate threads=1"))
        .assert_well();
    partitions_are_counted(bench);
    // The read finds a key that was written.
    let page = format!("user profile={PROFILES}/visits.yaml");
    bench.run(&format!("{page} ops(insert=1) n=2000 no-warmup -rate threads=8")).assert_well();
    let read = bench.run(&format!("{page} ops(one=1) n=500 no-warmup -pop dist=UNIFORM(1..2k) -rate threads=8"));
    assert!((read.result("Row rate") - read.result("Op rate")).abs() < 1.0, "{}", read.printed);
}

/// `n=` and `fixed=` count partitions; each request here writes two.
fn partitions_are_counted(bench: &Bench) {
    let sensors = format!("user profile={PROFILES}/sensors.yaml ops(insert=1) no-warmup");
    let counted = bench.run(&format!("{sensors} n=501 -rate threads=4"));
    counted.assert_well();
    assert_eq!((counted.recorded, counted.result("Total partitions")), (251, 501.0));
    let fixed = bench.run(&format!("{sensors} n=400 -rate threads=16 fixed=200/s"));
    assert_eq!(fixed.ran.rounds[0].phases[0].rate_per_s, Some(100.0));
}

/// 100 partitions with ten rows each, in a keyspace and a table with names in mixed case.
fn markers_are_named_by_the_node(bench: &Bench) {
    let line = |operations: &str, n: u32| {
        format!(
            "user profile={PROFILES}/library.yaml ops({operations}) n={n} no-warmup -pop seq=1..100 -rate threads=4"
        )
    };
    let run = |operations: &str, n: u32| bench.run(&line(operations, n));
    let inserted = run("insert=1", 100);
    inserted.assert_well();
    assert!((inserted.rate("Row rate", "insert") / inserted.rate("Op rate", "insert") - 10.0).abs() < 0.1);
    // Each of them finds the row from which its values are: the item of a set, the key of a map, two columns at once.
    // The rows of a partition have the same set, because cassandra-stress seeds the second clustering column with the first
    // value of the one before.
    for (query, rows) in [("tagged", 10.0), ("lent", 1.0), ("from", 1.0), ("exact", 1.0)] {
        let read = run(&format!("{query}=1"), 100);
        read.assert_well();
        let found = read.result("Row rate") / read.result("Op rate");
        assert!((found / rows - 1.0).abs() < 0.01, "{query}: {}", read.printed);
    }
    // The last of two queries of one name.
    let found = run("find=1", 100);
    found.assert_well();
    assert!((found.result("Row rate") / found.result("Op rate") - 10.0).abs() < 0.1, "{}", found.printed);
    run("put=1,retag=1,lend=1", 300).assert_well();
    let error = bench.try_run(&line("limited=1", 5)).err().unwrap().to_string();
    assert!(error.contains("`[limit]`") && error.contains("write a number"), "{error}");
    // Without a definition the columns are those of the node's table.
    let bare = bench.path("bare.yaml");
    let text = "keyspace: LibraryStress\ntable: Books\n\
                columnspec: [{name: branch, size: fixed(12)}, {name: Shelf, cluster: fixed(10)}]\n\
                queries: {one: {cql: 'SELECT title FROM Books WHERE branch = ?'}}";
    std::fs::write(&bare, text).unwrap();
    let line = format!("user profile={} ops(one=1) n=100 no-warmup -pop seq=1..100 -rate threads=4", bare.display());
    let read = bench.run(&line);
    read.assert_well();
    // The queries above have added rows to the ten of each partition.
    assert!(read.result("Row rate") / read.result("Op rate") > 9.9, "{}", read.printed);
}

fn partitions_are_written_in_visits(bench: &Bench) {
    let profile = format!("user profile={PROFILES}/library.yaml ops(insert=1) n=250 no-warmup truncate=once");
    let line = format!("{profile} -pop seq=1..50 -insert visits=FIXED(5) revisit=UNIFORM(1..7) -rate threads=4");
    let written = bench.run(&line);
    written.assert_well();
    assert!((written.result("Row rate") / written.result("Op rate") - 2.0).abs() < 0.01, "{}", written.printed);
    assert_eq!(written.result("Total partitions"), 250.0);
}

/// The 50 partitions of ten rows that were written in visits.
fn tables_are_read_by_ranges_of_tokens(bench: &Bench) {
    let profile = format!("user profile={PROFILES}/library.yaml");
    let pages =
        bench.run(&format!("{profile} ops(all=1) n=600 no-warmup -tokenrange wrap split-factor=2 -rate threads=4"));
    pages.assert_well();
    assert_eq!(pages.recorded, 600);
    let (rows, partitions, pages_per_s) =
        (pages.result("Row rate"), pages.result("Partition rate"), pages.result("Op rate"));
    assert!(rows > 0.0 && rows / pages_per_s <= 10.0, "{}", pages.printed);
    // A partition may be counted again where a page ends within it.
    assert!((rows / partitions - 10.0).abs() < 1.0, "{}", pages.printed);
    let mixed = format!("{profile} ops(titles=1,insert=1) n=100 no-warmup -rate threads=4");
    bench.run(&mixed).assert_well();
}

fn several_profiles_run_at_once(bench: &Bench) {
    let profiles = format!("{PROFILES}/library.yaml,{PROFILES}/visits.yaml");
    let operations = "librarystress.books.insert=1,web.visits.insert=1,web.visits.one=1,find=1";
    let line = format!("user profile={profiles} ops({operations}) n=800 no-warmup -pop seq=1..100 -rate threads=4");
    let script = bench.run(&line);
    script.assert_well();
    assert!(
        script.rate("Row rate", "librarystress.books.insert") > script.rate("Op rate", "librarystress.books.insert")
    );
    let (rows, requests) = (script.rate("Row rate", "web.visits.insert"), script.rate("Op rate", "web.visits.insert"));
    assert!((rows / requests - 1.0).abs() < 0.01, "{}", script.printed);
}

/// The histograms of a log by tag, summed over the intervals.
fn logged(path: &Path) -> BTreeMap<String, Histogram<u64>> {
    use base64::Engine as _;
    let text = std::fs::read(path).unwrap();
    let mut sums: BTreeMap<String, Histogram<u64>> = BTreeMap::new();
    for entry in IntervalLogIterator::new(&text) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        let bytes = base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).unwrap();
        let times: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        let sum = sums.entry(interval.tag().unwrap().as_str().to_string());
        sum.or_insert_with(|| Histogram::new(3).unwrap()).add(times).unwrap();
    }
    sums
}
