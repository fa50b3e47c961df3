use super::*;
use proptest::prelude::*;

fn text(statement: &str) -> String {
    normalized(statement, false).text
}

#[test]
fn values_go_and_names_stay() {
    for (statement, expected) in [
        ("SELECT v1 FROM ks2.t3 WHERE id = 5 LIMIT 10;", "SELECT v1 FROM ks2.t3 WHERE id = ? LIMIT ?"),
        ("select 'it''s' -- it's\n from /* ' */ t // x", "select ? from t"),
        (
            "INSERT INTO \"T'1\" (a) VALUES (0xcafe, f47ac10b-58cc-4372-a567-0e02b2c3d479, $$o'x$$, '')",
            "INSERT INTO \"T'1\" (a) VALUES (?, ?, ?, ?)",
        ),
        ("UPDATE t SET a = -5, b = b - 5, c=c -5 WHERE k = 1", "UPDATE t SET a = ?, b = b - ?, c=c -? WHERE k = ?"),
        (
            "SELECT p1, px, pt FROM t WHERE d > 1h30m AND e < P1Y2M AND f = PT5M AND g = 10µs AND h = -P3D",
            "SELECT p1, px, pt FROM t WHERE d > ? AND e < ? AND f = ? AND g = ? AND h = ?",
        ),
        ("SELECT a FROM t WHERE x = P0001-02-03T04:05:06", "SELECT a FROM t WHERE x = ?"),
        (
            "SELECT a FROM t WHERE x = -NaN AND y = Infinity AND z = null AND b = true AND f = 1.5e-3",
            "SELECT a FROM t WHERE x = ? AND y = ? AND z = null AND b = ? AND f = ?",
        ),
        ("INSERT INTO t JSON '{\"a\": 1}' DEFAULT UNSET", "INSERT INTO t JSON ? DEFAULT UNSET"),
        (
            "CREATE KEYSPACE IF NOT EXISTS k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};",
            "CREATE KEYSPACE IF NOT EXISTS k WITH replication = ?",
        ),
    ] {
        assert_eq!(text(statement), expected);
    }
    let long = text(&format!("SELECT {} FROM t", vec!["x"; 5000].join(", ")));
    assert_eq!(long.chars().count(), LONGEST + 1);
}

#[test]
fn lists_and_collections_of_any_length_are_one() {
    for (statement, expected) in [
        ("SELECT * FROM t WHERE k IN (1)", "SELECT * FROM t WHERE k IN (?)"),
        ("SELECT * FROM t WHERE k IN (1, 2,3 ,-4)", "SELECT * FROM t WHERE k IN (?)"),
        ("SELECT * FROM t WHERE k in (?, ?, ?)", "SELECT * FROM t WHERE k in (?)"),
        ("SELECT * FROM t WHERE k IN ?", "SELECT * FROM t WHERE k IN ?"),
        ("SELECT * FROM t WHERE k IN(:a, :b) AND c = :d", "SELECT * FROM t WHERE k IN(?) AND c = :d"),
        ("SELECT * FROM t WHERE k IN ()", "SELECT * FROM t WHERE k IN (?)"),
        ("SELECT * FROM t WHERE (a, b) IN ((1, 'x'), (2, 'y'))", "SELECT * FROM t WHERE (a, b) IN (?)"),
        ("INSERT INTO t (a, b) VALUES (?, ?)", "INSERT INTO t (a, b) VALUES (?, ?)"),
        (
            "UPDATE t SET l = [1, 2], s = {'a'}, m = {1: 'x', 2: 'y'} WHERE k = 1",
            "UPDATE t SET l = ?, s = ?, m = ? WHERE k = ?",
        ),
        (
            "UPDATE t SET l = l + [1], l[3] = 4, m['k'] = {1: [2, 3]}, p = [1] + p, c += 1 WHERE k = 1",
            "UPDATE t SET l = l + ?, l[?] = ?, m[?] = ?, p = ? + p, c += ? WHERE k = ?",
        ),
        ("UPDATE t SET a = {P7Y: 1, P1M: 0x} WHERE k = 1", "UPDATE t SET a = ? WHERE k = ?"),
        ("UPDATE t SET l = [], m = {} WHERE k = 1", "UPDATE t SET l = ?, m = ? WHERE k = ?"),
        ("INSERT INTO t (a) VALUES ({street: 'x', zip: 5})", "INSERT INTO t (a) VALUES (?)"),
        (
            "UPDATE people SET places = [{road: 'a', code: 1}, {road: 'b', code: 2}] WHERE id = 2",
            "UPDATE people SET places = ? WHERE id = ?",
        ),
        (
            "UPDATE people SET by_name = {'x': {road: 'a', code: 1}, 'y': {road: ?, code: now()}} WHERE id = 3",
            "UPDATE people SET by_name = ? WHERE id = ?",
        ),
        ("SELECT [a, 1] FROM t", "SELECT [a, ?] FROM t"),
    ] {
        assert_eq!(text(statement), expected);
    }
}

