use crate::stress::Stress;

const PROFILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/profiles");

fn parse(profile: &str, rest: &str) -> Result<Stress, String> {
    let line = format!("user profile={profile} {rest}");
    let arguments: Vec<String> = line.split_whitespace().map(str::to_string).collect();
    Stress::parse(&arguments, None).map_err(|error| error.to_string())
}

#[test]
fn profiles_become_workloads() {
    for (name, rest) in [
        ("sensors", "ops(insert=1,day=3,since=1,by_sample=1) n=100k"),
        ("visits", "ops(insert=1,one=1) n=100k -pop dist=UNIFORM(1..5k)"),
        ("articles", "ops(articles.insert=1,newest=2,both=1) duration=1m"),
        ("everything", "ops(insert=1,piece=1) n=10k -insert partitions=fixed(1) batchtype=LOGGED"),
        ("library", "ops(insert=1,put=2,lent=1,find=1,all=1) n=1k -insert visits=FIXED(5) -tokenrange split-factor=4"),
    ] {
        let stress = parse(&format!("{PROFILES}/{name}.yaml"), rest).unwrap();
        let text = format!("{}\n# {}", stress.workload_toml(), stress.notes().join("\n# "));
        insta::assert_snapshot!(name, text.replace(PROFILES, "PROFILES"), rest);
    }
}

#[test]
fn several_profiles_become_one_workload() {
    let profiles = format!("{PROFILES}/articles.yaml,{PROFILES}/visits.yaml");
    let stress =
        parse(&profiles, "ops(insert=1,newest=1,web.visits.insert=2) n=100k serial-cl=LOCAL_SERIAL cl=QUORUM").unwrap();
    insta::assert_snapshot!("several", stress.workload_toml().replace(PROFILES, "PROFILES"));
    let wrong = |ops: &str, profiles: &str| {
        parse(profiles, &format!("ops({ops}) n=5")).err().unwrap().replace(PROFILES, "PROFILES")
    };
    assert!(
        wrong("wev.visits.insert=1", &profiles).contains("`web.visits`"),
        "{}",
        wrong("wev.visits.insert=1", &profiles)
    );
    let twice = wrong("insert=1", &format!("{PROFILES}/visits.yaml,{PROFILES}/visits.yaml"));
    assert!(twice.contains("specname"), "{twice}");
}

/// A profile with these lines for its names and definitions.
fn named(keyspace: &str, keyspace_definition: &str, table: &str, table_definition: &str) -> String {
    format!(
        "keyspace: {keyspace}\nkeyspace_definition: {keyspace_definition} WITH replication = {{'class':'x'}}\n\
         table: {table}\ntable_definition: {table_definition} (Id text PRIMARY KEY, \"Owner\" text)\n\
         columnspec: [{{name: ID, size: fixed(5)}}, {{name: Owner, size: fixed(6)}}]\n\
         queries: {{one: {{cql: 'SELECT * FROM Accounts WHERE Id = ?'}}}}"
    )
}

#[test]
fn names_without_quotes_are_in_lower_case() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    let read = |text: String| {
        std::fs::write(&path, text).unwrap();
        parse(&path.display().to_string(), "ops(insert=1,one=1) n=5")
            .map(|stress| (stress.workload_toml(), stress.notes.clone()))
    };
    let (plain, notes) =
        read(named("Load_A", "CREATE KEYSPACE LOAD_A", "Accounts", "CREATE TABLE Load_A.Accounts")).unwrap();
    assert!(plain.contains("UPDATE load_a.accounts SET \"Owner\" = ? WHERE id = ?"), "{plain}");
    assert!(plain.contains("SELECT * FROM load_a.Accounts WHERE Id = ?"), "{plain}");
    assert!(plain.contains("name = \"id\"") && plain.contains("size = \"FIXED(5)\""), "{plain}");
    assert!(plain.contains("name = \"Owner\"") && plain.contains("size = \"FIXED(6)\""), "{plain}");
    assert!(notes.iter().any(|note| note.contains("`ID` is for the column id")), "{notes:?}");
    // A name without quotes also means a quoted one of the definition, because cassandra-stress takes it.
    let (quoted, _) =
        read(named("Load_A", "CREATE KEYSPACE \"Load_A\"", "Accounts", "CREATE TABLE \"Accounts\"")).unwrap();
    assert!(quoted.contains("UPDATE \"Load_A\".\"Accounts\" SET"), "{quoted}");
    let (quoted, _) =
        read(named("'\"Load_A\"'", "CREATE KEYSPACE \"Load_A\"", "'\"Accounts\"'", "CREATE TABLE \"Accounts\""))
            .unwrap();
    assert!(quoted.contains("UPDATE \"Load_A\".\"Accounts\" SET"), "{quoted}");

    // A reserved word is a name in quotes, also in statements that helenus writes.
    let (reserved, _) = read(named("k", "CREATE KEYSPACE k", "'\"entries\"'", "CREATE TABLE \"entries\"")).unwrap();
    assert!(reserved.contains("UPDATE k.\"entries\" SET"), "{reserved}");

    let error = |text: String| read(text).unwrap_err();
    let two = error(named("load_a", "CREATE KEYSPACE load_a", "accounts", "CREATE TABLE bank.accounts"));
    assert!(two.contains("bank.accounts") && two.contains("load_a.accounts"), "{two}");
    let two = error(named("load_a", "CREATE KEYSPACE \"Load_B\"", "accounts", "CREATE TABLE accounts"));
    assert!(two.contains("\"Load_B\"") && two.contains("load_a"), "{two}");
    let other = error(named("load_a", "CREATE KEYSPACE load_a", "accounts", "CREATE TABLE \"Accounts\""));
    assert!(other.contains("load_a.\"Accounts\"") && other.contains("load_a.accounts"), "{other}");
}

