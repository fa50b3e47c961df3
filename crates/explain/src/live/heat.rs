//! Heatmap of a window's requests: time of the answer by response time.

use super::answers::LiveHeat;
use super::histogram::{Sum, low_ns};
use super::{Live, LiveBy, LiveWindow};
use crate::percentiles::ms;

/// Histogram bins per row of the heatmap: half a power of two.
const BINS_OF_A_ROW: u16 = 4;

impl Live {
    /// The heatmap of a window, with at most `most_columns` columns; `of` limits it to one statement, client or node.
    pub fn heat(&self, window: LiveWindow, most_columns: usize, of: Option<(LiveBy, &str)>) -> LiveHeat {
        let merged = self.merged(window, most_columns);
        let columns: Vec<Sum> = merged
            .chunks
            .iter()
            .map(|bins| {
                let mut sum = Sum::default();
                bins.iter().filter_map(|bin| self.cell_of(bin, window.node, of)).for_each(|cell| sum.add(&cell.times));
                sum
            })
            .collect();
        let mut heat =
            LiveHeat { from_s: merged.from_s, bin_s: merged.bin_s, columns: columns.len(), ..LiveHeat::default() };
        let ranges: Vec<(u16, u16)> = columns.iter().filter_map(Sum::range).collect();
        let lowest = ranges.iter().map(|(low, _)| low / BINS_OF_A_ROW).min();
        let highest = ranges.iter().map(|(_, high)| high / BINS_OF_A_ROW).max();
        let (Some(lowest), Some(highest)) = (lowest, highest) else { return heat };
        heat.low_ms = (lowest..=highest).map(|row| ms(low_ns(row * BINS_OF_A_ROW))).collect();
        heat.high_ms = (lowest..=highest).map(|row| ms(low_ns((row + 1) * BINS_OF_A_ROW))).collect();
        for (column, sum) in columns.iter().enumerate() {
            let mut rows = vec![0.0; heat.low_ms.len()];
            sum.bins().for_each(|(bin, count)| rows[usize::from(bin / BINS_OF_A_ROW - lowest)] += count);
            let counted = rows.into_iter().enumerate().filter(|(_, count)| *count > 0.0);
            heat.cells.extend(counted.map(|(row, count)| (column, row, count)));
        }
        heat
    }
}
