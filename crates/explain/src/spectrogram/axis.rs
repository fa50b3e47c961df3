//! The duration axis of a spectrogram: columns that are evenly wide on a logarithmic scale.

/// The axis reaches from 1 ns to 10 s.
const DECADES: usize = 10;

/// The upper end of the axis. Longer events are in the last column.
pub const fn highest_ns() -> i64 {
    10_000_000_000
}

/// Bounds of columns evenly wide in the logarithm: column `c` holds what took `edges[c]` or more and less than
/// `edges[c + 1]`, in whole nanoseconds. So near 1 ns a column may hold nothing.
pub(crate) fn even(columns: usize) -> Vec<i64> {
    let mut edges: Vec<i64> = Vec::with_capacity(columns + 1);
    for column in 0..columns {
        let rough = 10f64.powf((column * DECADES) as f64 / columns as f64).ceil() as i64;
        let mut edge = rough.max(1);
        // Use exactly the edges that the query uses, however the power is rounded.
        while edge > 1 && place(edge - 1, columns) >= column as i64 {
            edge -= 1;
        }
        while place(edge, columns) < column as i64 {
            edge += 1;
        }
        edges.push(edge);
    }
    edges.push(highest_ns());
    edges
}

/// The column of a duration, computed as in the queries; longer durations than the axis get an index beyond the last
/// column.
pub(crate) fn place(duration_ns: i64, columns: usize) -> i64 {
    ((duration_ns.max(1) as f64).log10() * columns as f64 / DECADES as f64).floor() as i64
}

/// Bounds of the summary's bins: each is twice the one before, up to beyond the end of the axis.
pub(crate) fn doubling() -> Vec<i64> {
    let mut edges = vec![1i64];
    while let Some(last) = edges.last().copied().filter(|last| *last < highest_ns()) {
        edges.push(last * 2);
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_begin_exactly_at_their_bounds() {
        for columns in [1, 7, 10, 40, 50, 77, 100, 120, 133, 200, 400] {
            let edges = even(columns);
            assert_eq!((edges.len(), edges[0], edges[columns]), (columns + 1, 1, 10_000_000_000));
            assert!(edges.is_sorted());
            for (column, edge) in (0..).zip(&edges[..columns]).skip(1) {
                assert!(place(*edge, columns) >= column, "{columns} {column}");
                assert!(place(edge - 1, columns) < column, "{columns} {column}");
            }
        }
        assert_eq!(even(10)[..5], [1, 10, 100, 1000, 10_000]);
        assert_eq!((doubling()[0], doubling()[10], doubling().len()), (1, 1024, 35));
    }
}
