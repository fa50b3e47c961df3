//! Interrupts that each CPU served, from /proc/interrupts and /proc/softirqs.

use helenus_cassandra::interrupts::{parse, since};
use helenus_recording::Recorder;
use helenus_recording::rows::Interrupts as InterruptRow;
use std::collections::HashMap;
use std::io;

pub(crate) const SOURCE: &str = "interrupts";
pub(crate) const PROVIDER: &str = "proc-interrupts";

/// Kinds of interrupts, with the kernel's files that count them.
const FILES: [(&str, &str); 2] = [("hard", "/proc/interrupts"), ("soft", "/proc/softirqs")];

/// Interrupt counts of this machine.
#[derive(Debug)]
pub(crate) struct Interrupts {
    /// The node under whose name rows of this machine are written.
    node: String,
    last_ns: i64,
    kinds: [Counted; FILES.len()],
}

/// The counts of one file at the last reading.
#[derive(Debug, Default)]
struct Counted {
    /// Counts by the interrupt's name and by CPU.
    last: HashMap<String, Vec<(i64, i64)>>,
    /// Whether the file has been read before; if not, the difference is unknown.
    read: bool,
    text: String,
}

impl Interrupts {
    /// Begins to count. A file that can't be read is reported at every sample.
    pub(crate) fn new(node: &str, now_ns: i64) -> Interrupts {
        let mut interrupts =
            Interrupts { node: node.to_string(), last_ns: now_ns, kinds: std::array::from_fn(|_| Counted::default()) };
        for (counted, (_, file)) in interrupts.kinds.iter_mut().zip(FILES) {
            // Ignore the error: the next reading reports it.
            let _ = counted.read(file, |_, _, _, _| {});
        }
        interrupts
    }

    /// Adds a row per CPU and interrupt that occurred since the last call, and returns their number.
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
    /// Reads a file and reports the counts since the last reading: interrupt, device, CPU, count.
    fn read(&mut self, file: &str, mut each: impl FnMut(&str, &str, i64, i64)) -> io::Result<()> {
        self.text.clear();
        io::Read::read_to_string(&mut std::fs::File::open(file)?, &mut self.text)?;
        for line in parse(&self.text) {
            let before = self.last.get_mut(line.interrupt);
            if self.read {
                for (cpu, count) in &line.counts {
                    let known = match &before {
                        Some(known) => known.iter().find(|(known, _)| known == cpu).map(|(_, count)| *count),
                        // The count of a new device began at zero.
                        None => Some(0),
                    };
                    // A CPU that has just come online gets its first row at the next reading.
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

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_cassandra::interrupts::Line;

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
}
