//! How a node's machine and process are set up, as far as that slows Cassandra down: read once, from /proc and /sys.
//!
//! A virtual machine or a container lacks many of these files. A setting whose file is missing, or may not be read, has no
//! row.

use helenus_cassandra::foreign::{read_memory_of, read_proc};
use helenus_cassandra::target::jvm_options;
use helenus_recording::Recorder;
use helenus_recording::rows::Setting;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most CPUs that are asked for their governor.
const MOST_CPUS: usize = 4096;
/// The most open files that are counted.
const MOST_FILES: usize = 2_000_000;

/// A setting's name, its value, and the file that it is from.
type Fact = (&'static str, String, String);

/// Where /proc and /sys are.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) proc: PathBuf,
    pub(super) sys: PathBuf,
}

impl Default for Root {
    fn default() -> Root {
        Root { proc: "/proc".into(), sys: "/sys".into() }
    }
}

impl Root {
    /// Appends the settings of a node's machine and process.
    pub(super) fn append(&self, recorder: &Recorder, node: &str, pid: u32) {
        let time_ns = recorder.clock().now_ns();
        for (setting, value, source) in self.machine().into_iter().chain(self.process(pid)) {
            recorder.append(Setting { time_ns, node, setting, value: &value, source: &source });
        }
    }

    fn machine(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        let cpu = "devices/system/cpu/cpu0/cpufreq";
        facts.extend(self.governors());
        facts.extend(self.sys("machine.cpu_driver", &format!("{cpu}/scaling_driver"), trimmed));
        facts.extend(self.sys("machine.cpu_max_khz", &format!("{cpu}/cpuinfo_max_freq"), number));
        facts.extend(self.sys("machine.huge_pages", "kernel/mm/transparent_hugepage/enabled", chosen));
        facts.extend(self.sys("machine.huge_pages_defrag", "kernel/mm/transparent_hugepage/defrag", chosen));
        facts.extend(self.sys("machine.numa_nodes", "devices/system/node/online", count_of_ranges));
        let clock = "devices/system/clocksource/clocksource0";
        facts.extend(self.sys("machine.clock_source", &format!("{clock}/current_clocksource"), trimmed));
        facts.extend(self.sys("machine.clock_sources", &format!("{clock}/available_clocksource"), trimmed));
        facts.extend(self.proc("machine.swap_bytes", "meminfo", |text| kib(text, "SwapTotal:")));
        facts.extend(self.proc("machine.swappiness", "sys/vm/swappiness", number));
        facts.extend(self.proc("machine.zone_reclaim_mode", "sys/vm/zone_reclaim_mode", number));
        facts.extend(self.proc("machine.overcommit_memory", "sys/vm/overcommit_memory", number));
        facts.extend(self.proc("machine.max_map_count", "sys/vm/max_map_count", number));
        facts
    }

    fn process(&self, pid: u32) -> Vec<Fact> {
        let mut facts = Vec::new();
        let file = |name: &str| format!("{pid}/{name}");
        for (setting, label) in [("process.swapped_bytes", "VmSwap:"), ("process.locked_bytes", "VmLck:")] {
            facts.extend(self.proc(setting, &file("status"), |text| kib(text, label)));
        }
        facts.extend(self.proc("process.threads", &file("status"), |text| number(labelled(text, "Threads:")?)));
        for (setting, label) in [
            ("process.max_open_files", "Max open files"),
            ("process.max_processes", "Max processes"),
            ("process.max_locked_bytes", "Max locked memory"),
            ("process.max_address_space_bytes", "Max address space"),
        ] {
            facts.extend(self.proc(setting, &file("limits"), |text| limit(text, label)));
        }
        let folder = self.proc.join(file("fd"));
        let open = std::fs::read_dir(&folder).map(|files| files.take(MOST_FILES).count());
        facts.extend(open.ok().map(|count| ("process.open_files", count.to_string(), shown(&folder))));
        let path = self.proc.join(file("maps"));
        if let Ok(maps) = read_proc(&path) {
            facts.push(("process.maps", maps.lines().count().to_string(), shown(&path)));
            let mounts = read_proc(self.proc.join(file("mountinfo"))).unwrap_or_default();
            facts.extend(perf_data(&maps, &mounts).map(|on| ("jvm.perf_data_on", on, shown(&path))));
        }
        let path = self.proc.join(file("cmdline"));
        let line = read_memory_of(&path).unwrap_or_default();
        let arguments: Vec<String> = line.split('\0').map(str::to_string).collect();
        let options = jvm_options(&arguments).join(" ");
        facts.extend((!options.is_empty()).then(|| ("process.jvm_options", options, shown(&path))));
        facts
    }

