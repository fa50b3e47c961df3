//! Compares rows with those of cassandra-stress. Its generators (packages `generate` and `generate.values`, built on the
//! jars of Cassandra 5.0.9, run on OpenJDK 17) printed the expected values for these columns and seeds. The tests need
//! neither of them.

use super::*;
use std::collections::{HashMap, HashSet};

/// Columns as `name type role population size cluster`, with `-` for a default.
fn column(text: &str) -> Column {
    let words: Vec<&str> = text.split(' ').collect();
    let given = |place: usize| match words[place] {
        "-" => None,
        text => Some(Distribution::parse(text).unwrap()),
    };
    let value_type = value::VALUE_TYPES.iter().find(|(name, _)| *name == words[1]).unwrap().1;
    let role = match words[2] {
        "partition" => Role::Partition,
        "clustering" => Role::Clustering,
        _ => Role::Regular,
    };
    let salt = match value_type {
        ValueType::Hex => format!("randomstr{}", words[0]),
        _ => format!("seed for stress{}", words[0]),
    };
    let given = Given { population: given(3), size: given(4), cluster: given(5) };
    Column::new(words[0], role, value_type, &salt, given)
}

fn rows(seeds: i64, columns: &[&str]) -> Rows {
    Rows::new(Seeds::Sequence { from: 1, to: seeds }, columns.iter().map(|text| column(text)).collect())
}

fn made(rows: &Rows, select: &str) -> Vec<Row> {
    let Seeds::Sequence { from, to } = rows.seeds else { panic!("{:?}", rows.seeds) };
    let insert = Insert { select: Ratio::parse(select).unwrap(), ..Insert::default() };
    rows.inserted(&insert, 0..(to - from + 1) as u64, Visit::default(), 1, &mut Draw::new(1, 1, 1))
}

fn hex(row: &Row) -> String {
    let cell = |value: &Value| value.cell.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    row.iter().map(cell).collect::<Vec<_>>().join(" ")
}

#[test]
fn rows_of_standard1_are_those_of_cassandra_stress() {
    let mut columns = vec![column("key hex partition - fixed(10) -")];
    for (name, size) in [("C0", "fixed(34)"), ("C1", "gaussian(20..200)")] {
        let given = Given { size: Some(Distribution::parse(size).unwrap()), ..Given::default() };
        columns.push(Column::new(name, Role::Regular, ValueType::Blob, &format!("randomstr{name}"), given));
    }
    let rows = Rows::new(Seeds::Sequence { from: 1, to: 2 }, columns);
    let shown: Vec<String> = made(&rows, "fixed(1)/1").iter().map(hex).collect();
    assert_eq!(
        shown,
        [
            "30503337373039503231 85182fdfe7f86306cd58ce81aa53cca24c193841d6ae8a91646a4c304dd9f47892f9 \
             1f5c9f8c30a62ce4815e936de814514ea33ed4d85fa33f90222d58a5a0a49b38d2fe40c2f703591d1aa0094b456a3006ddcd465a4b67ab\
             9e596b549c91bf605e25062e5d1e57123deecff7576cee7248f851d255e0f9ae64f2c84cd305ded71847b205eadcc6dfa3ace232e659b3\
             c864250a0ba53d1382423514780552537e7edbc9e8a3",
            "4f384c4b37394c4f3631 b8e05320cd1037d6e317cce868ca7f9e679cf764169e9d0b3f5b2c0ffc3cb50dd5c4 \
             440b1bdefbc9932ec91daa7fbe985e951fd425c9ab069c4d9a398b1444984097f7c1ab64196fa52fe12ba41462762989b1f498ebe1d68e\
             a5d0b99ab398a343564d583ac5ac97bcd1c2015d73f748f71e60296e8e1e8d2c33f929d840d3fa84778e19d1cda1297638bb91e25946a4\
             a6ac2e6159fe3ca0a86155",
        ]
    );
}

