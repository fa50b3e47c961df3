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
    let rows = Rows::new(seeds.into(), columns);
    rows.check().map_err(|message| section.error(message))?;
    Ok(rows)
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
    let (visits, revisit) = (distribution(section, "visits")?, distribution(section, "revisit")?);
    let select = section
        .optional::<String>("select")?
        .map(|text| Ratio::parse(&text).map_err(|message| section.error_at("select", format!("`select`: {message}"))));
    let select = select.transpose()?;
    if partitions.is_none() && select.is_none() && visits.is_none() && revisit.is_none() {
        return Ok(None);
    }
    let usual = Insert::default();
    let insert = Insert {
        partitions: partitions.unwrap_or(usual.partitions),
        select: select.unwrap_or(usual.select),
        visits: visits.unwrap_or(usual.visits),
        revisit: revisit.unwrap_or(usual.revisit),
    };
    insert.check().map_err(|message| section.error(message))?;
    Ok(Some(insert))
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

impl Insert {
    /// The settings as lines of a workload file; visits only if there are several.
    pub fn to_toml(self) -> String {
        let Insert { partitions, select, visits, revisit } = self;
        let mut text = format!("partitions = \"{partitions}\"\nselect = \"{select}\"\n");
        if visits.only() != Some(1) {
            text.push_str(&format!("visits = \"{visits}\"\nrevisit = \"{revisit}\"\n"));
        }
        text
    }

    /// Checks that the partitions that are not complete fit into memory.
    pub fn check(&self) -> Result<(), String> {
        const MOST: i64 = 10_000_000;
        let Distribution { min, max, .. } = self.revisit;
        match (0..=max).contains(&min) && max - min < MOST {
            true => Ok(()),
            false => Err(format!("`revisit` is a range of at most {MOST} whole numbers, none below 0")),
        }
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
        self.write(out, "rows")
    }
}

impl Rows {
    /// Writes them as this section of a workload file.
    pub fn write(&self, out: &mut impl fmt::Write, section: &str) -> fmt::Result {
        let text = |text: &str| toml::Value::String(text.to_string());
        writeln!(out, "[{section}]\nseeds = \"{}\"", self.seeds)?;
        for column in self.columns() {
            let role = ROLES.iter().find(|(_, role)| *role == column.role).map_or("", |(name, _)| name);
            let value_type = VALUE_TYPES.iter().find(|(_, known)| *known == column.value_type);
            writeln!(out, "\n[[{section}.columns]]\nname = {}\nrole = \"{role}\"", text(&column.name))?;
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
