//! The CPU quota of a process's cgroup, and what tasks of the cgroup waited for.

use super::stalled::{self, RESOURCES};
use crate::cgroups::{MOUNTED, folders};
use helenus_cassandra::foreign::read_proc;
use std::path::{Path, PathBuf};

/// The cgroup that a process is in, which may change, with its counters at the last reading.
#[derive(Debug, Default)]
pub(super) struct Cgroup {
    pid: u32,
    /// The text of /proc/PID/cgroup, which changes when the process moves to another cgroup.
    listing: String,
    files: Files,
    /// Counters at the last reading, for each file of `files.quotas`.
    throttled: Vec<Option<Throttled>>,
    /// Time in which a task of the cgroup waited for each of [`RESOURCES`].
    waited_ns: [Option<i64>; RESOURCES.len()],
}

/// The delays of a cgroup in an interval; None if the kernel does not report them, or without a quota.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct HeldUp {
    pub(super) throttled: Option<Throttled>,
    /// Pressure, in the order of [`RESOURCES`].
    pub(super) waited_ns: [Option<i64>; RESOURCES.len()],
}

/// Counts of a quota, since its cgroup was created or in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Throttled {
    pub(super) periods: i64,
    pub(super) throttled_periods: i64,
    pub(super) throttled_ns: i64,
}

/// The kernel's files with a cgroup's delays.
#[derive(Debug, Default)]
struct Files {
    /// `cpu.stat` of the cgroup and of its ancestors, beginning with its own.
    quotas: Vec<PathBuf>,
    /// The cgroup's folder in version 2, which has the file `cpu.pressure`.
    pressure: Option<PathBuf>,
}

impl Cgroup {
    pub(super) fn of(pid: u32) -> Cgroup {
        let mut cgroup = Cgroup { pid, ..Cgroup::default() };
        cgroup.since_last();
        cgroup
    }

    /// The process's delays since the last call; unknown for an interval in which it moved to another cgroup.
    pub(super) fn since_last(&mut self) -> HeldUp {
        // A process that has ended keeps its last cgroup.
        if let Ok(listing) = read_proc(format!("/proc/{}/cgroup", self.pid)) {
            self.follow(listing, Path::new(MOUNTED));
        }
        self.read()
    }

    fn follow(&mut self, listing: String, root: &Path) {
        if listing != self.listing {
            let files = Files::of(&listing, root);
            *self = Cgroup {
                pid: self.pid,
                listing,
                throttled: vec![None; files.quotas.len()],
                files,
                waited_ns: [None; 3],
            };
        }
    }

    fn read(&mut self) -> HeldUp {
        // The cgroup's own quota comes last, so that it wins if several delayed it equally.
        let quotas = self.files.quotas.iter().zip(&mut self.throttled).rev();
        let throttled = quotas.filter_map(|(file, last)| {
            let now = quota(&read_proc(file).ok()?)?;
            let before = last.replace(now)?;
            (now.periods > 0).then(|| now.since(before))
        });
        let throttled = throttled.max_by_key(|counts| counts.throttled_ns);
        let mut waited_ns = [None; RESOURCES.len()];
        for ((resource, last), since) in RESOURCES.iter().zip(&mut self.waited_ns).zip(&mut waited_ns) {
            let before = std::mem::replace(last, self.files.waited_ns(resource));
            *since = last.zip(before).map(|(now, before)| (now - before).max(0));
        }
        HeldUp { throttled, waited_ns }
    }
}

impl Throttled {
    /// A cgroup that was removed and created again counts from zero.
    fn since(self, before: Throttled) -> Throttled {
        Throttled {
            periods: (self.periods - before.periods).max(0),
            throttled_periods: (self.throttled_periods - before.throttled_periods).max(0),
            throttled_ns: (self.throttled_ns - before.throttled_ns).max(0),
        }
    }
}

