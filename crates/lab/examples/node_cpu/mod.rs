//! The CPU time of a node, and how much of it goes into compiling.

/// Since their start, of the threads that live.
pub struct CpuTime {
    pub all_s: f64,
    pub compilers_s: f64,
}

impl CpuTime {
    pub fn of(pid: i32) -> CpuTime {
        let mut time = CpuTime { all_s: 0.0, compilers_s: 0.0 };
        for thread in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
            // A thread that has ended meanwhile says nothing.
            let read = |file| std::fs::read_to_string(thread.path().join(file)).unwrap_or_default();
            let ran_ns: f64 = read("schedstat").split(' ').next().and_then(|ran| ran.parse().ok()).unwrap_or_default();
            time.all_s += ran_ns / 1e9;
            if read("comm").contains("Compiler") {
                time.compilers_s += ran_ns / 1e9;
            }
        }
        time
    }
}