    /// The governors of the CPUs' frequencies, each once.
    fn governors(&self) -> Option<Fact> {
        let cpus = self.sys.join("devices/system/cpu");
        let governor = |number| read_proc(cpus.join(format!("cpu{number}/cpufreq/scaling_governor"))).ok();
        let all: BTreeSet<String> = (0..MOST_CPUS).map_while(governor).filter_map(|text| trimmed(&text)).collect();
        let names: Vec<String> = all.into_iter().collect();
        let source = shown(&cpus.join("cpu*/cpufreq/scaling_governor"));
        (!names.is_empty()).then(|| ("machine.cpu_governor", names.join(", "), source))
    }

    fn sys(&self, setting: &'static str, file: &str, read: impl Fn(&str) -> Option<String>) -> Option<Fact> {
        fact(setting, &self.sys.join(file), read)
    }

    fn proc(&self, setting: &'static str, file: &str, read: impl Fn(&str) -> Option<String>) -> Option<Fact> {
        fact(setting, &self.proc.join(file), read)
    }
}

fn fact(setting: &'static str, path: &Path, read: impl Fn(&str) -> Option<String>) -> Option<Fact> {
    Some((setting, read(&read_proc(path).ok()?)?, shown(path)))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn trimmed(text: &str) -> Option<String> {
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}

fn number(text: &str) -> Option<String> {
    text.trim().parse::<u64>().ok().map(|number| number.to_string())
}

/// The choice among words, such as `madvise` of "always [madvise] never".
fn chosen(text: &str) -> Option<String> {
    trimmed(text.split_once('[')?.1.split_once(']')?.0)
}

/// How many numbers are in ranges such as `0-1,4`.
fn count_of_ranges(text: &str) -> Option<String> {
    let length = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    let mut count = 0_u64;
    for range in text.trim().split(',') {
        count = count.checked_add(length(range)?)?;
    }
    Some(count.to_string())
}

fn labelled<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(label))
}

/// A line such as `SwapTotal:  2048 kB`, in bytes.
fn kib(text: &str, label: &str) -> Option<String> {
    let kib: u64 = labelled(text, label)?.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib.checked_mul(1024)?.to_string())
}

/// The soft limit of a line of /proc/PID/limits: a number, or `unlimited`.
fn limit(text: &str, label: &str) -> Option<String> {
    let soft = labelled(text, label)?.split_ascii_whitespace().next()?;
    if soft == "unlimited" { Some(soft.to_string()) } else { number(soft) }
}

/// The type of the file system with the file in which the JVM keeps its counters (jstat reads it), such as `ext4`; None if the
/// JVM has no such file.
fn perf_data(maps: &str, mounts: &str) -> Option<String> {
    // address perms offset dev inode path
    let device = maps.lines().find(|line| line.contains("/hsperfdata_"))?.split_ascii_whitespace().nth(3)?;
    let device = device_of(device)?;
    // id parent major:minor root mount-point options … - type source options
    let of_mount = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (major, minor) = fields.nth(2)?.split_once(':')?;
        let own: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        if own != device {
            return None;
        }
        Some(line.split_once(" - ")?.1.split_ascii_whitespace().next()?.to_string())
    };
    mounts.lines().find_map(of_mount)
}

