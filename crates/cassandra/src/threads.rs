//! Names of threads, and the group that each belongs to.

/// Bytes of a thread's name that the kernel keeps.
pub const KERNEL_KEEPS: usize = 15;

/// The name of a thread without its number: what remains before a parenthesis, without numbers at its end and what
/// joins them. A name that is nothing else stays whole.
pub fn thread_group(name: &str) -> &str {
    let named = name.split('(').next().unwrap_or(name);
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | '#' | '_' | '.' | '/' | '@' | ' ');
    let group = named.trim_end_matches(is_number);
    if group.is_empty() { name } else { group }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_names_without_numbers() {
        for (name, group) in [
            ("Native-Transport-Requests-12", "Native-Transport-Requests"),
            ("MutationStage-1", "MutationStage"),
            ("CompactionExecutor:1", "CompactionExecutor"),
            ("PerDiskMemtableFlushWriter_0:3", "PerDiskMemtableFlushWriter"),
            ("epollEventLoopGroup-5-1", "epollEventLoopGroup"),
            ("GC Thread#0", "GC Thread"),
            ("C2 CompilerThread0", "C2 CompilerThread"),
            ("RMI TCP Connection(4)-127.0.0.1", "RMI TCP Connection"),
            ("G1 Main Marker", "G1 Main Marker"),
            ("7", "7"),
            ("", ""),
        ] {
            assert_eq!(thread_group(name), group);
        }
    }
}