#[test]
fn values_of_each_type_are_those_of_cassandra_stress() {
    let rows = rows(
        3,
        &[
            "a text partition uniform(1..50) uniform(4..12) -",
            "b int partition seq(1..1000) - -",
            "t timestamp clustering uniform(1600000000000..1700000000000) - uniform(1..3)",
            "u tinyint clustering - - fixed(2)",
            "d double regular gaussian(0..10) - -",
            "f float regular exp(1..100) - -",
            "l bigint regular extr(1..1000,0.6) - -",
            "n int regular uniform(-100..100) - -",
            "vi varint regular ~exp(-5..300) - -",
            "de decimal regular uniform(-300..300) - -",
            "s smallint regular uniform(1000..2000) - -",
            "bo boolean regular - - -",
            "id uuid regular - - -",
            "tu timeuuid regular - - -",
            "ip inet regular - - -",
            // In cassandra-stress's driver, dates count from the middle of the range and not from 0.
            "da date regular uniform(1..20000) - -",
            "ti time regular - - -",
            "fx bigint regular fixed(7) - -",
        ],
    );
    let shown: Vec<String> = made(&rows, "fixed(1)/1").iter().map(hex).collect();
    assert_eq!(
        shown,
        [
            "1760686a633754043e26 0000014b 00000184609057ef a6 401357cfdfd9c5f1 41fa6025 0000000000000125 00000044 12 \
             0000000000e7 058e 01 0000000c11f0ed120000000c11f0ed12 5d67e4b0dbe811c173728c66fcbc0664 cd4cfebb 800008a7 \
             00000014f4c7f1f3 0000000000000007",
            "1760686a633754043e26 0000014b 00000184609057ef 0e 4012b24387c92f8e 4210ab49 0000000000000115 00000042 4b \
             0000000000df 0584 01 0000000bc0c7fea10000000bc0c7fea1 a63ccfc0761111c273728c66fcbc0664 8d3a269f 80000962 \
             00000014b4b519d7 0000000000000007",
            "1760686a633754043e26 0000014a 000001845de4ddb7 f6 40144ff8dd0819ca 3ff67ac7 0000000000000026 ffffffcc 0129 \
             000000000100 0637 01 0000000992cc93e20000000992cc93e2 5e90eba066c311d673728c66fcbc0664 781464df 8000071d \
             000000058beb896b 0000000000000007",
            "1760686a633754043e26 0000014a 000001845de4ddb7 a4 4024000000000000 41a55134 0000000000000028 ffffffce 012c \
             0000000000fc 0633 01 000000096703f762000000096703f762 62872650fd6b11d573728c66fcbc0664 5f84a80b 80000691 \
             00000005b5916266 0000000000000007",
            "1760686a633754043e26 00000149 000001845d5c32a8 e5 401724ed5f2c6b20 425e057a 000000000000010b ffffffbd 00bf \
             0000000000ba 0787 01 00000003b3916c6d00000003b3916c6d 50ea6140b55011bc73728c66fcbc0664 8e15a1c5 80001a10 \
             00000002a713eaca 0000000000000007",
            "1760686a633754043e26 00000149 000001845d5c32a8 6f 40190f957a448434 426709cf 00000000000000f9 ffffffbb 00b9 \
             0000000000b4 0779 01 00000003748ff61400000003748ff614 704011f07b2711bd73728c66fcbc0664 3bdb5192 80001b0f \
             0000000256fc5e1b 0000000000000007",
        ]
    );
}

/// The expected numbers of partitions and rows, written rows, and bytes outside of the partition key.
fn sums(seeds: i64, select: &str, columns: &[&str]) -> [u64; 4] {
    let rows = rows(seeds, columns);
    let (mut partitions, mut distinct) = (HashSet::new(), HashSet::new());
    let (mut written, mut bytes) = (0, 0);
    for row in made(&rows, select) {
        written += 1;
        bytes += row[rows.clustering.start..].iter().map(|value| value.cell.len() as u64).sum::<u64>();
        partitions.insert(row[..rows.clustering.start].to_vec());
        distinct.insert(row[..rows.clustering.end].to_vec());
    }
    [partitions.len() as u64, distinct.len() as u64, written, bytes]
}

#[test]
fn partitions_and_rows_are_as_many_as_with_cassandra_stress() {
    let one = ["k bigint partition uniform(1..20000) - -", "v text regular - uniform(10..90) -"];
    assert_eq!(sums(20_000, "fixed(1)/1", &one), [11_876, 11_876, 20_000, 996_804]);
    // Each column of the key has a population and a size of its own.
    let composite = [
        "a text partition uniform(1..100) uniform(4..12) -",
        "b int partition gaussian(1..1000) - -",
        "d double regular gaussian(0..10) - -",
        "n int regular uniform(-100..100) - -",
        "t timestamp regular uniform(1600000000000..1700000000000) - -",
    ];
    assert_eq!(sums(5000, "fixed(1)/1", &composite), [4198, 4198, 5000, 100_000]);
    let nested = [
        "k int partition seq(1..2000) - -",
        "t timestamp clustering - - uniform(1..20)",
        "u int clustering uniform(1..10) - gaussian(1..9)",
        "v blob regular - exp(10..200) -",
    ];
    assert_eq!(sums(3000, "fixed(1)/1", &nested), [2000, 87_893, 129_829, 11_498_594]);
}

#[test]
fn a_share_of_the_rows_is_as_large_as_with_cassandra_stress() {
    // cassandra-stress selects rows at random, too.
    let close = |found: [u64; 4], known: [u64; 4]| {
        let near = found.iter().zip(known).all(|(found, known)| (*found as f64 / known as f64 - 1.0).abs() < 0.01);
        assert!(near, "{found:?} {known:?}");
    };
    let quarter =
        ["k bigint partition - - -", "t timestamp clustering - - uniform(1..20)", "v blob regular - fixed(20) -"];
    close(sums(20_000, "fixed(1)/4", &quarter), [20_000, 55_554, 55_554, 1_555_512]);
}

