//! The CPU time of a node's threads.

/// Names of threads that serve requests, as far as the kernel keeps them.
const REQUESTS: [&str; 5] = ["Native-Transpor", "epollEventLoop", "ReadStage", "MutationStage", "helenus-agent"];

/// CPU time of the existing threads since their start, in seconds.
pub struct CpuTime {
    /// CPU time of threads that serve requests.
    pub requests_s: f64,
    pub compilers_s: f64,
}

impl CpuTime {
    pub fn of(pid: i32) -> CpuTime {
        let mut time = CpuTime { requests_s: 0.0, compilers_s: 0.0 };
        for thread in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
            // Skip a thread that has ended.
            let read = |file| std::fs::read_to_string(thread.path().join(file)).unwrap_or_default();
            let ran_ns: f64 = read("schedstat").split(' ').next().and_then(|ran| ran.parse().ok()).unwrap_or_default();
            let name = read("comm");
            if REQUESTS.iter().any(|one| name.starts_with(one)) {
                time.requests_s += ran_ns / 1e9;
            } else if name.contains("Compiler") {
                time.compilers_s += ran_ns / 1e9;
            }
        }
        time
    }
}
