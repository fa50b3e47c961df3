//! The CPU quota of a process's cgroup, and what tasks of it waited for.

use super::stalled::{self, Waited};
use helenus_cassandra::foreign::read_proc;
use std::path::{Component, Path, PathBuf};

/// Cgroups above one that are looked at: a quota of any of them holds it up.
const MOST_ABOVE: usize = 12;

/// Where the kernel says what a cgroup was held up by.
#[derive(Debug, Default)]
pub(super) struct Cgroup {
    /// `cpu.stat` of the cgroup and of its ancestors.
    quotas: Vec<PathBuf>,
    /// The folder that has `cpu.pressure`.
    pressure: Option<PathBuf>,
}

/// Counts of a quota since the cgroup was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Throttled {
    pub(super) periods: i64,
    pub(super) throttled_periods: i64,
    pub(super) throttled_ns: i64,
}

impl Cgroup {
    pub(super) fn of(pid: u32) -> Cgroup {
        let listing = read_proc(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let mut cgroup = Cgroup::default();
        for line in listing.lines() {
            // Number, controllers (none in version 2), path.
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            let roots: Vec<PathBuf> = match controllers {
                "" => ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(PathBuf::from).into(),
                _ if controllers.split(',').any(|controller| controller == "cpu") => {
                    ["cpu", controllers].map(|name| Path::new("/sys/fs/cgroup").join(name)).into()
                }
                _ => continue,
            };
            for root in roots {
                let folders = folders(&root, path);
                let has = |file: &'static str| {
                    folders.iter().map(move |folder| folder.join(file)).filter(|file| file.exists())
                };
                if cgroup.quotas.is_empty() {
                    cgroup.quotas.extend(has("cpu.stat"));
                }
                if controllers.is_empty() && folders.first().is_some_and(|own| own.join("cpu.pressure").exists()) {
                    cgroup.pressure = folders.into_iter().next();
                }
            }
        }
        cgroup
    }

    /// Of the cgroup that was throttled most; None where none has a quota.
    pub(super) fn throttled(&self) -> Option<Throttled> {
        let counts = self.quotas.iter().filter_map(|file| quota(&read_proc(file).ok()?));
        counts.filter(|counts| counts.periods > 0).max_by_key(|counts| counts.throttled_ns)
    }

    pub(super) fn waited(&self, resource: &str) -> Option<Waited> {
        stalled::parse(&read_proc(self.pressure.as_ref()?.join(format!("{resource}.pressure"))).ok()?)
    }
}

/// The folder of a cgroup and those above it, up to the root of its hierarchy.
fn folders(root: &Path, path: &str) -> Vec<PathBuf> {
    // A path that leaves the root is of another namespace.
    let own: PathBuf = Path::new(path).components().filter(|part| matches!(part, Component::Normal(_))).collect();
    own.ancestors().take(MOST_ABOVE).map(|folder| root.join(folder)).filter(|folder| folder.is_dir()).collect()
}

/// `cpu.stat` of version 2 (`throttled_usec`) or 1 (`throttled_time`, in ns).
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
    fn a_path_stays_below_its_root() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("a/b")).unwrap();
        let below = |path| folders(root.path(), path);
        assert_eq!(below("/a/b"), [root.path().join("a/b"), root.path().join("a"), root.path().join("")]);
        assert_eq!(below("/../../a"), [root.path().join("a"), root.path().join("")]);
    }
}
