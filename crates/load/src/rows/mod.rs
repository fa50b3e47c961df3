//! Rows as cassandra-stress generates them: a row is determined by the seed of its partition.
//!
//! ```text
//! seed ─▶ partition key ─▶ values of the first clustering column ─▶ of the next ─▶ the other columns
//! ```
//!
//! Each column draws from its own distribution, with a generator seeded by the values of earlier columns and the
//! column's name. So two seeds with equal keys are one partition with the same rows. The numbers equal those of
//! cassandra-stress bit by bit, so that either tool finds the other's rows.

mod column;
mod distribution;
mod file;
mod java;
mod stream;
mod value;

pub(crate) use column::{Column, Given, Role};
pub(crate) use distribution::{Distribution, range, whole};
pub(crate) use file::{read, read_insert};
pub(crate) use value::{Value, ValueType};

use crate::draw::Draw;
use stream::Stream;

/// The rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    pub seeds: Seeds,
    /// Columns of the partition key, then clustering columns, then the others.
    columns: Vec<Column>,
    /// The range of the clustering columns.
    clustering: std::ops::Range<usize>,
    /// The mean number of rows below each value of a clustering column.
    below: Vec<f64>,
}

/// The range of the seeds, which is that of the partitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Seeds {
    /// Seeds one after the other; after the last one the first follows.
    Sequence {
        from: i64,
        to: i64,
    },
    Drawn(Distribution),
}

/// The rows that one insert writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Insert {
    /// Number of partitions.
    pub partitions: Distribution,
    /// The share of a partition's rows to insert: a number of this distribution divided by the other number.
    pub select: Ratio,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    pub above: Distribution,
    pub below: i64,
}

/// Which rows a query takes its values from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fields {
    /// All values are taken from one row.
    SameRow,
    /// Each value is taken from any row of the partition.
    MultiRow,
}

/// How rows of a partition are chosen.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    /// Each row is chosen with this probability, and at least one.
    Share(f64),
    /// About this many rows are chosen, and not more.
    Count(usize),
}

/// The values of a row, column by column.
pub(crate) type Row = Vec<Value>;

impl Default for Insert {
    fn default() -> Insert {
        Insert { partitions: Distribution::fixed(1), select: Ratio { above: Distribution::fixed(1), below: 1 } }
    }
}

impl Insert {
    /// The number of partitions of request `number`.
    pub fn partitions(&self, seed: u64, number: u64) -> u64 {
        const STREAM: u64 = u64::MAX - 2;
        let drawn = match self.partitions.only() {
            Some(only) => only,
            None => Stream::new(self.partitions, Draw::new(seed, number, STREAM).next() as i64).next(),
        };
        u64::try_from(drawn).unwrap_or(0).max(1)
    }
}

impl Rows {
    /// Sorts the columns by role (partition key, clustering, others); columns of a role keep their order.
    pub fn new(seeds: Seeds, mut columns: Vec<Column>) -> Rows {
        columns.sort_by_key(|column| column.role as u8);
        let count = |role: Role| columns.iter().filter(|column| column.role == role).count();
        let start = count(Role::Partition);
        let clustering = start..start + count(Role::Clustering);
        let mut below: Vec<f64> = Vec::new();
        let mut rows = 1.0;
        for column in columns[clustering.clone()].iter().rev() {
            below.push(rows);
            rows *= column.cluster.mean().trunc().max(1.0);
        }
        below.reverse();
        Rows { seeds, columns, clustering, below }
    }

    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The index of a column.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Whether each partition has exactly one row.
    pub fn is_single(&self) -> bool {
        self.columns[self.clustering.clone()].iter().all(|column| column.cluster.only() == Some(1))
    }

    /// The mean number of rows of a partition.
    pub fn mean_rows(&self) -> f64 {
        self.columns[self.clustering.clone()].iter().map(|column| column.cluster.mean().max(1.0)).product()
    }

    /// Sets the number of seeds, counted from the first one.
    pub fn set_seeds(&mut self, count: u64) {
        let count = i64::try_from(count.max(1)).unwrap_or(i64::MAX);
        self.seeds = match self.seeds {
            Seeds::Sequence { from, .. } => Seeds::Sequence { from, to: from.saturating_add(count - 1) },
            Seeds::Drawn(_) => Seeds::Drawn(Distribution::uniform(1, count)),
        };
    }

    /// The seed of a partition, by its position in the run.
    fn seed(&self, place: u64, draw: &mut Draw) -> i64 {
        match self.seeds {
            Seeds::Sequence { from, to } => {
                let count = to.wrapping_sub(from) as u64;
                from.wrapping_add((place % count.saturating_add(1)) as i64)
            }
            Seeds::Drawn(distribution) => Stream::new(distribution, draw.next() as i64).next(),
        }
    }

