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
mod compound;
mod distribution;
mod file;
mod java;
mod stream;
mod value;
mod walk;

pub(crate) use column::{Column, Given, Role};
pub(crate) use compound::{Shape, append};
pub(crate) use distribution::{Distribution, range, whole};
pub(crate) use file::{read, read_insert};
pub(crate) use value::{Value, ValueType};

use crate::draw::Draw;
use stream::Stream;
use walk::RowWalk;

/// A collection stops growing at this size, which is the largest mutation that Cassandra takes by default.
const MOST_VALUE_BYTES: usize = 16 << 20;

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
    /// The number of requests into which the rows of partitions are divided.
    pub visits: Distribution,
    /// Which of the partitions that are not complete a request continues, if there are that many; otherwise it begins
    /// new ones.
    pub revisit: Distribution,
}

/// One of the requests into which the rows of a partition are divided: its index, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Visit {
    pub index: u64,
    pub of: u64,
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

/// Which rows of a partition are made.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    of: Amount,
    visit: Visit,
    /// Columns from this index on are not needed.
    upto: usize,
}

/// How rows of a partition are chosen.
#[derive(Debug, Clone, Copy)]
enum Amount {
    /// Each row is chosen with this probability, and at least one.
    Share(f64),
    /// About this many rows are chosen, and not more.
    Count(usize),
}

/// The values of a row, column by column.
pub(crate) type Row = Vec<Value>;