#[test]
fn of_two_entries_with_one_name_the_last_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    let text = named("k", "CREATE KEYSPACE k", "accounts", "CREATE TABLE accounts");
    std::fs::write(&path, format!("{text}\nqueries:\n  one: {{cql: SELECT 1}}\n  One: {{cql: SELECT 2}}\n")).unwrap();
    let stress = parse(&path.display().to_string(), "ops(one=1) n=5").unwrap();
    assert!(stress.workload_toml().contains("cql = \"SELECT 2\""), "{}", stress.workload_toml());
    let notes: Vec<&String> = stress.notes.iter().filter(|note| note.contains("twice")).collect();
    assert!(notes[0].contains("`queries.one` twice, in line 8 and line 9"), "{notes:?}");
    assert!(notes[1].contains("`queries` twice, in line 6 and line 7"), "{notes:?}");
}

#[test]
fn hostile_profiles_end_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    let error = |text: &str| {
        std::fs::write(&path, text).unwrap();
        parse(&path.display().to_string(), "ops(insert=1) n=5").err().unwrap()
    };
    let good = std::fs::read_to_string(format!("{PROFILES}/visits.yaml")).unwrap();
    let deep = |open: &str, close: &str| format!("queries: {}{}", open.repeat(50_000), close.repeat(50_000));
    for text in [deep("[", "]"), deep("{a: ", "}"), deep("{[", ""), format!("{good}\nx: {}", "[".repeat(50_000))] {
        assert!(error(&text).contains("deep"), "{}", error(&text));
    }
    // Each level twice as large as the one before.
    let bomb: String = (1..60).map(|level| format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1)).collect();
    assert!(error(&format!("a0: &a0 [x, x]\n{bomb}")).contains("aliases"));
    assert!(error(&"#\n".repeat(3 << 20)).contains("more than 4 MiB"));
    let long = |bytes: usize| error(&format!("{good}\n{}: 5\n", "k".repeat(bytes)));
    assert!(long(1000).contains("unknown key") && long(1000).len() < 500, "{}", long(1000));
    assert!(long(1 << 20).len() < 500, "{}", long(1 << 20));
    let columns = (0..20_000).map(|column| format!("c{column} int, ")).collect::<String>();
    let wide = good.replace("page text primary key", &format!("{columns}page text primary key"));
    std::fs::write(&path, wide).unwrap();
    assert!(parse(&path.display().to_string(), "ops(insert=1) n=5").is_ok());
    assert!(error(&good.replace("size: uniform(1..4)", "size: fixed(2b)")).contains("`size` is at most"));
    for text in ["", "- a", "5", "keyspace: {}", "? [a]\n: b\n", "--- a\n--- b\n", "\t", "a: b: c", "a: &x\nb: *x"] {
        assert!(error(text).contains("p.yaml"), "{text}: {}", error(text));
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
        replaced("    probe inet", "    probe set<inet>", insert),
        replaced("partitions: fixed(2)", "partitions: fixed(2000000)", insert),
        replaced("partitions: fixed(2)", "partition: fixed(2)", insert),
        replaced("batchtype: UNLOGGED", "batchtype: SOMETIMES", insert),
        replaced("select: fixed(1)/2", "select: fixed(3)/2", insert),
        replaced("select: fixed(1)/2", "revisit: uniform(1..1b)", insert),
        replaced("fields: samerow", "fields: somerow", insert),
        replaced("    cql: select * from readings where", "    sql: select * from readings where", insert),
        replaced("fields: samerow", "serialConsistencyLevel: QUORUM", insert),
        replaced("queries:", "token_range_queries:", "ops(day=1) n=5"),
        replaced("queries:", "queries:", "ops(dya=1) n=5"),
        replaced("queries:", "queries:", "ops(validate=1) n=5"),
        replaced("queries:", "queries: [", insert),
        replaced("queries:", "queries:", "ops(insert=1) n=5 -schema keyspace=other"),
        replaced("queries:", "queries:", "ops(insert=1) n=5 -col n=FIXED(2)"),
        replaced("queries:", "queries:", "ops(insert=1) n=5 -insert revisit=UNIFORM(-5..2)"),
        replaced("population: uniform(1..50k)", "population: exp(50k..1)", insert),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}