/// A device as /proc/PID/maps prints it: both numbers are hexadecimal.
fn device_of(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A root folder with /proc and /sys of its own.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new(files: &[(&str, &str)]) -> Machine {
            let folder = tempfile::tempdir().unwrap();
            for (name, text) in files {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Machine(folder)
        }

        fn facts(&self) -> BTreeMap<&'static str, String> {
            let root = Root { proc: self.0.path().join("proc"), sys: self.0.path().join("sys") };
            let all = root.machine().into_iter().chain(root.process(7));
            all.map(|(setting, value, _)| (setting, value)).collect()
        }
    }

    #[test]
    fn a_machine_and_a_process_are_read() {
        let cpu = "sys/devices/system/cpu";
        let machine = Machine::new(&[
            (&format!("{cpu}/cpu0/cpufreq/scaling_governor"), "powersave\n"),
            (&format!("{cpu}/cpu1/cpufreq/scaling_governor"), "ondemand\n"),
            (&format!("{cpu}/cpu2/cpufreq/scaling_governor"), "powersave\n"),
            (&format!("{cpu}/cpu0/cpufreq/scaling_driver"), "acpi-cpufreq\n"),
            (&format!("{cpu}/cpu0/cpufreq/cpuinfo_max_freq"), "3500000\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"),
            ("sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never\n"),
            ("sys/devices/system/node/online", "0-1,4\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
            ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm \n"),
            ("proc/meminfo", "MemTotal:       16384 kB\nSwapTotal:       2048 kB\n"),
            ("proc/sys/vm/swappiness", "60\n"),
            ("proc/sys/vm/zone_reclaim_mode", "1\n"),
            ("proc/sys/vm/overcommit_memory", "2\n"),
            ("proc/sys/vm/max_map_count", "65530\n"),
            ("proc/7/status", "Name:\tjava\nVmLck:\t       0 kB\nVmSwap:\t     512 kB\nThreads:\t212\n"),
            (
                "proc/7/limits",
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max processes             4096                 63499                processes \n\
                 Max open files            1024                 4096                 files     \n\
                 Max locked memory         65536                65536                bytes     \n\
                 Max address space         unlimited            unlimited            bytes     \n",
            ),
            ("proc/7/fd/0", ""),
            ("proc/7/fd/1", ""),
            (
                "proc/7/maps",
                "00400000-00401000 r-xp 00000000 fd:01 5 /usr/bin/java\n\
                 7f00-7f80 rw-s 00000000 08:11 77 /tmp/hsperfdata_cassandra/7\n",
            ),
            (
                "proc/7/mountinfo",
                "22 1 253:1 / / rw,relatime shared:1 - xfs /dev/mapper/root rw\n\
                 30 22 8:17 / /tmp rw shared:9 - ext4 /dev/sdb1 rw\n",
            ),
            (
                "proc/7/cmdline",
                "java\0-ea\0-Xmx8G\0-Dpassword=secret\0--add-exports\0java.base/a=ALL-UNNAMED\0-XX:+UseG1GC\0-cp\0/c\0-Xss256k\0\
                 org.apache.cassandra.service.CassandraDaemon\0-Xnot\0",
            ),
        ]);
        let wanted = [
            ("jvm.perf_data_on", "ext4"),
            ("machine.clock_source", "hpet"),
            ("machine.clock_sources", "tsc hpet acpi_pm"),
            ("machine.cpu_driver", "acpi-cpufreq"),
            ("machine.cpu_governor", "ondemand, powersave"),
            ("machine.cpu_max_khz", "3500000"),
            ("machine.huge_pages", "always"),
            ("machine.huge_pages_defrag", "madvise"),
            ("machine.max_map_count", "65530"),
            ("machine.numa_nodes", "3"),
            ("machine.overcommit_memory", "2"),
            ("machine.swap_bytes", "2097152"),
            ("machine.swappiness", "60"),
            ("machine.zone_reclaim_mode", "1"),
            ("process.jvm_options", "-Xmx8G -XX:+UseG1GC -Xss256k"),
            ("process.locked_bytes", "0"),
            ("process.maps", "2"),
            ("process.max_address_space_bytes", "unlimited"),
            ("process.max_locked_bytes", "65536"),
            ("process.max_open_files", "1024"),
            ("process.max_processes", "4096"),
            ("process.open_files", "2"),
            ("process.swapped_bytes", "524288"),
            ("process.threads", "212"),
        ];
        assert_eq!(machine.facts(), wanted.map(|(setting, value)| (setting, value.to_string())).into());
    }

    #[test]
    fn what_a_container_lacks_has_no_row() {
        assert_eq!(Machine::new(&[]).facts(), BTreeMap::new());
        let odd = Machine::new(&[
            ("sys/kernel/mm/transparent_hugepage/enabled", "always\n"),
            ("sys/devices/system/node/online", "9-1\n"),
            ("proc/sys/vm/swappiness", "many\n"),
            ("proc/meminfo", "SwapTotal: 18446744073709551615 kB\n"),
            ("proc/7/limits", "Max open files\n"),
            ("proc/7/cmdline", "java"),
        ]);
        assert_eq!(odd.facts(), BTreeMap::new());
    }

    #[test]
    fn a_file_of_counters_in_memory_is_told_from_one_on_a_disk() {
        let maps = "7f00-7f80 rw-s 00000000 00:2a 77 /tmp/hsperfdata_cassandra/7\n";
        let mounts = "22 1 0:42 / /tmp rw - tmpfs tmpfs rw\n";
        assert_eq!(perf_data(maps, mounts).as_deref(), Some("tmpfs"));
        assert_eq!(perf_data("7f00-7f80 rw-s 00000000 00:2a 77 /lib/a.so\n", mounts), None);
    }
}
