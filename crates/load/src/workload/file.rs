//! Reads a workload from its file.

use super::distribution::Distribution;
use super::verification;
use super::{Consistency, Generator, Mix, Operation, Parameter, Populate, SerialConsistency, Workload};
use super::{markers, operation, parameter};
use crate::rows::Rows;
use helenus_notation::{Count, Document, Error, Section, did_you_mean};
use helenus_recording::LoadFacts;

const CONSISTENCIES: [(&str, Consistency); 11] = [
    ("ANY", Consistency::Any),
    ("ONE", Consistency::One),
    ("TWO", Consistency::Two),
    ("THREE", Consistency::Three),
    ("QUORUM", Consistency::Quorum),
    ("ALL", Consistency::All),
    ("LOCAL_QUORUM", Consistency::LocalQuorum),
    ("EACH_QUORUM", Consistency::EachQuorum),
    ("LOCAL_ONE", Consistency::LocalOne),
    ("SERIAL", Consistency::Serial),
    ("LOCAL_SERIAL", Consistency::LocalSerial),
];

pub(super) fn read(name: &str, file: &str, text: &str) -> Result<Workload, Error> {
    let document = Document::parse(file, text)?;
    let mut root = document.root();
    let description = root.optional("description")?.unwrap_or_default();
    let consistency = self::consistency(&mut root)?.unwrap_or(Consistency::LocalOne);
    let seed = root.optional::<i64>("seed")?.unwrap_or(1) as u64;
    let replication_factor = root.optional::<Count>("replication_factor")?.map_or(1, |count| count.0);
    let keyspace = root.optional("keyspace")?;
    let schema = root.optional("schema")?.unwrap_or_default();
    let parameters = match root.section("parameters")? {
        None => Vec::new(),
        Some(section) => {
            let each = |(name, section): (&str, Section<'_>)| parameter::read(name, section);
            section.named_sections()?.into_iter().map(each).collect::<Result<Vec<Parameter>, Error>>()?
        }
    };
    let tables = tables(&mut root)?;
    // An unknown top-level key is often a misspelt required key, so it is reported first.
    let operations = root.section("operations")?;
    let mixes = root.section("mixes")?;
    let populate = root.section("populate")?;
    let verify = root.section("verify")?;
    let nowhere = root.error("a workload has at least one operation: [operations.NAME] with its `cql`");
    root.finish()?;

    let mut weights = Vec::new();
    let mut read_operations = Vec::new();
    for (name, section) in operations.map(Section::named_sections).transpose()?.unwrap_or_default() {
        let (operation, weight) = operation::read(name, section, &parameters, &tables)?;
        weights.push((read_operations.len(), weight));
        read_operations.push(operation);
    }
    if read_operations.is_empty() {
        return Err(nowhere);
    }
    let names: Vec<&str> = read_operations.iter().map(|operation| operation.name.as_str()).collect();
    let mixes = match mixes {
        None => Vec::new(),
        Some(section) => section
            .named_sections()?
            .into_iter()
            .map(|(name, section)| Ok((name.to_string(), read_mix(section, &names)?)))
            .collect::<Result<_, Error>>()?,
    };
    let mix = Mix::new(&weights).ok_or_else(|| Error::at_line(file, 1, "no operation has a `weight` above 0"))?;
    let populate = populate.map(|section| read_populate(section, &names, &parameters, &read_operations)).transpose()?;
    let verify = verify.map(|section| verification::read(section, &read_operations, populate)).transpose()?;
    Ok(Workload {
        name: name.to_string(),
        origin: LoadFacts { workload: name.to_string(), text: text.to_string(), ..LoadFacts::default() },
        description,
        consistency,
        seed,
        replication_factor,
        keyspace,
        schema,
        parameters,
        tables: tables.into_iter().map(|(_, rows)| std::sync::Arc::new(rows)).collect(),
        operations: read_operations,
        mixes,
        mix,
        populate,
        verify,
    })
}

/// Reads the generated rows: `[rows]` of one table, or `[tables.NAME]` of each.
fn tables(root: &mut Section<'_>) -> Result<Vec<(String, Rows)>, Error> {
    let rows = root.section("rows")?;
    match (rows, root.section("tables")?) {
        (Some(_), Some(tables)) => Err(tables.error("has the rows of each table; leave out [rows], or [tables.NAME]")),
        (None, None) => Ok(Vec::new()),
        (Some(rows), None) => Ok(vec![(String::new(), crate::rows::read(rows)?)]),
        (None, Some(tables)) => {
            let each = |(name, section): (&str, Section<'_>)| Ok((name.to_string(), crate::rows::read(section)?));
            tables.named_sections()?.into_iter().map(each).collect()
        }
    }
}

pub(super) fn consistency(section: &mut Section<'_>) -> Result<Option<Consistency>, Error> {
    let names = CONSISTENCIES.map(|(name, _)| name);
    Ok(section.choice("consistency", &names)?.map(|position| CONSISTENCIES[position].1))
}

pub(super) fn serial_consistency(section: &mut Section<'_>) -> Result<Option<SerialConsistency>, Error> {
    let chosen = section.choice("serial_consistency", &["SERIAL", "LOCAL_SERIAL"])?;
    Ok(chosen.map(|position| [SerialConsistency::Serial, SerialConsistency::LocalSerial][position]))
}

fn read_mix(section: Section<'_>, operations: &[&str]) -> Result<Mix, Error> {
    let mut weights = Vec::new();
    for (name, weight) in section.named_values::<f64>()? {
        let Some(position) = operations.iter().position(|operation| *operation == name) else {
            let meant = did_you_mean(name, operations.iter().copied());
            let message = format!("there is no operation `{name}`{meant} (there are {})", operations.join(", "));
            return Err(section.error_at(name, message));
        };
        weights.push((position, weight));
    }
    Mix::new(&weights).ok_or_else(|| section.error("weights are 0 or more, and at least one of them is more"))
}

fn read_populate(
    mut section: Section<'_>,
    names: &[&str],
    parameters: &[Parameter],
    operations: &[Operation],
) -> Result<Populate, Error> {
    let operation = section.choice("operation", names)?;
    let Some(operation) = operation else {
        return Err(section.error("[populate] says which `operation` writes the rows"));
    };
    let count = match section.optional::<Count>("count")? {
        Some(count) => count.0,
        None => default_count(parameters, &operations[operation])
            .ok_or_else(|| section.error("[populate] needs a `count`: its operation has no key to count"))?,
    };
    let in_flight = section.optional::<Count>("in_flight")?.map_or(128, |count| count.0.min(100_000) as u32);
    section.finish()?;
    Ok(Populate { operation, count, in_flight })
}

/// The number of requests that writes each combination of the keys once.
pub(super) fn default_count(parameters: &[Parameter], operation: &Operation) -> Option<u64> {
    let markers = markers::markers(&operation.cql).unwrap_or_default();
    let own = parameters.iter().filter(|parameter| markers.contains(&parameter.name));
    let populations = own.filter_map(|parameter| match parameter.generator {
        Generator::Key { distribution: Distribution::Fixed { .. }, .. } => None,
        Generator::Key { population, .. } => Some(population),
        _ => None,
    });
    let rows = populations.fold(None, |product: Option<u64>, next| Some(product.unwrap_or(1).saturating_mul(next)));
    rows.map(|rows| rows.div_ceil(operation.rows()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
description = "one"
consistency = "QUORUM"
schema = ["CREATE TABLE t"]
[parameters.key]
kind = "key"
population = 10
distribution = "zipf"
exponent = 1.1
[parameters.value]
kind = "value"
min_bytes = 10
max_bytes = "1KiB"
content = "text"
[operations.write]
cql = "INSERT INTO t (k, v) VALUES (:key, :value)"
weight = 2
[operations.read]
cql = "SELECT v FROM t WHERE k = :key"
consistency = "ONE"
[mixes.half]
read = 1
write = 1
[populate]
operation = "write"
"#;

    const RICH: &str = r#"
[parameters.partition]
kind = "key"
population = 100
distribution = "latest"
[parameters.row]
kind = "key"
population = 30
distribution = "hotspot"
hot_keys = 0.1
scale = false
[parameters.size]
kind = "value"
min_bytes = 10
max_bytes = 100
sizes = "gaussian"
mean = 30
compression_ratio = 0.4
[parameters.tags]
kind = "value"
size_bytes = 8
content = "json"
items = 3
[parameters.ttl]
kind = "integer"
min = 60
max = 3600
[operations.fill]
cql = "INSERT INTO t (p, r, s, g) VALUES (:partition, :row, :size, :tags) USING TTL :ttl"
batch = 40
batch_type = "logged"
batch_by = ["partition"]
[operations.claim]
cql = "INSERT INTO t (p, r) VALUES (:partition, :row) IF NOT EXISTS"
serial_consistency = "LOCAL_SERIAL"
[operations.pages]
cql = "SELECT s AS size, g FROM t WHERE p = :partition"
page_size = 500
[populate]
operation = "fill"
[verify]
operation = "pages"
columns = { size = "size", g = "tags" }
"#;

    #[test]
    fn everything_that_there_is_is_read() {
        let mut workload = read("rich", "rich.toml", RICH).unwrap();
        insta::assert_debug_snapshot!((
            &workload.parameters,
            &workload.operations,
            workload.populate,
            &workload.verify
        ));
        // The number of rows per partition stays the same, and a batch of 40 rows is one request.
        workload.set_population(7);
        assert_eq!(workload.populate.map(|populate| populate.count), Some(6));
    }

    #[test]
    fn a_whole_file_is_read() {
        let workload = read("one", "one.toml", GOOD).unwrap();
        insta::assert_debug_snapshot!(workload);
    }

    #[test]
    fn each_mistake_has_its_line_and_a_way_out() {
        let replace = |from: &str, to: &str| {
            assert!(GOOD.contains(from), "{from}");
            read("one", "one.toml", &GOOD.replacen(from, to, 1)).unwrap_err().to_string()
        };
        let errors = [
            replace("description", "desciption"),
            replace("consistency = \"QUORUM\"", "consistency = \"QUORM\""),
            replace("[parameters.key]", "[parameter.key]"),
            replace("kind = \"key\"", "kind = \"keys\""),
            replace("kind = \"key\"\n", ""),
            replace("population = 10", "populaton = 10"),
            replace("population = 10", "population = \"many\""),
            replace("population = 10", "population = 0"),
            replace("distribution = \"zipf\"", "distribution = \"zipff\""),
            replace("distribution = \"zipf\"", "distribution = \"uniform\""),
            replace("exponent = 1.1", "exponent = 0"),
            replace("min_bytes = 10", "min_bytes = 2000"),
            replace("min_bytes = 10\n", ""),
            replace("max_bytes = \"1KiB\"", "max_bytes = \"1 page\""),
            replace("content = \"text\"", "content = \"prose\""),
            replace("(:key, :value)", "(:kei, :value)"),
            replace("k = :key", "k = ?"),
            replace("cql = \"SELECT", "sql = \"SELECT"),
            replace("weight = 2", "weight = -2"),
            replace("weight = 2", "wieght = 2"),
            replace("read = 1", "raed = 1"),
            replace("read = 1\nwrite = 1", "read = 0\nwrite = 0"),
            replace("operation = \"write\"", "operation = \"writes\""),
            replace("operation = \"write\"", ""),
            replace("schema = [\"CREATE TABLE t\"]", "schema = \"CREATE TABLE t\""),
            replace("distribution = \"zipf\"\nexponent = 1.1", "distribution = \"gaussian\"\ndeviation = 0"),
            replace("distribution = \"zipf\"\nexponent = 1.1", "distribution = \"hotspot\"\nhot_keys = 20"),
            replace("distribution = \"zipf\"", "distribution = \"gaussian\""),
            replace("distribution = \"zipf\"\nexponent = 1.1", "distribution = \"fixed\"\nkey = 10"),
            replace("content = \"text\"", "sizes = \"latest\""),
            replace("content = \"text\"", "content = \"text\"\ncompression_ratio = 0.5"),
            replace("content = \"text\"", "compression_ratio = 5"),
            replace("content = \"text\"", "min_items = 5"),
            replace("kind = \"value\"", "kind = \"integer\"\nmax = -1"),
            replace("weight = 2", "page_size = 10"),
            replace("weight = 2", "batch_type = \"logged\""),
            replace("weight = 2", "batch = 10\nbatch_by = [\"valeu\"]"),
            replace("weight = 2", "batch = 10\nbatch_type = \"loged\""),
            replace("weight = 2", "serial_consistency = \"SERIAL\""),
            replace("consistency = \"ONE\"", "batch = 10"),
            replace("[populate]", "[verify]\noperation = \"write\"\n[populate]"),
            replace("[populate]", "[verify]\noperation = \"read\"\ncolumns = { v = \"valu\" }\n[populate]"),
            replace("[populate]\noperation = \"write\"", "[verify]\noperation = \"read\""),
            read("one", "one.toml", "").unwrap_err().to_string(),
        ];
        insta::assert_snapshot!(errors.join("\n"));
    }
}