/// Statements of Cassandra's documentation and of drivers.
#[test]
fn all_of_the_grammar_is_read() {
    for statement in [
        "SELECT JSON a, b AS c FROM ks.t WHERE token(a) > token(?) AND token(a) <= :until ALLOW FILTERING",
        "SELECT DISTINCT a, writetime(b), ttl(b), count(*), max(c), ks.f(a, b) FROM t GROUP BY a, b ORDER BY c DESC LIMIT ?",
        "SELECT json, distinct, a.b, m[?], l[?..?], CAST(a AS text), (a, b), a + b * 2 % c FROM t PER PARTITION LIMIT ?",
        "SELECT * FROM t WHERE (a, b) > (?, ?) AND c CONTAINS ? AND d CONTAINS KEY ? AND e LIKE ? AND f IS NOT NULL",
        "SELECT * FROM t WHERE a != ? AND b NOT IN (?) AND c BETWEEN ? AND ? AND m[?] = ? AND (d = ?) AND expr(i, ?)",
        "SELECT a FROM t WHERE token ( a , b ) > ? LIMIT ?",
        "SELECT a, similarity_cosine(v, ?) FROM t ORDER BY v ANN OF ? LIMIT ?",
        "SELECT a FROM t WHERE a = (int) ? AND b = (frozen<list<int>>) ? AND c = (?, ?) AND d = minTimeuuid(?) - ?",
        "INSERT INTO t (a, \"B\", timestamp) VALUES (?, :b, now()) IF NOT EXISTS USING TTL ? AND TIMESTAMP :t",
        "INSERT INTO t JSON :json DEFAULT NULL",
        "UPDATE t USING TTL ? SET a = ?, b = b + ?, c.d = ?, e = f(?) WHERE k = ? AND c IN (?) IF EXISTS",
        "UPDATE t SET a = ? WHERE k = ? IF a = ? AND b IN (?) AND c[?] != ? AND d.e >= ? AND f CONTAINS ?",
        "DELETE a, b[?], c.d FROM ks.t USING TIMESTAMP ? WHERE k = ? AND c > ? IF d = ?",
        "USE \"Ks\"",
        "TRUNCATE TABLE ks.t",
        "CREATE TABLE t (a int, b frozen<map<text, ks.u>> STATIC, v vector<float, ?>, PRIMARY KEY ((a), b)) WITH CLUSTERING ORDER BY (b DESC) AND comment = ? AND gc_grace_seconds = ? AND COMPACT STORAGE AND compaction = ?",
        "CREATE CUSTOM INDEX IF NOT EXISTS i ON t (keys(m)) USING ? WITH OPTIONS = ?",
        "CREATE MATERIALIZED VIEW v AS SELECT a, b FROM t WHERE a IS NOT NULL AND b = ? PRIMARY KEY (a, b) WITH comment = ?",
        "CREATE OR REPLACE FUNCTION f (a int, b text) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS ?",
        "CREATE AGGREGATE a (int) SFUNC f STYPE tuple<int, bigint> FINALFUNC g INITCOND ?",
        "ALTER TABLE t ADD (a int, b text)",
        "ALTER TABLE t DROP a USING TIMESTAMP ?",
        "ALTER TABLE t ALTER a MASKED WITH mask_inner(?, null)",
        "ALTER TYPE u RENAME a TO b AND c TO d",
        "ALTER KEYSPACE k WITH durable_writes = ?",
        "DROP FUNCTION IF EXISTS ks.f (int, text)",
        "DESCRIBE TABLE ks.t",
    ] {
        // The same with values has the same text.
        let values = statement.replace("MASKED WITH mask_inner(?", "MASKED WITH mask_inner(5").replace('?', "5");
        let expected = statement.replace(" * 2 ", " * ? ");
        assert_eq!(text(&values), expected);
        if !statement.starts_with("CREATE") && !statement.starts_with("ALTER") {
            assert_eq!(text(statement), expected);
        }
    }
}

