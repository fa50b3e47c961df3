use super::*;

fn parse(line: &str) -> Result<Stress, Error> {
    Stress::parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>(), None)
}

/// The meaning of a command line, without its workload.
fn meaning(stress: &Stress) -> String {
    let Stress { command, rate, target, log, failures, most_partitions, notes, draft, .. } = stress;
    format!(
        "{command:?}\n{rate:?}\n{target:?}\n{log:?}\n{failures:?}\n{:?} at most {most_partitions:?}\nnotes: {}",
        draft.tables[0].seeds,
        if notes.is_empty() { "none".to_string() } else { notes.join("\n       ") }
    )
}

/// Command lines from real scripts.
const SCRIPTS: [(&str, &str); 15] = [
    ("write", "write n=1000000 -rate threads=50 -node 10.0.0.1,10.0.0.2"),
    ("defaults", "write n=1M"),
    (
        "read",
        "read n=200k cl=QUORUM no-warmup -pop dist=UNIFORM(1..1M) -rate threads=16 throttle=500/s -log interval=5",
    ),
    ("mixed", "mixed ratio(write=1,read=3) duration=5m -rate threads=32 fixed=2000/s -pop seq=1..10M -errors ignore"),
    ("narrow", "read n=5 -pop dist=gaussian(1..1000,500,10)"),
    ("skewed", "read n=5 -pop dist=~EXP(1..1000)"),
    ("stepped", "write n=5 -pop dist=qextr(1..1000,2,10) -col size=gaussian(20..200)"),
    ("mixed_spaced", "mixed ratio (write = 1, read = 3) n=500k -pop dist=gaussian(1..500k) -rate threads<=64 auto"),
    (
        "schema",
        "write n=10m cl=LOCAL_QUORUM truncate=always \
         -schema replication(strategy=NetworkTopologyStrategy,dc1=3,dc2=2) keyspace=Load \
         compaction(strategy=LeveledCompactionStrategy,sstable_size_in_mb=64) compression=LZ4Compressor \
         -col n=FIXED(3) size=UNIFORM(10..100) -mode native cql3 user=u password=p compression=lz4 connectionsPerHost=4",
    ),
    ("counters", "counter_write n=100k add=FIXED(2) -schema replication(factor=3) -rate threads=8"),
    ("counters_read", "counter_read n=100k -rate threads=8 -col slice"),
    ("several_clients", "write n=5M -pop seq=5000001..10000000 -rate threads=100 -port native=9043 -node n1,n2:9044"),
    (
        "until_steady",
        "read err<0.05 n>10 n<40 -rate threads>=8 threads<=32 -log file=a.log hdrfile=a.hlog level=verbose",
    ),
    ("once_through", "write duration=10m -pop seq=1..2M no-wrap -rate threads=20 -graph file=a.html title=run"),
    ("old", "insert n=20k -col names=a,b,c -mode cql3 native prepared protocolVersion=3 maxPending=64 -port jmx=7199"),
];

#[test]
fn lines_of_scripts_are_taken() {
    for (name, line) in SCRIPTS {
        insta::assert_snapshot!(format!("line_{name}"), meaning(&parse(line).unwrap()), line);
    }
}

#[test]
fn lines_become_workloads() {
    for (name, line) in SCRIPTS.iter().filter(|(name, _)| ["defaults", "mixed", "schema", "counters"].contains(name)) {
        insta::assert_snapshot!(format!("workload_{name}"), parse(line).unwrap().workload_toml(), line);
    }
}

#[test]
fn what_is_not_taken_is_refused_by_name() {
    let lines = [
        "",
        "-rate threads=5",
        "wirte n=5",
        "print dist=UNIFORM(1..5)",
        "multi_get n=5",
        "write n=many",
        "write n=0",
        "write n=5 duration=5s",
        "write n=5 n=6",
        "write duration=5",
        "write n=5 err<0.1",
        "write n=5 cl=LOCAL",
        "write n=5 serial-cl=QUORUM",
        "write n=5 truncate=sometimes",
        "write n=5 tries=3",
        "write n=5 coffee=black",
        "write n=5 no-warmpu",
        "write n=5 -rate threads=0",
        "write n=5 -rate threads=5 auto",
        "write n=5 -rate fixed=100/s",
        "write n=5 -rate threads=5 fixed=100",
        "write n=5 -rate threads=5 fixed=1/s throttle=1/s",
        "write n=5 -rate threads>=9 threads<=5",
        "write n=5 -pop seq=5..1",
        "write n=5 -pop seq=1..5 dist=UNIFORM(1..5)",
        "write n=5 -pop seq=1..5 read-lookback=UNIFORM(1..5)",
        "read n=5 -pop dist=zipf(1..1000)",
        "write n=5 -col n=UNIFORM(1..5)",
        "write n=5 -col super=2",
        "write n=5 -schema replication(factor)",
        "write n=5 -schema compaction(x=y)",
        "write n=5 -schema replication(factor=3",
        "write n=5 -mode thrift",
        "write n=5 -mode unprepared",
        "write n=5 -mode user=me",
        "write n=5 -node file=/nowhere/nodes",
        "write n=5 -port thrift=9160",
        "write n=5 -insert visits=FIXED(5)",
        "write n=5 -transport truststore=a.jks truststore-password=x",
        "write n=5 -sendto 10.0.0.9",
        "write n=5 -tokenrange wrap",
        "user n=5 profile=a.yaml ops(insert=1) -tokenrange split=2",
        "write n=5 -sample",
        "write n=5 -jmx user=me",
        "write n=5 -rates threads=5",
        "write n=5 -rate threads=5 -rate threads=6",
        "write n=5 -graph revision=one",
        "write n=5 -log interval=0",
        "counter_write n=5 add=UNIFORM(1..5)",
        "mixed n=5 ratio(write=1,raed=3)",
        "mixed n=5 ratio(write=0)",
        "mixed n=5 ratio(write=1",
        "user n=5",
        "user n=5 profile=a.yaml",
        "user n=5 profile=/nowhere/a.yaml ops(insert=1)",
        "user n=5 profile=/nowhere/a.yaml,/nowhere/b.yaml ops(insert=1)",
        "user n=5 profile=a.yaml,https://example.org/b.yaml ops(insert=1)",
    ];
    let messages: Vec<String> = lines
        .iter()
        .map(|line| match parse(line) {
            Ok(taken) => format!("{line}\n  TAKEN as {taken:?}"),
            Err(error) => format!("{line}\n  {error}"),
        })
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn passwords_are_not_kept() {
    let kept = without_password(&["-mode".to_string(), "user=u password=secret".to_string(), "Password=x".to_string()]);
    assert_eq!(kept, ["-mode", "user=u password=…", "Password=…"]);
}
