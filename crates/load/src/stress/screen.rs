//! The lines that cassandra-stress prints and scripts parse: the table of intervals and the results.

use super::figures::Figures;

/// The header of the table of intervals.
pub(super) fn header() -> String {
    let columns = [
        ("total ops", 10),
        ("op/s", 8),
        ("pk/s", 8),
        ("row/s", 8),
        ("mean", 8),
        ("med", 8),
        (".95", 8),
        (".99", 8),
        (".999", 8),
        ("max", 8),
        ("time", 7),
        ("stderr", 9),
        ("errors", 7),
        ("gc: #", 7),
        ("max ms", 8),
        ("sum ms", 8),
        ("sdv ms", 8),
        ("mb", 8),
    ];
    let columns = columns.map(|(name, width)| format!("{name:>width$}"));
    format!("{:<10}{}", "type", columns.join(","))
}

/// A line of the table. `total` is the number of requests since the start, `time_s` the time since then.
pub(super) fn row(kind: &str, total: u64, interval: &Figures, time_s: f64, uncertainty: f64) -> String {
    let rate = |count: u64| format!("{:>8.0}", interval.per_s(count));
    let ms = |ms: f64| format!("{ms:>8.1}");
    // GC figures are unknown, as in cassandra-stress without JMX.
    let gc = format!("{:>7},{:>8},{:>8},{:>8},{:>8}", 0, 0, 0, 0, 0);
    let columns = [
        format!("{total:>10}"),
        rate(interval.requests),
        rate(interval.partitions),
        rate(interval.rows),
        ms(interval.mean_ms()),
        ms(interval.percentile_ms(50.0)),
        ms(interval.percentile_ms(95.0)),
        ms(interval.percentile_ms(99.0)),
        ms(interval.percentile_ms(99.9)),
        ms(interval.max_ms()),
        format!("{time_s:>7.1}"),
        format!("{uncertainty:>9.5}"),
        format!("{:>7}", interval.errors),
        gc,
    ];
    format!("{:<10}{}", format!("{kind},"), columns.join(","))
}

/// The results at the end, of all operations together and of each by its name.
pub(super) fn results(total: &Figures, each: &[(&str, Figures)]) -> String {
    let listed = |show: &dyn Fn(&Figures) -> String| {
        let parts: Vec<String> = each.iter().map(|(name, figures)| format!("{name}: {}", show(figures))).collect();
        format!("[{}]", parts.join(", "))
    };
    let rate = |label: &str, unit: &str, count: &dyn Fn(&Figures) -> u64| {
        let per_s = |figures: &Figures| grouped(figures.per_s(count(figures)), 0);
        let of_each = listed(&|figures| format!("{} {unit}", per_s(figures)));
        format!("{label:<26}: {:>8} {unit:<5} {of_each}\n", per_s(total))
    };
    let latency = |label: &str, value: &dyn Fn(&Figures) -> f64| {
        let of_each = listed(&|figures| format!("{} ms", grouped(value(figures), 1)));
        format!("{label:<26}: {:>6.1} ms {of_each}\n", value(total))
    };
    let count = |label: &str, value: &dyn Fn(&Figures) -> u64| {
        let of_each = listed(&|figures| grouped(value(figures) as f64, 0));
        format!("{label:<26}: {:>10} {of_each}\n", grouped(value(total) as f64, 0))
    };
    let seconds = total.seconds as u64;
    [
        "\n\nResults:\n".to_string(),
        rate("Op rate", "op/s", &|figures| figures.requests),
        rate("Partition rate", "pk/s", &|figures| figures.partitions),
        rate("Row rate", "row/s", &|figures| figures.rows),
        latency("Latency mean", &Figures::mean_ms),
        latency("Latency median", &|figures| figures.percentile_ms(50.0)),
        latency("Latency 95th percentile", &|figures| figures.percentile_ms(95.0)),
        latency("Latency 99th percentile", &|figures| figures.percentile_ms(99.0)),
        latency("Latency 99.9th percentile", &|figures| figures.percentile_ms(99.9)),
        latency("Latency max", &Figures::max_ms),
        count("Total partitions", &|figures| figures.partitions),
        count("Total errors", &|figures| figures.errors),
        "Total GC count            : 0\nTotal GC memory           : 0.000 KiB\n".to_string(),
        "Total GC time             :    0.0 seconds\nAvg GC time               :    NaN ms\n".to_string(),
        "StdDev GC time            :    0.0 ms\n".to_string(),
        format!("Total operation time      : {:02}:{:02}:{:02}\n", seconds / 3600, seconds / 60 % 60, seconds % 60),
    ]
    .concat()
}

/// Formats a number with commas between thousands.
fn grouped(number: f64, decimals: usize) -> String {
    let plain = format!("{number:.decimals$}");
    let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut out = String::new();
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;

    fn figures(requests: u64, ms: u64, errors: u64) -> Figures {
        let mut latency = Histogram::new(3).unwrap();
        (1..=requests).for_each(|number| latency.record(ms * 1_000_000 * number / requests).unwrap());
        Figures { requests, partitions: requests - errors, rows: requests * 3, errors, latency, seconds: 2.5 }
    }

    #[test]
    fn lines_are_those_that_scripts_read() {
        let (read, write) = (figures(30_000, 4, 0), figures(10_000, 1500, 7));
        let total = Figures::sum(&[read.clone(), write.clone()]).unwrap();
        let lines = [
            header(),
            row("READ", 30_000, &read, 2.5, 0.01234),
            row("total", 1_040_000, &total, 2.5, f64::NAN),
            results(&total, &[("READ", read), ("WRITE", write)]),
        ];
        insta::assert_snapshot!(lines.join("\n"));
    }
}
