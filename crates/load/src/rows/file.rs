//! Generated rows in a workload file: the table `[rows]`, and the insert settings of an operation.

use super::value::VALUE_TYPES;
use super::{Column, Distribution, Given, Insert, Ratio, Role, Rows, Seeds};
use crate::rows::distribution::Shape;
use helenus_notation::{Error, Section};
use std::fmt;

const ROLES: [(&str, Role); 3] =
    [("partition", Role::Partition), ("clustering", Role::Clustering), ("regular", Role::Regular)];

/// Reads `[rows]`.
pub(crate) fn read(mut section: Section<'_>) -> Result<Rows, Error> {
    let seeds = distribution(&mut section, "seeds")?.ok_or_else(|| section.error("`seeds` is missing"))?;
    let columns = section.list("columns")?.into_iter().map(column).collect::<Result<Vec<Column>, Error>>()?;
    section.finish()?;
    if !columns.iter().any(|column| column.role == Role::Partition) {
        return Err(section.error("no column has role = \"partition\""));
    }
    Ok(Rows::new(seeds.into(), columns))
}

fn column(mut section: Section<'_>) -> Result<Column, Error> {
    let name: String = section.required("name")?;
    let role = section.choice("role", &ROLES.map(|(name, _)| name))?.map_or(Role::Regular, |chosen| ROLES[chosen].1);
    let value_type = section.choice("type", &VALUE_TYPES.map(|(name, _)| name))?;
    let value_type = VALUE_TYPES[value_type.ok_or_else(|| section.error("`type` is missing"))?].1;
    let salt = section.optional::<String>("salt")?.unwrap_or_else(|| name.clone());
    let given = Given {
        population: distribution(&mut section, "population")?,
        size: distribution(&mut section, "size")?,
        cluster: distribution(&mut section, "cluster")?,
    };
    section.finish()?;
    Ok(Column::new(&name, role, value_type, &salt, given))
}

/// Reads an operation's insert settings; None if it has none.
pub(crate) fn read_insert(section: &mut Section<'_>) -> Result<Option<Insert>, Error> {
    let partitions = distribution(section, "partitions")?;
    let select = section
        .optional::<String>("select")?
        .map(|text| Ratio::parse(&text).map_err(|message| section.error_at("select", format!("`select`: {message}"))));
    match (partitions, select.transpose()?) {
        (None, None) => Ok(None),
        (partitions, select) => {
            let usual = Insert::default();
            Ok(Some(Insert {
                partitions: partitions.unwrap_or(usual.partitions),
                select: select.unwrap_or(usual.select),
            }))
        }
    }
}

fn distribution(section: &mut Section<'_>, key: &'static str) -> Result<Option<Distribution>, Error> {
    let Some(text) = section.optional::<String>(key)? else { return Ok(None) };
    Distribution::parse(&text).map(Some).map_err(|message| section.error_at(key, format!("`{key}`: {message}")))
}

impl From<Distribution> for Seeds {
    fn from(distribution: Distribution) -> Seeds {
        match distribution {
            Distribution { shape: Shape::Sequence, min, max, inverted: false } => {
                Seeds::Sequence { from: min, to: max }
            }
            drawn => Seeds::Drawn(drawn),
        }
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seeds::Sequence { from, to } if from == to => write!(out, "FIXED({from})"),
            Seeds::Sequence { from, to } => write!(out, "SEQ({from}..{to})"),
            Seeds::Drawn(distribution) => write!(out, "{distribution}"),
        }
    }
}

impl Ratio {
    /// Parses the share of rows: `fixed(1)/10`.
    pub fn parse(text: &str) -> Result<Ratio, String> {
        let wrong = || format!("`{text}` is not a ratio such as fixed(1)/10");
        let (above, below) = text.rsplit_once('/').ok_or_else(wrong)?;
        let ratio = Ratio { above: Distribution::parse(above)?, below: super::whole(below)? };
        let share = ratio.mean();
        if share > 0.0 && share <= 1.0 { Ok(ratio) } else { Err(format!("`{text}` is not above 0 and at most 1")) }
    }

    pub fn mean(&self) -> f64 {
        self.above.mean() / self.below as f64
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.above, self.below)
    }
}

/// Formats rows so that [`read`] reads them.
impl fmt::Display for Rows {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |text: &str| toml::Value::String(text.to_string());
        writeln!(out, "[rows]\nseeds = \"{}\"", self.seeds)?;
        for column in self.columns() {
            let role = ROLES.iter().find(|(_, role)| *role == column.role).map_or("", |(name, _)| name);
            let value_type = VALUE_TYPES.iter().find(|(_, known)| *known == column.value_type);
            writeln!(out, "\n[[rows.columns]]\nname = {}\nrole = \"{role}\"", text(&column.name))?;
            writeln!(out, "type = \"{}\"", value_type.map_or("", |(name, _)| name))?;
            writeln!(out, "salt = {}", text(&column.salt_text))?;
            let Given { population, size, cluster } = column.given();
            for (key, given) in [("population", population), ("size", size), ("cluster", cluster)] {
                given.map_or(Ok(()), |given| writeln!(out, "{key} = \"{given}\""))?;
            }
        }
        Ok(())
    }
}