impl Files {
    /// The files for a text of /proc/PID/cgroup, below the folder in which all hierarchies are mounted.
    fn of(listing: &str, root: &Path) -> Files {
        let mut files = Files::default();
        for line in listing.lines() {
            // The fields are number, controllers (empty in version 2) and path.
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            let hierarchies: Vec<PathBuf> = match controllers {
                "" => vec![root.to_path_buf(), root.join("unified")],
                _ if controllers.split(',').any(|controller| controller == "cpu") => {
                    ["cpu", controllers].map(|name| root.join(name)).into()
                }
                _ => continue,
            };
            for hierarchy in hierarchies {
                let folders = folders(&hierarchy, path);
                if files.quotas.is_empty() {
                    files.quotas = folders.iter().map(|folder| folder.join("cpu.stat")).collect();
                    files.quotas.retain(|file| file.exists());
                }
                if controllers.is_empty() && folders.first().is_some_and(|own| own.join("cpu.pressure").exists()) {
                    files.pressure = folders.into_iter().next();
                }
            }
        }
        files
    }

    fn waited_ns(&self, resource: &str) -> Option<i64> {
        let text = read_proc(self.pressure.as_ref()?.join(format!("{resource}.pressure"))).ok()?;
        Some(stalled::parse(&text)?.some_ns)
    }
}

/// Parses `cpu.stat` of version 2 (`throttled_usec`) or 1 (`throttled_time`, in ns).
fn quota(text: &str) -> Option<Throttled> {
    let number = |name: &str| {
        let of = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<i64>().ok();
        text.lines().find_map(of)
    };
    Some(Throttled {
        periods: number("nr_periods")?,
        throttled_periods: number("nr_throttled")?,
        throttled_ns: match number("throttled_usec") {
            Some(us) => us.saturating_mul(1000),
            None => number("throttled_time")?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read() {
        let wanted = Throttled { periods: 9, throttled_periods: 4, throttled_ns: 123_000 };
        let two = "usage_usec 5\nnr_periods 9\nnr_throttled 4\nthrottled_usec 123\nnr_bursts 0\n";
        assert_eq!(quota(two), Some(wanted));
        assert_eq!(quota("nr_periods 9\nnr_throttled 4\nthrottled_time 123000\n"), Some(wanted));
        assert_eq!(quota("usage_usec 5\n"), None);
    }

    #[test]
    fn quotas_are_followed_that_are_set_later_and_elsewhere() {
        let root = tempfile::tempdir().unwrap();
        let has = |group: &str, periods: i64, us: i64| {
            let folder = root.path().join("cpu").join(group);
            std::fs::create_dir_all(&folder).unwrap();
            let text = format!("nr_periods {periods}\nnr_throttled {periods}\nthrottled_time {}\n", us * 1000);
            std::fs::write(folder.join("cpu.stat"), text).unwrap();
        };
        let mut cgroup = Cgroup::default();
        let mut seen = |listing: &str| {
            cgroup.follow(listing.to_string(), root.path());
            cgroup.read().throttled
        };
        let some =
            |count, us: i64| Some(Throttled { periods: count, throttled_periods: count, throttled_ns: us * 1000 });
        // The parent cgroup had a quota once.
        has("", 500, 90_000);
        has("a", 0, 0);
        has("b", 70, 7000);
        let (in_a, in_b) = ("4:memory:/b\n1:cpu:/a\n0::/\n", "4:memory:/b\n1:cpu:/b\n0::/\n");
        assert_eq!(seen(in_a), None, "nothing was read before");
        assert_eq!(seen(in_a), some(0, 0), "of the one above");
        has("a", 3, 40);
        assert_eq!(seen(in_a), some(3, 40), "a quota that is set meanwhile");
        has("b", 75, 7500);
        assert_eq!(seen(in_b), None, "moved");
        has("b", 76, 7600);
        assert_eq!(seen(in_b), some(1, 100));
        has("b", 1, 5);
        assert_eq!(seen(in_b), some(0, 0), "made again");
    }
}
