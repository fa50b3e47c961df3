//! The cgroups of a process: their folders, and whether they are frozen.

use helenus_cassandra::foreign::read_proc;
use std::path::{Component, Path, PathBuf};

/// Where all hierarchies are mounted.
pub(crate) const MOUNTED: &str = "/sys/fs/cgroup";
/// The number of parent cgroups that are read: each of them can hold up the process.
const MOST_ABOVE: usize = 12;

/// The folders of a cgroup and its parents, up to the root of the hierarchy.
pub(crate) fn folders(root: &Path, path: &str) -> Vec<PathBuf> {
    // A path that leaves the root belongs to another namespace: drop `..`.
    let own: PathBuf = Path::new(path).components().filter(|part| matches!(part, Component::Normal(_))).collect();
    own.ancestors().take(MOST_ABOVE).map(|folder| root.join(folder)).filter(|folder| folder.is_dir()).collect()
}

/// Whether the kernel holds all processes of the cgroup of a process, as `docker pause` and `systemctl freeze` make it do. The
/// state of such a process in /proc is that of one that sleeps.
pub(crate) fn is_frozen(pid: u32) -> bool {
    read_proc(format!("/proc/{pid}/cgroup")).is_ok_and(|listing| is_frozen_in(&listing, Path::new(MOUNTED)))
}

/// The same for a text of /proc/PID/cgroup, below the folder in which all hierarchies are mounted.
fn is_frozen_in(listing: &str, root: &Path) -> bool {
    listing.lines().any(|line| {
        // The fields are number, controllers (empty in version 2) and path.
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { return false };
        let says = |hierarchy: PathBuf, file: &str, is_it: &dyn Fn(&str) -> bool| {
            let own = folders(&hierarchy, path).into_iter().next();
            own.and_then(|own| read_proc(own.join(file)).ok()).is_some_and(|text| text.lines().any(is_it))
        };
        // Both files also tell of a frozen parent.
        match controllers {
            "" => [root.to_path_buf(), root.join("unified")]
                .into_iter()
                .any(|hierarchy| says(hierarchy, "cgroup.events", &|line| line == "frozen 1")),
            _ if controllers.split(',').any(|controller| controller == "freezer") => {
                says(root.join("freezer"), "freezer.state", &|line| line == "FROZEN")
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_below_its_root() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("a/b")).unwrap();
        let below = |path| folders(root.path(), path);
        assert_eq!(below("/a/b"), [root.path().join("a/b"), root.path().join("a"), root.path().join("")]);
        assert_eq!(below("/../../a"), [root.path().join("a"), root.path().join("")]);
    }

    #[test]
    fn a_frozen_cgroup_is_known_in_both_versions() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("docker/a/cgroup.events", "populated 1\nfrozen 1\n");
        write("docker/b/cgroup.events", "populated 1\nfrozen 0\n");
        write("freezer/old/freezer.state", "FROZEN\n");
        write("freezer/new/freezer.state", "THAWED\n");
        write("unified/u/cgroup.events", "frozen 1\n");
        let is_frozen = |listing| is_frozen_in(listing, root.path());
        assert!(is_frozen("0::/docker/a\n") && is_frozen("0::/u\n") && is_frozen("5:cpu:/x\n3:freezer:/old\n0::/\n"));
        assert!(!is_frozen("0::/docker/b\n") && !is_frozen("3:freezer:/new\n0::/docker/b\n"));
        assert!(!is_frozen("0::/gone\n") && !is_frozen("") && !is_frozen("what\n"));
    }
}
