//! The limit of open files of this process.

/// Below this limit, an error may be caused by it whatever its text says, because some libraries drop the cause.
const FEW: u64 = 256;

/// The hard limit of open files.
pub fn most() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to an rlimit of ours.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    limit.rlim_max
}

/// Advice about an error that the limit of open files caused, or may have caused.
pub fn way_out(error: &anyhow::Error) -> Option<String> {
    let most = most();
    let text = format!("{error:#}");
    let is_said = text.contains("os error 24") && !text.contains("ulimit");
    (is_said || most < FEW).then(|| {
        format!(
            "this process may have {most} open files at most, and may need some thousands: raise the limit with `ulimit -n 65536`, \
             or LimitNOFILE= of its service"
        )
    })
}
