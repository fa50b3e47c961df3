//! Time of each CPU by state, from /proc/stat.

use helenus_recording::Recorder;
use helenus_recording::rows::CpuSample;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Ticks of one CPU since boot, in the order of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
type Ticks = [i64; 8];

/// Reads the CPU times of this machine.
#[derive(Debug)]
pub struct Cpus {
    file: File,
    /// The node under whose name rows of this machine are written.
    node: String,
    tick_ns: i64,
    last: Vec<(i64, Ticks)>,
    last_ns: i64,
    buffer: Vec<u8>,
}

impl Cpus {
    pub fn new(node: &str, now_ns: i64) -> io::Result<Cpus> {
        let mut cpus = Cpus {
            file: File::open("/proc/stat")?,
            node: node.to_string(),
            // SAFETY: sysconf takes no pointers.
            tick_ns: 1_000_000_000 / unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1),
            last: Vec::new(),
            last_ns: now_ns,
            buffer: vec![0; 64 << 10],
        };
        cpus.last = cpus.read()?;
        Ok(cpus)
    }

    /// Adds a row per CPU for the time since the last call, and returns their number.
    pub fn sample(&mut self, recorder: &Recorder) -> io::Result<u64> {
        let now_ns = recorder.clock().now_ns();
        let now = self.read()?;
        let interval_ns = now_ns - self.last_ns;
        let mut rows = 0;
        for (cpu, ticks) in &now {
            // A CPU that has just come online gets its first row at the next reading.
            let Some((_, before)) = self.last.iter().find(|(known, _)| known == cpu) else { continue };
            // The kernel's iowait and idle can step back a little.
            let ns = |field: usize| (ticks[field] - before[field]).max(0) * self.tick_ns;
            recorder.append(CpuSample {
                time_ns: now_ns,
                interval_ns,
                node: &self.node,
                cpu: *cpu,
                user_ns: ns(0) + ns(1),
                system_ns: ns(2),
                idle_ns: ns(3),
                iowait_ns: ns(4),
                irq_ns: ns(5),
                softirq_ns: ns(6),
                steal_ns: ns(7),
            });
            rows += 1;
        }
        (self.last, self.last_ns) = (now, now_ns);
        Ok(rows)
    }

    fn read(&mut self) -> io::Result<Vec<(i64, Ticks)>> {
        let length = self.file.read_at(&mut self.buffer, 0)?;
        Ok(parse(std::str::from_utf8(&self.buffer[..length]).unwrap_or_default()))
    }
}

/// Parses the lines of single CPUs. The first line is their sum, and the lines after them are ignored.
fn parse(stat: &str) -> Vec<(i64, Ticks)> {
    let cpu = |line: &str| {
        let mut fields = line.strip_prefix("cpu")?.split_ascii_whitespace();
        let number = fields.next()?.parse().ok()?;
        let mut ticks = Ticks::default();
        for tick in &mut ticks {
            *tick = fields.next()?.parse().ok()?;
        }
        Some((number, ticks))
    };
    stat.lines().skip(1).map_while(cpu).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_kernels_lines_are_read() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu12 8 7 6 5 4 3 2 1 0 0\nintr 5 cpu\n";
        assert_eq!(parse(text), [(0, [1, 2, 3, 4, 5, 6, 7, 8]), (12, [8, 7, 6, 5, 4, 3, 2, 1])]);
    }

    #[test]
    fn this_machines_cpus_are_all_there() {
        let mut cpus = Cpus::new("n", 0).unwrap();
        let online = std::fs::read_to_string("/proc/cpuinfo").unwrap().matches("processor\t").count();
        assert_eq!(cpus.read().unwrap().len(), online);
    }

    proptest! {
        #[test]
        fn no_text_can_make_it_panic(text: String) {
            let _ = parse(&text);
        }
    }
}