/// `PartitionIterator` of cassandra-stress rolls for each value of the first clustering column with the chance of a single
/// row, because `reset` sets the factor for the rows below it to 1. A value that is chosen brings all rows below it. So
/// `fixed(1)/100` over 10 × 10 rows writes ten rows, or a multiple of ten, and never a single one. Of the ten values
/// 10 · 0.01 are chosen in the mean. With a chance of 0.99^10 none is chosen, and the last one is taken.
#[test]
fn a_share_of_nested_rows_is_chosen_by_their_first_column_as_in_cassandra_stress() {
    let nested =
        rows(5000, &["k bigint partition - - -", "a int clustering - - fixed(10)", "b int clustering - - fixed(10)"]);
    let mut of_partition: HashMap<Vec<u8>, Vec<Row>> = HashMap::new();
    for row in made(&nested, "fixed(1)/100") {
        of_partition.entry(row[0].cell.clone()).or_default().push(row);
    }
    assert_eq!(of_partition.len(), 5000);
    let firsts = |rows: &[Row]| rows.iter().map(|row| row[1].cell.clone()).collect::<HashSet<_>>().len();
    assert!(of_partition.values().all(|rows| rows.len() == 10 * firsts(rows)));
    let mean = of_partition.values().map(Vec::len).sum::<usize>() as f64 / 5000.0;
    let expected = 10.0 * (0.99f64.powi(10) + 10.0 * 0.01);
    assert!((mean / expected - 1.0).abs() < 0.02, "{mean} {expected}");
}

#[test]
fn visits_write_each_row_once() {
    for (columns, of) in [
        (vec!["k int partition - - -", "t int clustering - - fixed(7)", "v int regular - - -"], 3),
        (vec!["k int partition - - -", "t int clustering - - fixed(4)", "u int clustering - - uniform(1..9)"], 5),
        (vec!["k int partition - - -", "t int clustering - - fixed(4)"], 4),
    ] {
        let rows = rows(20, &columns);
        let insert = Insert::default();
        for place in 0..20 {
            let visit = |visit| rows.inserted(&insert, place..place + 1, visit, 1, &mut Draw::new(1, place, 1));
            let all: HashSet<Row> = visit(Visit::default()).into_iter().collect();
            let parts: Vec<Vec<Row>> = (0..of).map(|index| visit(Visit { index, of })).collect();
            let expected = rows.expected(place, 1);
            // Each visit writes, also beyond the end of a partition with fewer rows than expected.
            assert!(parts.iter().all(|part| !part.is_empty()));
            assert!(parts[..1].iter().all(|part| part.len() as u64 == (expected / of).max(1)), "{expected}");
            assert_eq!(parts.concat().into_iter().collect::<HashSet<Row>>(), all);
            if all.len() as u64 >= expected {
                assert_eq!(parts.concat().len(), all.len());
            }
        }
    }
}

#[test]
fn what_does_not_fit_into_memory_is_refused() {
    let check = |text: &str| rows(5, &["k int partition - - -", text, "c int clustering - - fixed(5)"]).check();
    assert!(check("a text regular - fixed(1b) -").unwrap_err().contains("size"));
    assert!(check("a int clustering - - uniform(1..10m)").unwrap_err().contains("cluster"));
    assert_eq!(check("a int clustering - - uniform(1..9m)"), Ok(()));
    assert!(check("a compound clustering - - -").unwrap_err().contains("primary key"));
    // A number has no size.
    assert_eq!(check("a int regular - seq(0..1b) -"), Ok(()));
    let endless = Insert { revisit: Distribution::uniform(1, 1_000_000_000), ..Insert::default() };
    assert!(endless.check().unwrap_err().contains("revisit"));
}

#[test]
fn a_query_asks_for_what_was_inserted() {
    let rows = rows(50, &["k int partition - - -", "t timestamp clustering - - uniform(1..9)", "v int regular - - -"]);
    let written: HashSet<Row> = made(&rows, "fixed(1)/1").into_iter().collect();
    for place in 0..50 {
        let draw = |number| Draw::new(2, number, 3);
        let row = rows.queried(Fields::SameRow, &[0, 1, 2], (place, 2), &mut draw(place));
        assert!(written.contains(&row), "{}", hex(&row));
        // Each value is of some row of the partition.
        let row = rows.queried(Fields::MultiRow, &[0, 1], (place, 2), &mut draw(place));
        assert!(written.iter().any(|known| known[..2] == row[..2]));
    }
}

#[test]
fn rows_come_back_from_their_text() {
    let rows = rows(
        7,
        &["k text partition uniform(1..9) exp(4..8) -", "c uuid clustering - - fixed(3)", "v int regular - - -"],
    );
    let text = rows.to_string();
    let document = helenus_notation::Document::parse("rows.toml", &text).unwrap();
    let read = super::read(document.root().section("rows").unwrap().unwrap()).unwrap();
    assert_eq!(read, rows);
}
