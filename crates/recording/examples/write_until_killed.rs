//! Writes numbered rows into a recording until the process is killed, so that a test can check which rows are missing.
//!
//! `write_until_killed FOLDER [ROWS [BALLAST]]`: prints the number of rows appended so far after every batch. With ROWS it stops
//! there and closes the recording; an error of that goes to stderr, with exit code 2. BALLAST is a file that it removes when
//! closing has failed once, to make room.

use helenus_recording::{CLOSE_FOR, Manifest, Recorder, rows};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const ROWS_PER_BATCH: i64 = 500;

fn main() -> ExitCode {
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn write() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("usage: write_until_killed FOLDER [ROWS]")?);
    let rows: i64 = match arguments.next() {
        Some(text) => text.to_string_lossy().parse()?,
        None => i64::MAX,
    };
    let ballast = arguments.next().map(PathBuf::from);
    let recorder = Recorder::create(&folder, Manifest::new("numbered rows", "write_until_killed"))?;
    let clock = recorder.clock();
    let mut next = 0;
    while next < rows {
        let start_ns = clock.now_ns();
        recorder.append_all((next..next + ROWS_PER_BATCH).map(|number| rows::Request {
            intended_start_ns: number,
            start_ns,
            // Poorly compressible, so that a small disk fills.
            end_ns: start_ns ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64) >> 16,
            node: "127.0.0.1",
            operation: if number % 3 == 0 { "read" } else { "write" },
            outcome: "ok",
            ..rows::Request::default()
        }));
        next += ROWS_PER_BATCH;
        writeln!(std::io::stdout(), "{next}")?;
        std::thread::sleep(Duration::from_millis(2));
    }
    // Waits a moment, for a test that waits until this program gives up.
    let lasts = if ballast.is_some() { CLOSE_FOR } else { Duration::from_millis(300) };
    recorder.close_within(lasts, &mut |waiting| {
        eprintln!("{} rows wait: {}", waiting.rows, waiting.error);
        if let Some(ballast) = &ballast {
            let _ = std::fs::remove_file(ballast);
        }
    })?;
    Ok(())
}
