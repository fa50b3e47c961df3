use crate::stress::Stress;

const PROFILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/profiles");

fn parse(profile: &str, rest: &str) -> Result<Stress, String> {
    let line = format!("user profile={profile} {rest}");
    let arguments: Vec<String> = line.split_whitespace().map(str::to_string).collect();
    Stress::parse(&arguments).map_err(|error| error.to_string())
}

#[test]
fn profiles_become_workloads() {
    for (name, rest) in [
        ("sensors", "ops(insert=1,day=3,since=1,by_sample=1) n=100k"),
        ("visits", "ops(insert=1,one=1) n=100k -pop dist=UNIFORM(1..5k)"),
        ("articles", "ops(articles.insert=1,newest=2,both=1) duration=1m"),
        ("everything", "ops(insert=1,piece=1) n=10k -insert partitions=fixed(1) batchtype=LOGGED"),
    ] {
        let stress = parse(&format!("{PROFILES}/{name}.yaml"), rest).unwrap();
        let text = format!("{}\n# {}", stress.workload_toml(), stress.notes().join("\n# "));
        insta::assert_snapshot!(name, text.replace(PROFILES, "PROFILES"), rest);
    }
}

#[test]
fn mistakes_have_their_line_and_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sensors.yaml");
    let good = std::fs::read_to_string(format!("{PROFILES}/sensors.yaml")).unwrap();
    let replaced = |from: &str, to: &str, rest: &str| {
        assert!(good.contains(from), "{from}");
        std::fs::write(&path, good.replacen(from, to, 1)).unwrap();
        let error = match parse(&path.display().to_string(), rest) {
            Ok(_) => "TAKEN".to_string(),
            Err(error) => error,
        };
        format!("{to} {rest}\n  {}", error.replace(&folder.path().display().to_string(), "FOLDER"))
    };
    let insert = "ops(insert=1) n=5";
    let errors = [
        replaced("keyspace: weather", "keyspaces: weather", insert),
        replaced("table: readings", "table: reading", insert),
        replaced("table_definition: |", "table_definitoin: |", insert),
        replaced("PRIMARY KEY ((station", "PRIMARY ((station", insert),
        replaced("station, indoor)", "station, outdoor)", insert),
        replaced("columnspec:", "columnspec: 5 #", insert),
        replaced("  - name: taken", "  - name: token", insert),
        replaced("    cluster: fixed(2)", "    clustering: fixed(2)", insert),
        replaced("    cluster: fixed(2)", "    cluster: two", insert),
        replaced("    probe inet", "    probe duration", insert),
        replaced("partitions: fixed(2)", "partitions: fixed(2000000)", insert),
        replaced("partitions: fixed(2)", "partition: fixed(2)", insert),
        replaced("batchtype: UNLOGGED", "batchtype: SOMETIMES", insert),
        replaced("select: fixed(1)/2", "select: fixed(3)/2", insert),
        replaced("select: fixed(1)/2", "visits: fixed(5)", insert),
        replaced("fields: samerow", "fields: somerow", insert),
        replaced("    cql: select * from readings where", "    sql: select * from readings where", insert),
        replaced("indoor = ? LIMIT 100", "door = ? LIMIT 100", "ops(day=1) n=5"),
        replaced("indoor = ? LIMIT 100", "indoor = ? LIMIT ?", "ops(day=1) n=5"),
        replaced("queries:", "token_range_queries:", "ops(day=1) n=5"),
        replaced("queries:", "queries:", "ops(dya=1) n=5"),
        replaced("queries:", "queries:", "ops(validate=1) n=5"),
        replaced("queries:", "queries: [", insert),
        replaced("queries:", "queries:", "ops(insert=1) n=5 -schema keyspace=other"),
        replaced("queries:", "queries:", "ops(insert=1) n=5 -col n=FIXED(2)"),
        replaced("queries:", "queries:", "ops(insert=1) n=5 -insert revisit=FIXED(2)"),
        replaced("population: uniform(1..50k)", "population: exp(50k..1)", insert),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}