#[test]
fn a_batch_is_its_first_statement() {
    for (batch, size) in [
        ("BEGIN BATCH INSERT INTO people (id, note) VALUES (4, 'a'); APPLY BATCH;", Some(1)),
        (
            "BEGIN BATCH INSERT INTO people (id, note) VALUES (5, 'a'); INSERT INTO people (id, note) VALUES (6, 'b'); APPLY BATCH",
            Some(2),
        ),
        (
            "begin unlogged batch using timestamp 5 INSERT INTO people (id, note) VALUES (5, 'a') DELETE FROM b WHERE c = 1 \
             UPDATE d SET e = [1] WHERE f = 1; apply batch",
            Some(3),
        ),
    ] {
        let expected =
            Normalized { text: "batch: INSERT INTO people (id, note) VALUES (?, ?)".into(), batch_size: size };
        assert_eq!(normalized(batch, false), expected);
        let whole = normalized(&batch[..batch.len() - 14], true);
        assert_eq!((whole.text, whole.batch_size), (expected.text, None), "{batch}");
    }
    assert_eq!(text("BEGIN BATCH INSERT INTO t (a) VALUES (Smith); APPLY BATCH"), "BEGIN …");
    assert_eq!(
        normalized("BEGIN BATCH INSERT INTO t (a) VALUES ('x', 'secr", true).text,
        "batch: INSERT INTO t (a) VALUES (?, ?…"
    );
}

/// Texts of programs that put them together from parts.
#[test]
fn only_the_keyword_is_kept_of_a_text_that_does_not_parse() {
    for statement in [
        "SELECT * FROM users WHERE name = 'O'Brien'",
        "SELECT * FROM users WHERE name = 'O'Brien' AND city = 'Dublin'",
        "SELECT * FROM users WHERE name = ‘Brien’",
        "SELECT * FROM users WHERE name = “Brien”",
        "SELECT * FROM users WHERE name = `Brien`",
        "SELECT * FROM users WHERE name = \"Brien\"",
        "SELECT * FROM users WHERE name = Brien",
        "SELECT * FROM users WHERE name = Mary Brien",
        "SELECT * FROM users WHERE name IN (Mary, Brien)",
        "SELECT * FROM users WHERE id = f47ac10b-58cc-4372-Brien",
        "SELECT * FROM users WHERE id = f47ac10b-58cc-4372",
        "SELECT * FROM users WHERE id = 550e8400-e29b",
        "SELECT * FROM users WHERE mail = brien@example.org",
        "SELECT * FROM users WHERE born = 1970-01-01 Brien",
        "SELECT * FROM users WHERE born = 12:30:Brien",
        "SELECT * FROM users WHERE id = 5brien",
        "SELECT * FROM users WHERE id = 0xbrien",
        "SELECT * FROM users WHERE name = 'Brien",
        "SELECT * FROM users WHERE note = Brien's",
        "SELECT * FROM users WHERE name = Brien; DROP TABLE x",
        "SELECT * FROM users LIMIT Brien",
        "SELECT * FROM users WHERE address = {street: Brien}",
        "SELECT * FROM users WHERE tags CONTAINS Brien",
        "SELECT * FROM users WHERE name = $Brien$",
        "SELECT * FROM users WHERE name = é",
    ] {
        assert_eq!(text(statement), "SELECT …", "{statement}");
    }
    for (statement, expected) in [
        ("INSERT INTO users (name) VALUES ('O'Brien')", "INSERT …"),
        ("INSERT INTO users (name) VALUES (Brien)", "INSERT …"),
        ("insert into users (a, b) values (1, Mary Brien)", "INSERT …"),
        ("INSERT INTO users JSON {\"name\": \"Brien\"}", "INSERT …"),
        ("UPDATE users SET name = Brien WHERE id = 1", "UPDATE …"),
        ("UPDATE users SET name = 'O'Brien' WHERE id = 1", "UPDATE …"),
        ("UPDATE users SET name = Brien + 1 WHERE id = 1", "UPDATE …"),
        ("DELETE FROM users WHERE name = Brien", "DELETE …"),
        ("DELETE FROM users WHERE name = 'Bri'en'", "DELETE …"),
        ("CREATE TABLE t (a int PRIMARY KEY) WITH comment = Brien", "CREATE TABLE …"),
        ("CREATE TABLE t (a int PRIMARY KEY) WITH comment = 'O'Brien'", "CREATE TABLE …"),
        ("ALTER TABLE t WITH comment = \"Brien\"", "ALTER TABLE …"),
        ("ALTER TABLE t WITH comment = .Brien", "ALTER TABLE …"),
        ("ALTER TABLE t WITH comment = (Brien)", "ALTER TABLE …"),
        ("ALTER TABLE t WITH comment = -Brien", "ALTER TABLE …"),
        ("CREATE ROLE brien WITH PASSWORD = 'secret' AND LOGIN = true", "CREATE ROLE …"),
        ("ALTER USER brien WITH PASSWORD secret", "ALTER USER …"),
        ("GRANT SELECT ON KEYSPACE shop TO brien", "GRANT …"),
        ("LIST ROLES OF brien", "LIST …"),
        ("ADD IDENTITY 'spiffe://brien' TO ROLE 'x'", "ADD …"),
        ("brien", UNREADABLE),
        ("'brien' SELECT", UNREADABLE),
        ("", UNREADABLE),
    ] {
        assert_eq!(text(statement), expected, "{statement}");
    }
}

