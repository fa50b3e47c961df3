//! A timer for the schedule. Tokio's timer has a resolution of 1 ms, which would send the requests of each millisecond
//! in a bunch.

use helenus_recording::Clock;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::task::{Context, Poll};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A timerfd on the clock of the recording.
#[derive(Debug)]
pub(super) struct Timer {
    fd: OwnedFd,
    clock: Clock,
}

impl Timer {
    pub fn new(clock: Clock) -> io::Result<Timer> {
        // SAFETY: no pointers; a valid descriptor that is returned is nobody else's.
        let fd = unsafe {
            match libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) {
                -1 => return Err(io::Error::last_os_error()),
                fd => OwnedFd::from_raw_fd(fd),
            }
        };
        Ok(Timer { fd, clock })
    }

    /// Sets the timer to a time of the recording, replacing an earlier setting. A time in the past expires at once.
    pub fn set(&self, at_ns: i64) {
        // 0 would disarm the timer.
        let monotonic_ns = (at_ns - self.clock.epoch_offset_ns()).max(1);
        let at = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: libc::timespec { tv_sec: monotonic_ns / 1_000_000_000, tv_nsec: monotonic_ns % 1_000_000_000 },
        };
        // SAFETY: the descriptor is open, the pointers are to an itimerspec of ours and to none. It can't fail then.
        unsafe { libc::timerfd_settime(self.fd.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &at, std::ptr::null_mut()) };
    }
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// A timer that an async task can wait for.
#[derive(Debug)]
pub(super) struct Alarm {
    timer: AsyncFd<Timer>,
}

impl Alarm {
    /// Requires a Tokio runtime.
    pub fn new(clock: Clock) -> io::Result<Alarm> {
        let timer = Timer::new(clock)?;
        // SAFETY: the descriptor is open and owned by what is registered, for as long as that is.
        let timer = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE)? };
        Ok(Alarm { timer })
    }

    /// Sets the timer, as [`Timer::set`] does.
    pub fn set(&self, at_ns: i64) {
        self.timer.get_ref().set(at_ns);
    }

    /// Completes when the timer has expired. The expiry may be that of an earlier setting, so the caller checks the
    /// clock.
    pub fn poll_ring(&self, context: &mut Context<'_>) -> Poll<()> {
        match self.timer.poll_read_ready(context) {
            Poll::Ready(Ok(mut ready)) => {
                // Do not read it: setting the timer again resets it, and its next expiry is a new edge.
                ready.clear_ready();
                Poll::Ready(())
            }
            // Fails only when the runtime shuts down.
            Poll::Ready(Err(_)) => Poll::Ready(()),
            Poll::Pending => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rings_when_it_should_each_time_it_is_set() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let clock = Clock::measure();
            let alarm = Alarm::new(clock).unwrap();
            for wait_ns in [0, 300_000, 2_000_000, 50_000] {
                let due_ns = clock.now_ns() + wait_ns;
                alarm.set(due_ns);
                while clock.now_ns() < due_ns {
                    std::future::poll_fn(|context| alarm.poll_ring(context)).await;
                }
            }
        });
    }
}
