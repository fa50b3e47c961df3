//! Reading a table by ranges of tokens, a page with each request.

use super::request::Answer;
use scylla::client::session::Session;
use scylla::errors::ExecutionError;
use scylla::response::{PagingState, PagingStateResponse};
use scylla::statement::prepared::PreparedStatement;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The ranges of a ring and how far each has been read. After the last range the first one follows.
pub(crate) struct Scan {
    ranges: Vec<Range>,
    /// The number of parts of each range.
    split: u64,
    state: Mutex<State>,
}

/// The tokens after `from`, up to and including `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    from: i64,
    to: i64,
}

#[derive(Default)]
struct State {
    next: u64,
    /// Ranges with pages that no request reads at the moment.
    begun: VecDeque<Begun>,
}

struct Begun {
    range: Range,
    pages: PagingState,
    /// The token of the last row read.
    last: Option<i64>,
}

impl Scan {
    /// The ranges between the tokens of a ring, each split into this many parts of about the same size.
    pub fn new(ring: &[i64], split: u32) -> Scan {
        let mut ends: Vec<i64> = ring.to_vec();
        ends.push(i64::MAX);
        ends.sort_unstable();
        ends.dedup();
        let mut from = i64::MIN;
        let ranges =
            ends.into_iter().filter(|to| *to > i64::MIN).map(|to| Range { from: std::mem::replace(&mut from, to), to });
        Scan { ranges: ranges.collect(), split: u64::from(split.max(1)), state: Mutex::default() }
    }

    /// Part `number` of all ranges; None if it is empty, because there are more parts than tokens.
    fn part(&self, number: u64) -> Option<Range> {
        let Range { from, to } = self.ranges[(number / self.split) as usize % self.ranges.len()];
        let (start, length, split) = (i128::from(from), i128::from(to) - i128::from(from), i128::from(self.split));
        // It lies between the two ends.
        let end = |part: u64| (start + length * i128::from(part) / split) as i64;
        let part = number % self.split;
        Some(Range { from: end(part), to: end(part + 1) }).filter(|range| range.from < range.to)
    }

    /// Reads the next page. The first column of the rows is their token.
    pub(super) async fn page(&self, session: &Session, prepared: &PreparedStatement) -> Result<Answer, ExecutionError> {
        let Begun { range, pages, mut last } = self.begin();
        let (page, rest) = session.execute_single_page(prepared, (range.from, range.to), pages).await?;
        let (mut rows, mut partitions) = (0, 0);
        if let Ok(page) = page.into_rows_result() {
            rows = page.rows_num() as u64;
            for token in tokens(&page) {
                partitions += u64::from(last != Some(token));
                last = Some(token);
            }
        }
        if let PagingStateResponse::HasMorePages { state: pages } = rest {
            self.state().begun.push_back(Begun { range, pages, last });
        }
        Ok(Answer { rows: Some(rows), partitions: Some(partitions), ..Answer::default() })
    }

    /// The range to read from: one that was begun, or the next one.
    fn begin(&self) -> Begun {
        let mut state = self.state();
        if let Some(begun) = state.begun.pop_front() {
            return begun;
        }
        loop {
            let part = self.part(state.next);
            state.next = state.next.wrapping_add(1);
            if let Some(range) = part {
                return Begun { range, pages: PagingState::start(), last: None };
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tokens in the first column.
fn tokens(page: &scylla::response::query_result::QueryRowsResult) -> Vec<i64> {
    use scylla::deserialize::row::ColumnIterator;
    let Ok(rows) = page.rows::<ColumnIterator<'_, '_>>() else { return Vec::new() };
    let first = |row: Result<ColumnIterator<'_, '_>, _>| {
        let cell = row.ok()?.next()?.ok()?.slice?;
        Some(i64::from_be_bytes(cell.as_slice().try_into().ok()?))
    };
    rows.filter_map(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_the_ring_once() {
        for (ring, split) in [(vec![], 1), (vec![5, -7, 100], 1), (vec![i64::MIN, 0, 1, i64::MAX], 4), (vec![0], 8)] {
            let scan = Scan::new(&ring, split);
            let count = scan.ranges.len() as u64 * u64::from(split);
            let parts: Vec<Range> = (0..count).filter_map(|number| scan.part(number)).collect();
            assert_eq!((parts[0].from, parts[parts.len() - 1].to), (i64::MIN, i64::MAX));
            assert!(parts.windows(2).all(|pair| pair[0].to == pair[1].from && pair[0].from < pair[0].to));
            assert!(ring.iter().all(|token| *token == i64::MIN || parts.iter().any(|part| part.to == *token)));
            assert_eq!(scan.part(count), scan.part(0));
        }
    }

    #[test]
    fn a_begun_range_comes_before_the_next_one() {
        let scan = Scan::new(&[0], 1);
        let first = scan.begin();
        let range = first.range;
        scan.state().begun.push_back(first);
        assert_eq!(scan.begin().range, range);
        assert_eq!(scan.begin().range, Range { from: 0, to: i64::MAX });
        assert_eq!(scan.begin().range, range);
    }
}
