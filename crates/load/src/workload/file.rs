//! A workload from its file.

use super::{Consistency, Generator, Mix, Operation, Parameter, Populate, Workload, markers, parameter};
use crate::Error;
use crate::error::did_you_mean;
use crate::strict::{Count, Document, Section};

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
    let consistency = read_consistency(&mut root)?.unwrap_or(Consistency::LocalOne);
    let seed = root.optional::<i64>("seed")?.unwrap_or(1) as u64;
    let replication_factor = root.optional::<Count>("replication_factor")?.map_or(1, |count| count.0);
    let schema = root.optional("schema")?.unwrap_or_default();
    let parameters = match root.section("parameters")? {
        None => Vec::new(),
        Some(section) => {
            let each = |(name, section): (&str, Section<'_>)| parameter::read(name, section);
            section.named_sections()?.into_iter().map(each).collect::<Result<Vec<Parameter>, Error>>()?
        }
    };
    // An unknown key at the top often is a misspelt one that is required, so it is told first.
    let operations = root.section("operations")?;
    let mixes = root.section("mixes")?;
    let populate = root.section("populate")?;
    let nowhere = root.error("a workload has at least one operation: [operations.NAME] with its `cql`");
    root.finish()?;

    let mut weights = Vec::new();
    let mut read_operations = Vec::new();
    for (name, section) in operations.map(Section::named_sections).transpose()?.unwrap_or_default() {
        let (operation, weight) = read_operation(name, section, &parameters)?;
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
    let mix = Mix::new(&weights).ok_or(Error::File {
        file: file.to_string(),
        line: 1,
        message: "no operation has a `weight` above 0".to_string(),
    })?;
    let populate = populate.map(|section| read_populate(section, &names, &parameters, &read_operations)).transpose()?;
    Ok(Workload {
        name: name.to_string(),
        description,
        consistency,
        seed,
        replication_factor,
        schema,
        parameters,
        operations: read_operations,
        mixes,
        mix,
        populate,
    })
}

fn read_consistency(section: &mut Section<'_>) -> Result<Option<Consistency>, Error> {
    let names = CONSISTENCIES.map(|(name, _)| name);
    Ok(section.choice("consistency", &names)?.map(|position| CONSISTENCIES[position].1))
}

fn read_operation(name: &str, mut section: Section<'_>, parameters: &[Parameter]) -> Result<(Operation, f64), Error> {
    let cql: String = section.required("cql")?;
    let weight = section.optional::<f64>("weight")?.unwrap_or(1.0);
    if !(weight.is_finite() && weight >= 0.0) {
        return Err(section.error_at("weight", "a `weight` is a number that is 0 or more"));
    }
    let consistency = read_consistency(&mut section)?;
    for marker in markers::markers(&cql).map_err(|message| section.error_at("cql", message))? {
        let mut known = parameters.iter().map(|parameter| parameter.name.as_str());
        if !known.clone().any(|name| name == marker) {
            let meant = did_you_mean(&marker, known.clone());
            let known = if known.next().is_none() { "" } else { " beside those that are there" };
            let message = format!("`:{marker}` has no parameter{meant} (add [parameters.{marker}]{known})");
            return Err(section.error_at("cql", message));
        }
    }
    section.finish()?;
    Ok((Operation { name: name.to_string(), cql, consistency }, weight))
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

/// Each combination of the keys once.
fn default_count(parameters: &[Parameter], operation: &Operation) -> Option<u64> {
    let markers = markers::markers(&operation.cql).unwrap_or_default();
    let populations =
        parameters.iter().filter(|parameter| markers.contains(&parameter.name)).filter_map(|parameter| match parameter
            .generator
        {
            Generator::Key { population, .. } => Some(population),
            _ => None,
        });
    populations.fold(None, |product, population| Some(product.unwrap_or(1u64).saturating_mul(population)))
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
            replace("max_bytes = \"1KiB\"", "max_bytes = \"1KB\""),
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
            read("one", "one.toml", "").unwrap_err().to_string(),
        ];
        insta::assert_snapshot!(errors.join("\n"));
    }
}
