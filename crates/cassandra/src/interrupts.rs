//! The kernel's counts of interrupts: /proc/interrupts and /proc/softirqs.

/// A line: an interrupt and how often each CPU served it.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub interrupt: &'a str,
    pub device: &'a str,
    /// Pairs of CPU and count.
    pub counts: Vec<(i64, i64)>,
}

/// The count since the last reading. The kernel counts hard interrupts in 32 bits, from zero for a new device; a
/// decrease by less than half of that range means a new device with the same number.
#[must_use]
pub fn since(before: i64, now: i64) -> i64 {
    const WHOLE: i64 = 1 << 32;
    match now - before {
        forward if forward >= 0 => forward,
        back if back < -WHOLE / 2 => back + WHOLE,
        _ => now,
    }
}

/// The lines of either file below the first, which names the CPUs that are online. Lines with less than a count per
/// CPU (ERR, MIS) are counted by no CPU and left out.
pub fn parse(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let cpus: Vec<i64> =
        head.split_ascii_whitespace().filter_map(|word| word.strip_prefix("CPU")?.parse().ok()).collect();
    lines.filter_map(move |line| {
        let (interrupt, mut rest) = line.split_once(':')?;
        let mut counts = Vec::with_capacity(cpus.len());
        for cpu in &cpus {
            let text = rest.trim_start();
            let (number, after) = text.split_at(text.find(' ').unwrap_or(text.len()));
            counts.push((*cpu, number.parse().ok()?));
            rest = after;
        }
        let interrupt = interrupt.trim();
        // A numbered line has the controller, the controller's number, and after two spaces the devices.
        let is_number = interrupt.bytes().all(|byte| byte.is_ascii_digit());
        let device = if is_number { rest.rsplit("  ").next().unwrap_or_default() } else { rest };
        Some(Line { interrupt, device: device.trim(), counts })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SOME: &str = "           CPU0       CPU2       \n \
        24:          1          0  IO-APIC   5-edge      ACPI:Ged\n \
        36:          0    1574302 PCI-MSIX-0000:00:02.0   1-edge      eth0, eth1\n\
        101:          3          4     GICv3  27 Level     arch_timer\n\
        LOC:   34123473   26870637   Local timer interrupts\n\
        ERR:          0\n";

    #[test]
    fn the_kernels_lines_are_read() {
        let lines: Vec<Line<'_>> = parse(SOME).collect();
        let line = |interrupt, device, first, second| Line { interrupt, device, counts: vec![(0, first), (2, second)] };
        assert_eq!(
            lines,
            [
                line("24", "ACPI:Ged", 1, 0),
                line("36", "eth0, eth1", 0, 1_574_302),
                line("101", "arch_timer", 3, 4),
                line("LOC", "Local timer interrupts", 34_123_473, 26_870_637),
            ]
        );
        let soft: Vec<Line<'_>> = parse("   CPU0 CPU1\n NET_RX:   5   6\n").collect();
        assert_eq!(soft, [Line { interrupt: "NET_RX", device: "", counts: vec![(0, 5), (1, 6)] }]);
    }

    #[test]
    fn counts_go_on_over_32_bits_and_begin_anew_with_a_device() {
        assert_eq!(since(5, 8), 3);
        assert_eq!(since((1 << 32) - 2, 3), 5);
        assert_eq!(since(1000, 3), 3);
    }

    proptest! {
        #[test]
        fn no_text_can_make_it_panic(head in "(CPU[0-9]{0,3} ?){0,3}", text: String, now: u32, before: u32) {
            let _ = parse(&format!("{head}\n{text}")).count();
            let _ = parse(&text).count();
            prop_assert!(since(i64::from(before), i64::from(now)) >= 0);
        }
    }
}