#[test]
fn the_keyword_of_a_statement_is_known_without_its_values() {
    for (normalized, expected) in [
        ("SELECT a FROM brien WHERE b = ?", "SELECT …"),
        ("drop table brien", "DROP TABLE …"),
        ("batch: INSERT INTO t (brien) VALUES (?)", "batch: INSERT …"),
        ("SELECT …", "SELECT …"),
    ] {
        assert_eq!(keyword_alone(normalized), expected);
    }
}

#[test]
fn what_is_cut_off_does_not_show_the_begin_of_a_value() {
    for (statement, expected) in [
        ("INSERT INTO t (a) VALUES (f47ac10b-58cc-4372", "INSERT INTO t (a) VALUES (…"),
        ("INSERT INTO t (a) VALUES ('x', 'secr", "INSERT INTO t (a) VALUES (?, ?…"),
        ("INSERT INTO t (a) VALUES (1.5e", "INSERT INTO t (a) VALUES (…"),
        ("INSERT INTO t (a) VALUES (\"secr", "INSERT INTO t (a) VALUES (?…"),
        ("SELECT * FROM t WHERE k IN (1, 2, tr", "SELECT * FROM t WHERE k IN (?…"),
        ("UPDATE t SET l = [{a: 'x'}, {a: 'secr", "UPDATE t SET l = ?…"),
        ("INSERT INTO t (a) VALUES ('O'Brien', 'secr", "INSERT …"),
    ] {
        assert_eq!(normalized(statement, true).text, expected);
    }
}

#[test]
fn many_markers_and_deep_literals_are_read() {
    let columns = (0..60_000).map(|number| format!("c{number}")).collect::<Vec<_>>().join(", ");
    let insert = format!("INSERT INTO t ({columns}) VALUES ({})", vec!["?"; 60_000].join(", "));
    assert!(text(&insert).starts_with("INSERT INTO t (c0, c1, "));
    let relations = vec!["a = ?"; 60_000].join(" AND ");
    assert!(text(&format!("SELECT * FROM t WHERE {relations}")).starts_with("SELECT * FROM t WHERE a = ? AND a = ?"));
    let many = format!("SELECT * FROM t WHERE a IN ({})", vec!["?"; 60_000].join(","));
    assert_eq!(text(&many), "SELECT * FROM t WHERE a IN (?)");
    let deep = format!("UPDATE t SET a = {}1{} WHERE b = 1", "[".repeat(50_000), "]".repeat(50_000));
    assert_eq!(text(&deep), "UPDATE …");
}

