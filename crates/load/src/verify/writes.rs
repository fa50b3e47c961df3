//! The written rows, recomputed from the numbers of their requests.

use super::{Acknowledged, Verify};
use crate::workload::{BoundOperation, Call, PartitionRange, Pool, Sequence, Workload};
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use std::collections::HashMap;

/// The values of one execution of the writing operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Write {
    pub number: u64,
    pub populates: bool,
}

/// All executions of the writing operation, in order.
pub(super) struct Writes<'w> {
    pub workload: &'w Workload,
    pub writer: &'w BoundOperation,
    /// Index of the writing operation.
    pub operation: usize,
    pub pool: &'w Pool,
    /// Number of requests of populating and of the mix.
    pub populated: u64,
    pub requests: u64,
    acknowledged: Option<&'w Acknowledged>,
}

impl<'w> Writes<'w> {
    pub fn new(order: &'w Verify, writer: &'w BoundOperation, operation: usize, pool: &'w Pool) -> Writes<'w> {
        let populate = order.workload.populate.filter(|populate| populate.operation == operation);
        // By default the populated rows are expected, unless a mix was run.
        let usual = if order.requests == 0 { populate.map_or(0, |populate| populate.count) } else { 0 };
        let populated = order.populated.unwrap_or(usual);
        let acknowledged = order.acknowledged.as_ref();
        Writes { workload: &order.workload, writer, operation, pool, populated, requests: order.requests, acknowledged }
    }

    /// Whether the row must exist: as far as is known, its write was acknowledged.
    pub fn may_be_demanded(&self, write: Write) -> bool {
        let request = write.number / self.writer.rows();
        self.acknowledged.is_none_or(|acknowledged| acknowledged.contains(write.populates, request))
    }

    fn each(&self) -> impl Iterator<Item = Write> {
        let of_mix = (0..self.requests).filter(|number| {
            // The operation is chosen in the same way as by the driver.
            self.workload.operation_of(*number) == self.operation
        });
        let requests = (0..self.populated).map(|place| (place, true)).chain(of_mix.map(|number| (number, false)));
        let rows = self.writer.rows();
        requests.flat_map(move |(request, populates)| {
            (0..rows).map(move |row| Write { number: request * rows + row, populates })
        })
    }

    /// Each row with its writes, in the order of the first write. If only populating wrote, each row was written once,
    /// and no list of all rows is needed.
    pub fn rows(&self) -> Box<dyn Iterator<Item = Vec<Write>> + '_> {
        let written = self.populated.saturating_mul(self.writer.rows());
        if self.requests == 0 && written <= self.writer.combinations() {
            return Box::new(self.each().map(|write| vec![write]));
        }
        let keys: Vec<bool> = self.writer.are_keys().collect();
        let mut positions: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut rows: Vec<Vec<Write>> = Vec::new();
        for write in self.each() {
            let cells = self.cells(write);
            let key: Vec<u8> =
                cells.iter().zip(&keys).filter(|(_, key)| **key).flat_map(|(cell, _)| framed(cell)).collect();
            let position = *positions.entry(key).or_insert_with(|| {
                rows.push(Vec::new());
                rows.len() - 1
            });
            rows[position].push(write);
        }
        Box::new(rows.into_iter())
    }

    /// The values of a request of any operation that uses the same keys as the writing one.
    pub fn call<'a>(&'a self, operation: &'a BoundOperation, write: Write) -> Call<'a> {
        Call {
            operation,
            pool: self.pool,
            seed: self.workload.seed,
            number: write.number,
            sequence: if write.populates { Sequence::Populate(write.number) } else { Sequence::Distributed },
            // Values that depend on the clock are not compared.
            intended_start_ns: 0,
            taken: PartitionRange::default(),
        }
    }

    /// The written values, by marker.
    pub fn cells(&self, write: Write) -> Vec<Vec<u8>> {
        cells(&self.call(self.writer, write))
    }
}

/// The values of a request without their lengths.
pub(super) fn cells(call: &Call<'_>) -> Vec<Vec<u8>> {
    let mut buffer = Vec::new();
    // Fails only for values above 2 GiB, which no parameter makes.
    let _ = call.serialize(&RowSerializationContext::empty(), &mut RowWriter::new(&mut buffer));
    let mut cells = Vec::new();
    let mut rest = buffer.as_slice();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (cell, after) = after.split_at(i32::from_be_bytes(*length).max(0) as usize);
        cells.push(cell.to_vec());
        rest = after;
    }
    cells
}

/// Includes the length, so that two consecutive values can't be confused with other ones.
fn framed(cell: &[u8]) -> impl Iterator<Item = u8> + use<'_> {
    (cell.len() as u32).to_be_bytes().into_iter().chain(cell.iter().copied())
}
