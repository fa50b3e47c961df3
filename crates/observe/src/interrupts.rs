//! What interrupts each CPU served, from /proc/interrupts and /proc/softirqs.

use helenus_recording::Recorder;
use helenus_recording::rows::Interrupts as InterruptRow;
use std::collections::HashMap;
use std::io;

pub(crate) const SOURCE: &str = "interrupts";
pub(crate) const PROVIDER: &str = "proc-interrupts";

/// The kinds of interrupts, and where the kernel counts them.
const FILES: [(&str, &str); 2] = [("hard", "/proc/interrupts"), ("soft", "/proc/softirqs")];

/// The interrupts of this machine.
#[derive(Debug)]
pub(crate) struct Interrupts {
    /// The node that stands for this machine in the rows.
    node: String,
    last_ns: i64,
    kinds: [Counted; FILES.len()],
}

/// The counts of one file since boot, as they were when it was read last.
#[derive(Debug, Default)]
struct Counted {
    /// By the interrupt's name, by CPU.
    last: HashMap<String, Vec<(i64, i64)>>,
    /// None where it has not been read yet, and then nothing is known of what came since.
    read: bool,
    text: String,
}

/// A line: an interrupt and how often each CPU served it.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    interrupt: &'a str,
    device: &'a str,
    /// CPU and count.
    counts: Vec<(i64, i64)>,
}

impl Interrupts {
    /// Begins to count. A file that can't be read is told of by every sample.
    pub(crate) fn new(node: &str, now_ns: i64) -> Interrupts {
        let mut interrupts =
            Interrupts { node: node.to_string(), last_ns: now_ns, kinds: std::array::from_fn(|_| Counted::default()) };
        for (counted, (_, file)) in interrupts.kinds.iter_mut().zip(FILES) {
            // It is tried again, and said then.
            let _ = counted.read(file, |_, _, _, _| {});
        }
        interrupts
    }

    /// Adds a row per CPU and interrupt that came since the last call, and returns their number.
    pub(crate) fn sample(&mut self, recorder: &Recorder) -> io::Result<u64> {
        let time_ns = recorder.clock().now_ns();
        let interval_ns = time_ns - std::mem::replace(&mut self.last_ns, time_ns);
        let mut rows = 0;
        let mut outcome = Ok(());
        for (counted, (kind, file)) in self.kinds.iter_mut().zip(FILES) {
            let node = &self.node;
            let read = counted.read(file, |interrupt, device, cpu, count| {
                rows += 1;
                recorder.append(InterruptRow { time_ns, interval_ns, node, cpu, kind, interrupt, device, count });
            });
            outcome = outcome.and(read);
        }
        outcome.map(|()| rows)
    }
}

impl Counted {
    /// Reads a file, and tells what came since it was read last: interrupt, device, CPU, count.
    fn read(&mut self, file: &str, mut each: impl FnMut(&str, &str, i64, i64)) -> io::Result<()> {
        self.text.clear();
        io::Read::read_to_string(&mut std::fs::File::open(file)?, &mut self.text)?;
        for line in parse(&self.text) {
            let before = self.last.get_mut(line.interrupt);
            if self.read {
                for (cpu, count) in &line.counts {
                    let known = match &before {
                        Some(known) => known.iter().find(|(known, _)| known == cpu).map(|(_, count)| *count),
                        // A device that was not there began at zero.
                        None => Some(0),
                    };
                    // A CPU that came online just now has no row yet.
                    let since = known.map_or(0, |known| since(known, *count));
                    if since > 0 {
                        each(line.interrupt, line.device, *cpu, since);
                    }
                }
            }
            match before {
                Some(before) => *before = line.counts,
                None => {
                    self.last.insert(line.interrupt.to_string(), line.counts);
                }
            }
        }
        self.read = true;
        Ok(())
    }
}

/// How often it came since the last time. The kernel counts hard interrupts in 32 bits, from zero for a new device;
/// one that goes back less than halfway is another device's under the same number.
fn since(before: i64, now: i64) -> i64 {
    const WHOLE: i64 = 1 << 32;
    match now - before {
        forward if forward >= 0 => forward,
        back if back < -WHOLE / 2 => back + WHOLE,
        _ => now,
    }
}

/// The lines of either file below the first, which names the CPUs that are online. Lines with less than a count per
/// CPU (ERR, MIS) are counted by no CPU and left out.
fn parse(text: &str) -> impl Iterator<Item = Line<'_>> {
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
        // Of one with a number come the controller, its own number for it, and after two spaces the devices.
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

    #[test]
    fn this_machines_interrupts_are_read() {
        for (kind, file) in FILES {
            let text = std::fs::read_to_string(file).unwrap();
            let lines: Vec<Line<'_>> = parse(&text).collect();
            let timer = if kind == "hard" { "LOC" } else { "TIMER" };
            if cfg!(target_arch = "x86_64") || kind == "soft" {
                assert!(lines.iter().any(|line| line.interrupt == timer), "{text}");
            }
            assert!(lines.iter().all(|line| !line.counts.is_empty()), "{text}");
        }
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