/// A literal of any nesting and length.
fn literals() -> impl Strategy<Value = String> {
    let simple = prop_oneof![
        "'[a-z7 ]{0,8}'",
        "-?[1-9][0-9]{0,6}(\\.[0-9]{1,3})?(e-?[0-9])?",
        "0x[0-9a-f]{0,8}",
        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}",
        "-?[1-9]h[1-9]m",
        "\\$\\$[a-z' ]{0,8}\\$\\$",
        Just("true".to_string()),
        Just("P7Y".to_string()),
        Just("now()".to_string()),
        Just("?".to_string()),
    ];
    simple.prop_recursive(12, 60, 4, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..4);
        let pairs = prop::collection::vec((inner.clone(), inner.clone()), 0..4);
        prop_oneof![
            items.clone().prop_map(|items| format!("[{}]", items.join(", "))),
            items.clone().prop_map(|items| format!("{{{}}}", items.join(","))),
            pairs.clone().prop_map(|pairs| {
                let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                format!("{{{}}}", pairs.join(", "))
            }),
            prop::collection::vec(("x[a-z]{0,4}", inner.clone()), 1..4).prop_map(|fields| {
                let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}:{value}")).collect();
                format!("{{ {} }}", fields.join(" ,"))
            }),
            inner.prop_map(|item| format!("[({item}, {item}), (1)]")),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_read_in_a_bounded_length(text: String, is_cut: bool) {
        let _ = normalized(&text, is_cut);
    }

    /// Fragments that are difficult for a lexer, in any order.
    #[test]
    fn any_words_are_read(words in prop::collection::vec(prop::sample::select(vec![
        "'", "''", "\"", "$$", "$", "--", "\n", "/*", "*/", "//", "(", ")", "[", "]", "{", "}", "-", "5", "IN", ",", ":", "?",
        "P1Y", "µ", "é", "0x", "e", "f47ac10b-58cc-4372-a567-0e02b2c3d479", " ", "a", "…", "SELECT", "FROM", "WHERE", "=",
        "INSERT INTO", "VALUES", "UPDATE", "SET", "BEGIN BATCH", "APPLY BATCH", "CREATE TABLE", "CAST", "AS", "<", ">", ".",
    ]), 0..40), is_cut: bool) {
        let once = normalized(&words.concat(), is_cut).text;
        prop_assert!(once.chars().count() <= LONGEST + 1);
        let _ = normalized(&words.join(" "), is_cut);
    }

    #[test]
    fn what_is_in_quotes_is_never_shown(secret in "[a-z]{8}", before in "[ a-z'=]{0,20}", cut in 0usize..60) {
        let statement = format!("SELECT a FROM t WHERE b = {before}'{secret}Q' AND a = 1");
        let shown = text(&statement);
        prop_assert!(!shown.contains('Q'), "{}", shown);
        let shown = normalized(&statement[..cut.min(statement.len())], true).text;
        prop_assert!(!shown.contains('Q'), "{}", shown);
    }

    /// The statement has one text for all literals, without any part of them.
    #[test]
    fn literals_of_any_nesting_and_length_give_one_statement(
        values in prop::collection::vec(literals().prop_filter("it shows its name", |text| text != "now()"), 3),
    ) {
        let [a, b, c] = &values[..] else { unreachable!() };
        for (statement, expected) in [
            (format!("UPDATE t SET a = {a}, b = b + {b} WHERE k = {c}"), "UPDATE t SET a = ?, b = b + ? WHERE k = ?"),
            (format!("INSERT INTO t (a, b) VALUES ({a}, {b}) USING TTL 7"), "INSERT INTO t (a, b) VALUES (?, ?) USING TTL ?"),
            (format!("SELECT m[{a}] FROM t WHERE k IN ({b}, {c}) AND d = {a}"), "SELECT m[?] FROM t WHERE k IN (?) AND d = ?"),
            (format!("BEGIN BATCH DELETE a[{a}] FROM t WHERE k = {b}; UPDATE t SET a = {c} WHERE b = 7; APPLY BATCH"),
                "batch: DELETE a[?] FROM t WHERE k = ?"),
        ] {
            prop_assert_eq!(text(&statement), expected, "{}", statement);
        }
    }

    /// However a text is cut, and whatever is put in place of a value, nothing of the value is shown.
    #[test]
    fn a_text_in_place_of_a_value_is_not_shown(
        value in "[A-Za-z'\"’ @#$€.-]{0,6}QQ[A-Za-z'\"’ @#$€.-]{0,6}",
        cut in 0usize..90,
    ) {
        for (before, after) in [
            ("SELECT a FROM t WHERE b = ", " AND c = 1"),
            ("INSERT INTO t (a, b) VALUES (1, ", ")"),
            ("UPDATE t SET a = ", " WHERE b = 1"),
            ("DELETE FROM t WHERE a IN (", ")"),
            ("CREATE TABLE t (a int PRIMARY KEY) WITH comment = ", ""),
        ] {
            let statement = format!("{before}{value}{after}");
            let shown = text(&statement);
            prop_assert!(!shown.contains("QQ"), "{statement}: {shown}");
            if let Some(cut) = statement.get(..cut) {
                let shown = normalized(cut, true).text;
                prop_assert!(!shown.contains("QQ"), "{cut}: {shown}");
            }
        }
    }
}
