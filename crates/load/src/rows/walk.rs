//! The choice of rows of a partition, as cassandra-stress makes it.

use super::{Row, Rows};
use crate::draw::Draw;

/// Corrects for the probability with which the walk reached a level, so that each row has the same probability.
#[derive(Debug, Clone, Copy)]
struct Factors {
    roll: f64,
    chance: f64,
}

/// A walk through the rows of a partition.
pub(super) struct RowWalk<'w> {
    pub rows: &'w Rows,
    /// Probability that a row is selected.
    pub chance: f64,
    pub draw: &'w mut Draw,
    pub out: Vec<Row>,
    pub most: usize,
    /// Columns from this index on are not needed.
    pub upto: usize,
    /// The key columns of the current row so far.
    pub key: Row,
    /// The rows of this visit, by their index in the partition, and the index of the next one.
    pub window: std::ops::Range<u64>,
    pub index: u64,
}

impl RowWalk<'_> {
    /// The chosen rows below the seed of a partition key.
    pub fn all(mut self, seed: i64) -> Vec<Row> {
        self.level(0, seed, Factors { roll: 1.0, chance: 1.0 }, true);
        self.out
    }

    /// Goes through the values of a clustering column below a seed. `last` means that no other value follows after
    /// these.
    fn level(&mut self, depth: usize, seed: i64, factors: Factors, last: bool) {
        let column = &self.rows.columns[self.rows.clustering.start + depth];
        let is_leaf = depth + 1 == self.rows.clustering.len();
        let values = column.several(seed);
        // The columns that follow are the same below all of these values: cassandra-stress uses the seed of the first
        // value.
        let Some(below) = values.first().map(|value| value.seed(seed)) else { return };
        let count = values.len();
        for (place, value) in values.into_iter().enumerate() {
            let is_last = last && place + 1 == count;
            // A visit beyond the partition's end writes its last row.
            let wanted = self.window.contains(&self.index) || (is_leaf && is_last && self.out.is_empty());
            if self.out.len() >= self.most || self.index >= self.window.end {
                return;
            }
            if is_leaf {
                self.index += 1;
                if !wanted {
                    continue;
                }
            }
            let chance = self.chance * factors.chance;
            let forced = self.out.is_empty() && (is_last || (is_leaf && self.index == self.window.end));
            // Of a partition in several visits, all rows must be counted.
            let taken = forced || chance > 0.99999 || (!is_leaf && self.is_divided()) || chance >= self.draw.unit();
            if !taken {
                continue;
            }
            let own = value.seed(below);
            self.key.push(value);
            if is_leaf {
                let row = self.rows.filled(self.key.clone(), own, self.upto);
                self.out.push(row);
            } else {
                let roll = factors.roll / chance.min(1.0);
                let next = match self.chance < 1.0 && !self.is_divided() {
                    true => self.rows.below[depth + 1] * roll,
                    false => 1.0,
                };
                self.level(depth + 1, below, Factors { roll, chance: next }, is_last);
            }
            self.key.pop();
        }
    }

    /// Whether the partition's rows are written in several visits.
    fn is_divided(&self) -> bool {
        self.window != (0..u64::MAX)
    }
}
