//! How the columns of a profile's table are filled.
//!
//! One number stands for a partition and fills all columns of its key, so that what is read was written. A clustering
//! column has as many values in each partition as its `cluster` says. All other columns are filled each for itself.

use super::Spec;
use super::table::{Column, CqlType, Role, Table};
use crate::Error;
use crate::stress::distribution::Distribution;
use crate::stress::draft::{Draft, Filler, KeyDraw};
use crate::stress::keys::{DrawnKeys, drawn};

/// The values of any column, where cassandra-stress has no other wish: 100 billion.
const DEFAULT_POPULATION: u64 = 100_000_000_000;

/// The table's columns and what is said of them.
#[derive(Debug)]
pub(super) struct Columns<'p> {
    pub table: &'p Table,
    pub specs: &'p [Spec],
    pub partitions: DrawnKeys,
    /// Length of texts and blobs in the key.
    key_bytes: u64,
}

/// Which row of a request a value is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Of the request's partitions and rows, where there are several; 0 otherwise.
    pub partition: u64,
    pub row: u64,
    /// The number of the row in its partition, where all rows of a partition are gone through.
    pub number: Option<u64>,
}

impl Place {
    pub const ANY: Place = Place { partition: 0, row: 0, number: None };
}

impl<'p> Columns<'p> {
    /// Finds which partitions there are: those of `-pop`, or as many as the populations of the key's columns allow.
    pub fn new(
        table: &'p Table,
        specs: &'p [Spec],
        keys: DrawnKeys,
        notes: &mut Vec<String>,
    ) -> Result<Columns<'p>, Error> {
        let mut columns = Columns { table, specs, partitions: keys, key_bytes: 0 };
        let of_key: Vec<&Column> = table.with_role(Role::Partition).collect();
        let usable =
            of_key.iter().filter(|column| column.cql_type.takes_keys() || column.cql_type == CqlType::TimeUuid);
        let largest = usable.map(|column| column.cql_type.largest()).max_by_key(|largest| largest.unwrap_or(u64::MAX));
        let Some(largest) = largest else {
            let types: Vec<&str> = of_key.iter().map(|column| column.cql_type.name()).collect();
            return Err(Error::Argument {
                argument: "profile".to_string(),
                message: format!("the driver makes no partition keys of type {}", types.join(", ")),
            });
        };
        let wanted = |column: &&Column| columns.spec(column).and_then(|spec| spec.population);
        let each = of_key.iter().map(|column| {
            let most = column.cql_type.largest().map_or(u64::MAX, |largest| largest + 1);
            wanted(column).map_or(DEFAULT_POPULATION, |population| population.max - population.min + 1).min(most)
        });
        let distinct = each.fold(1u64, u64::saturating_mul).min(largest.map_or(u64::MAX, |largest| largest + 1));
        if distinct < keys.population {
            let only = match of_key.as_slice() {
                [only] => wanted(only).filter(|population| population.name() != "UNIFORM").map(|found| (only, found)),
                _ => None,
            };
            let (population, draw) = match only {
                Some((only, population)) => drawn(&format!("population of {}: ", only.name), population)?,
                None => (distinct, keys.draw.scaled(distinct as f64 / keys.population as f64)),
            };
            columns.partitions = DrawnKeys { population, draw, first_number: 0, ..keys };
            notes.push(format!("{distinct} partitions: the columns of the key have no more values"));
        }
        let sizes = of_key.iter().filter_map(|column| Some(columns.spec(column)?.size?.mean().round() as u64));
        columns.key_bytes = sizes.max().unwrap_or(6);
        for column in of_key {
            let shape = columns.spec(column).and_then(|spec| spec.population).map(|population| population.name());
            if distinct >= keys.population && !matches!(shape, None | Some("UNIFORM" | "FIXED")) {
                notes.push(format!("population of {}: -pop says how often each partition comes", column.name));
            }
            if columns.is_constant(column) {
                let (name, kind) = (&column.name, column.cql_type.name());
                notes.push(format!(
                    "{name} is the same in all partitions: a {kind} has too few values, or none of ours"
                ));
            }
        }
        Ok(columns)
    }

    pub fn spec(&self, column: &Column) -> Option<&Spec> {
        self.specs.iter().find(|spec| spec.name == column.name)
    }

    /// Whether a partition key column cannot hold the number of the partition.
    fn is_constant(&self, column: &Column) -> bool {
        let fits = |largest: u64| column.cql_type == CqlType::Boolean || self.partitions.population - 1 <= largest;
        let takes = column.cql_type.takes_keys() || column.cql_type == CqlType::TimeUuid;
        !takes || !column.cql_type.largest().is_none_or(fits)
    }

    /// How many values a clustering column has in each partition.
    pub fn values_in_partition(&self, column: &Column) -> u64 {
        let cluster = self.spec(column).and_then(|spec| spec.cluster);
        let values = cluster.map_or(1, |cluster| cluster.mean().round().max(1.0) as u64);
        column.cql_type.largest().map_or(values, |largest| values.min(largest + 1))
    }

    /// What stands for the value of a column in a statement: a marker, or a value. None for a column that is left out.
    pub fn value(&self, draft: &mut Draft, column: &Column, place: Place) -> Result<Option<String>, Error> {
        match column.role {
            Role::Partition => Ok(self.partition_value(draft, column, place)),
            Role::Clustering => self.clustering_value(draft, column, place).map(Some),
            Role::Regular => Ok(self.regular_value(draft, column, place)),
        }
    }

    fn partition_value(&self, draft: &mut Draft, column: &Column, place: Place) -> Option<String> {
        if self.is_constant(column) {
            return column.cql_type.constant().map(str::to_string);
        }
        let DrawnKeys { population, draw, .. } = self.partitions;
        let (name, draw) = match place.partition {
            0 => ("partition".to_string(), draw),
            // Keys in sequence would be the same for all partitions of a request.
            several if draw == KeyDraw::Sequential => (format!("partition_{several}"), KeyDraw::Uniform),
            several => (format!("partition_{several}"), draw),
        };
        let marker = draft.marker(&name, Filler::Key { population, draw, size_bytes: Some(self.key_bytes) });
        Some(as_key(column.cql_type, marker))
    }

    fn clustering_value(&self, draft: &mut Draft, column: &Column, place: Place) -> Result<String, Error> {
        let values = self.values_in_partition(column);
        let refused = || Error::Argument {
            argument: "profile".to_string(),
            message: format!(
                "the driver makes no {} from a number, so that {} cannot have {values} values in a partition; leave out \
                 its `cluster`, or take another type",
                column.cql_type.name(),
                column.name
            ),
        };
        if values == 1 {
            return column.cql_type.constant().map(str::to_string).ok_or_else(refused);
        }
        if !column.cql_type.takes_keys() && column.cql_type != CqlType::TimeUuid {
            return Err(refused());
        }
        let (name, draw) = match place.number {
            Some(number) => {
                let key = self.digit(column, number);
                (format!("row_{}_is_{key}", column.name), KeyDraw::Fixed(key))
            }
            None if place.row == 0 => (format!("row_{}", column.name), KeyDraw::Uniform),
            None => (format!("row_{}_{}", column.name, place.row), KeyDraw::Uniform),
        };
        let size = self.spec(column).and_then(|spec| spec.size).map(|size| size.mean().round() as u64);
        let marker = draft.marker(&name, Filler::Key { population: values, draw, size_bytes: size.or(Some(6)) });
        Ok(as_key(column.cql_type, marker))
    }

    /// Rows of a partition are numbered with the last clustering column as the lowest digit.
    fn digit(&self, column: &Column, number: u64) -> u64 {
        let mut rest = number;
        let clustering: Vec<&Column> = self.table.with_role(Role::Clustering).collect();
        for other in clustering.into_iter().rev() {
            let values = self.values_in_partition(other);
            if other.name == column.name {
                return rest % values;
            }
            rest /= values;
        }
        0
    }

    fn regular_value(&self, draft: &mut Draft, column: &Column, place: Place) -> Option<String> {
        let spec = self.spec(column);
        let (population, size) = (spec.and_then(|spec| spec.population), spec.and_then(|spec| spec.size));
        let size = size.unwrap_or(Distribution::uniform(4, 8));
        let name = match place.row {
            0 => format!("value_{}", column.name),
            row => format!("value_{}_{row}", column.name),
        };
        let filler = match (column.cql_type, population) {
            (CqlType::Text | CqlType::Blob, None) => Filler::value(size, column.cql_type == CqlType::Text),
            (CqlType::TimeUuid | CqlType::Date, _) => Filler::Time,
            (other, _) if !other.takes_keys() => return other.constant().map(str::to_string),
            (cql_type, population) => key_filler(cql_type, population, size),
        };
        Some(draft.marker(&name, filler))
    }
}

/// Values of a column that is no key: from their population, evenly unless it is one value.
fn key_filler(cql_type: CqlType, population: Option<Distribution>, size: Distribution) -> Filler {
    let size_bytes = Some(size.mean().round() as u64);
    let most = cql_type.largest().map_or(u64::MAX, |largest| largest + 1);
    let whole = matches!(
        cql_type,
        CqlType::TinyInt | CqlType::SmallInt | CqlType::Int | CqlType::BigInt | CqlType::Counter | CqlType::Timestamp
    );
    match population.and_then(|population| population.only()) {
        Some(only) if whole && only < most => Filler::Whole(only),
        Some(only) => {
            let key = only.min(most - 1);
            Filler::Key { population: key.saturating_add(1), draw: KeyDraw::Fixed(key), size_bytes }
        }
        None => {
            let values = population.map_or(DEFAULT_POPULATION, |population| population.max - population.min + 1);
            Filler::Key { population: values.min(most), draw: KeyDraw::Uniform, size_bytes }
        }
    }
}

/// The lowest timeuuid of a millisecond is one that a number can be made into.
fn as_key(cql_type: CqlType, marker: String) -> String {
    if cql_type == CqlType::TimeUuid { format!("minTimeuuid({marker})") } else { marker }
}