impl Default for Insert {
    fn default() -> Insert {
        Insert {
            partitions: Distribution::fixed(1),
            select: Ratio { above: Distribution::fixed(1), below: 1 },
            visits: Distribution::fixed(1),
            revisit: Distribution::uniform(1, 1_000_000),
        }
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

    /// The number of requests into which the rows of new partitions are divided.
    pub fn visits(&self, draw: &mut Draw) -> u64 {
        u64::try_from(Stream::new(self.visits, draw.next() as i64).next()).unwrap_or(0).max(1)
    }

    /// The place, among the partitions that are not complete, of those to continue. cassandra-stress inverts the
    /// distribution.
    pub fn revisited(&self, draw: &mut Draw) -> u64 {
        let Distribution { min, max, inverted, .. } = self.revisit;
        let inverse = Distribution { inverted: !inverted, ..self.revisit };
        (Stream::new(inverse, draw.next() as i64).next().clamp(min, max) - min) as u64
    }
}

impl Default for Visit {
    fn default() -> Visit {
        Visit { index: 0, of: 1 }
    }
}

impl Visit {
    /// The rows of a partition, by their index, of which it probably has this many.
    fn rows(self, expected: u64) -> std::ops::Range<u64> {
        let each = (expected / self.of).max(1);
        let end = if self.index + 1 == self.of { u64::MAX } else { (self.index + 1).saturating_mul(each) };
        self.index.saturating_mul(each)..end
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

    /// Checks that the values of a row and of all clustering columns below a partition fit into memory; the error says
    /// which setting is too large.
    pub fn check(&self) -> Result<(), String> {
        const MOST_CLUSTERED: i64 = 10_000_000;
        self.columns.iter().try_for_each(Column::check)?;
        let clustering = self.columns[self.clustering.clone()].iter();
        match clustering.fold(0, |sum: i64, column| sum.saturating_add(column.cluster.max.max(1))) {
            ..=MOST_CLUSTERED => Ok(()),
            sum => Err(format!("`cluster` of all columns together is at most {MOST_CLUSTERED}, not {sum}")),
        }
    }

    /// The index of a column: of this name, or else of one in another case.
    pub fn position(&self, name: &str) -> Option<usize> {
        let found = |same: fn(&str, &str) -> bool| self.columns.iter().position(|column| same(&column.name, name));
        found(|own, name| own == name).or_else(|| found(str::eq_ignore_ascii_case))
    }

    /// Gives a column the type that the node has told.
    pub fn shape(&mut self, column: usize, shape: Shape) {
        self.columns[column].shape(shape, 0);
    }

    /// Adds a column for a single value within those of a compound column, and returns its index.
    pub fn part(&mut self, column: usize, shape: Shape, skips: usize) -> usize {
        let mut part = Column { value_type: ValueType::Compound, role: Role::Regular, ..self.columns[column].clone() };
        part.shape(shape, skips);
        self.columns.push(part);
        self.columns.len() - 1
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

    /// The seed of a partition, by its position in the run with this seed.
    fn seed(&self, place: u64, run: u64) -> i64 {
        const STREAM: u64 = u64::MAX - 4;
        match self.seeds {
            Seeds::Sequence { from, to } => {
                let count = to.wrapping_sub(from) as u64;
                from.wrapping_add((place % count.saturating_add(1)) as i64)
            }
            Seeds::Drawn(distribution) => Stream::new(distribution, Draw::new(run, place, STREAM).next() as i64).next(),
        }
    }

    /// About how many rows the partition of a seed has.
    pub fn expected(&self, place: u64, run: u64) -> u64 {
        let key = self.key(self.seed(place, run));
        self.expected_below(seed_of(&key)) as u64
    }

    /// The expected number of rows of a partition with this seed.
    fn expected_below(&self, seed: i64) -> f64 {
        match self.columns[self.clustering.clone()].first() {
            Some(first) => (first.count(seed).max(1) as f64 * self.below[0]).max(1.0),
            None => 1.0,
        }
    }

    /// All rows that an insert writes into a range of partitions.
    pub fn inserted(
        &self,
        insert: &Insert,
        places: std::ops::Range<u64>,
        visit: Visit,
        run: u64,
        draw: &mut Draw,
    ) -> Vec<Row> {
        let mut rows = Vec::new();
        for place in places {
            let seed = self.seed(place, run);
            let Ratio { above, below } = insert.select;
            let share = match above.only() {
                Some(only) => only as f64,
                None => Stream::new(above, draw.next() as i64).next_real(),
            } / below as f64;
            let wanted = Wanted { of: Amount::Share(share.clamp(0.0, 1.0)), visit, upto: self.columns.len() };
            self.partition(seed, wanted, draw, &mut rows);
        }
        rows
    }

    /// The values of these columns for a query.
    pub fn queried(&self, fields: Fields, columns: &[usize], (place, run): (u64, u64), draw: &mut Draw) -> Row {
        let most = if fields == Fields::SameRow { 1 } else { columns.len().max(1) };
        let upto = columns.iter().max().map_or(0, |last| last + 1);
        let seed = self.seed(place, run);
        let mut rows = Vec::new();
        let wanted = Wanted { of: Amount::Count(most), visit: Visit::default(), upto };
        self.partition(seed, wanted, draw, &mut rows);
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
    fn partition(&self, seed: i64, wanted: Wanted, draw: &mut Draw, rows: &mut Vec<Row>) {
        let key = self.key(seed);
        let (seed, upto) = (seed_of(&key), wanted.upto);
        if self.clustering.is_empty() {
            return rows.push(self.filled(key, seed, upto));
        }
        let expected = self.expected_below(seed);
        let (chance, most) = match wanted.of {
            Amount::Share(share) => (share, usize::MAX),
            Amount::Count(count) => ((count as f64 / expected).min(1.0), count),
        };
        let window = wanted.visit.rows(expected as u64);
        rows.append(
            &mut RowWalk { rows: self, chance, draw, out: Vec::new(), most, upto, key, window, index: 0 }.all(seed),
        );
    }

    /// The partition key of a seed.
    fn key(&self, seed: i64) -> Row {
        self.columns[..self.clustering.start].iter().map(|column| column.only(seed)).collect()
    }

    /// Adds the values of the columns that are in no key.
    fn filled(&self, mut row: Row, seed: i64, upto: usize) -> Row {
        row.extend(
            self.columns[self.clustering.end..upto.max(self.clustering.end)].iter().map(|column| column.only(seed)),
        );
        row
    }
}

/// The seed of the rows of a partition key.
fn seed_of(key: &[Value]) -> i64 {
    key.iter().fold(0, |seed, value| value.seed(seed))
}

#[cfg(test)]
mod tests;