    /// All rows that an insert writes into a range of partitions.
    pub fn inserted(&self, insert: &Insert, places: std::ops::Range<u64>, draw: &mut Draw) -> Vec<Row> {
        let mut rows = Vec::new();
        for place in places {
            let seed = self.seed(place, draw);
            let Ratio { above, below } = insert.select;
            let share = match above.only() {
                Some(only) => only as f64,
                None => Stream::new(above, draw.next() as i64).next_real(),
            } / below as f64;
            self.partition(seed, Wanted::Share(share.clamp(0.0, 1.0)), self.columns.len(), draw, &mut rows);
        }
        rows
    }

    /// The values of these columns for a query.
    pub fn queried(&self, fields: Fields, columns: &[usize], place: u64, draw: &mut Draw) -> Row {
        let most = if fields == Fields::SameRow { 1 } else { columns.len().max(1) };
        let upto = columns.iter().max().map_or(0, |last| last + 1);
        let seed = self.seed(place, draw);
        let mut rows = Vec::new();
        self.partition(seed, Wanted::Count(most), upto, draw, &mut rows);
        let count = rows.len() as u64;
        let mut row = rows.swap_remove(draw.below(count) as usize);
        if fields == Fields::MultiRow {
            for column in self.clustering.start..upto {
                if let Some(other) = rows.get(draw.below(count) as usize) {
                    row[column] = other[column].clone();
                }
            }
        }
        row
    }

    /// Adds the chosen rows of the partition of a seed; there is at least one.
    fn partition(&self, seed: i64, wanted: Wanted, upto: usize, draw: &mut Draw, rows: &mut Vec<Row>) {
        let key: Row = self.columns[..self.clustering.start].iter().map(|column| column.only(seed)).collect();
        let seed = key.iter().fold(0, |seed, value| value.seed(seed));
        let Some(first) = self.columns[self.clustering.clone()].first() else {
            return rows.push(self.filled(key, seed, upto));
        };
        let (chance, most) = match wanted {
            Wanted::Share(share) => (share, usize::MAX),
            Wanted::Count(count) => {
                let expected = (first.count(seed).max(1) as f64 * self.below[0]).max(1.0);
                ((count as f64 / expected).min(1.0), count)
            }
        };
        let mut walk = RowWalk { rows: self, chance, draw, out: Vec::new(), most, upto, key };
        walk.level(0, seed, Factors { roll: 1.0, chance: 1.0 }, true);
        rows.append(&mut walk.out);
    }

    /// Adds the values of the columns that are in no key.
    fn filled(&self, mut row: Row, seed: i64, upto: usize) -> Row {
        row.extend(
            self.columns[self.clustering.end..upto.max(self.clustering.end)].iter().map(|column| column.only(seed)),
        );
        row
    }
}

/// Corrects for the probability with which the walk reached a level, so that each row has the same probability.
#[derive(Debug, Clone, Copy)]
struct Factors {
    roll: f64,
    chance: f64,
}

/// A walk through the rows of a partition.
struct RowWalk<'w> {
    rows: &'w Rows,
    /// Probability that a row is selected.
    chance: f64,
    draw: &'w mut Draw,
    out: Vec<Row>,
    most: usize,
    /// Columns from this index on are not needed.
    upto: usize,
    /// The key columns of the current row so far.
    key: Row,
}

impl RowWalk<'_> {
    /// Goes through the values of a clustering column below a seed. `last` means that no other value follows after
    /// these.
    fn level(&mut self, depth: usize, seed: i64, factors: Factors, last: bool) {
        let column = &self.rows.columns[self.rows.clustering.start + depth];
        let values = column.several(seed);
        // The columns that follow are the same below all of these values: cassandra-stress uses the seed of the first
        // value.
        let Some(below) = values.first().map(|value| value.seed(seed)) else { return };
        let count = values.len();
        for (place, value) in values.into_iter().enumerate() {
            if self.out.len() >= self.most {
                return;
            }
            let last = last && place + 1 == count;
            let chance = self.chance * factors.chance;
            let taken = (last && self.out.is_empty()) || chance > 0.99999 || chance >= self.draw.unit();
            if !taken {
                continue;
            }
            let own = value.seed(below);
            self.key.push(value);
            if depth + 1 == self.rows.clustering.len() {
                let row = self.rows.filled(self.key.clone(), own, self.upto);
                self.out.push(row);
            } else {
                let roll = factors.roll / chance.min(1.0);
                let next = if self.chance < 1.0 { self.rows.below[depth + 1] * roll } else { 1.0 };
                self.level(depth + 1, below, Factors { roll, chance: next }, last);
            }
            self.key.pop();
        }
    }
}

#[cfg(test)]
mod tests;
