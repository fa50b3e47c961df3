//! Child programs that do what a test tells them, and recordings of them.

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use helenus_observe::{Event, Observation, Options, ProcessKind, Watched};
use helenus_recording::{Manifest, Recorder, Recording};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Sender, channel};

/// The program waits for a byte with a call other than the read itself, does its work between two system calls that
/// occur nowhere else, reports it, and waits again.
const FRAME: &str = "
import os, sys, socket, select, threading, time
def wait():
    select.select([0], [], [])
    os.read(0, 1)
folder = sys.argv[1]
AHEAD
os.write(1, b'ready\\n')
wait()
os.getpriority(os.PRIO_PROCESS, 0)
WORK
os.getpriority(os.PRIO_PROCESS, 0)
os.write(1, b'done\\n')
wait()
";

pub fn script(ahead: &str, work: &str) -> String {
    FRAME.replace("AHEAD", ahead).replace("WORK", work)
}

pub struct Program {
    pub child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    pub folder: tempfile::TempDir,
}

impl Program {
    pub fn start(work: &str) -> Program {
        Program::start_with("", work)
    }

    pub fn start_with(ahead: &str, work: &str) -> Program {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new("python3")
            .args(["-c", &script(ahead, work)])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("these tests need python3");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut program = Program { child, stdin, stdout, folder };
        program.hear("ready");
        program
    }

    pub fn hear(&mut self, wanted: &str) {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), wanted);
    }

    /// Makes the program do its work, and returns when it is done.
    pub fn work(&mut self) {
        self.begin();
        self.hear("done");
    }

    pub fn begin(&mut self) {
        self.stdin.as_mut().unwrap().write_all(b"1").unwrap();
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_string()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A recording of processes that is in progress.
pub struct Watch {
    recorder: Recorder,
    observation: Observation,
    watched: Vec<Watched>,
    options: Options,
    events: Sender<Event>,
    folder: tempfile::TempDir,
}

impl Watch {
    /// Records processes, given by node and pid, with a source that is required.
    pub fn start(processes: &[(&str, u32)], options: &Options, needed: &str) -> Watch {
        let (watch, reason) = Watch::start_and_hear(processes, options, needed);
        assert_eq!(reason, None);
        watch
    }

    /// Watches processes, given by node and pid, and returns the message of a source that is degraded.
    pub fn start_and_hear(processes: &[(&str, u32)], options: &Options, of: &str) -> (Watch, Option<String>) {
        let (folder, recorder) = new_recording();
        let watched = watched(processes);
        let (events, received) = channel();
        let observation = Observation::start(&recorder, &watched, options, &events).unwrap();
        let reason = received.try_iter().find_map(|event| match event {
            Event::Degraded { source, reason, .. } if source == of => Some(reason),
            _ => None,
        });
        let options = options.clone();
        (Watch { recorder, observation, watched, options, events, folder }, reason)
    }

    /// Continues in another recording, and returns the previous one.
    #[allow(dead_code, reason = "not all sources are tested with it")]
    pub fn turn(&mut self) -> Ended {
        let (folder, recorder) = new_recording();
        self.observation.continue_in(&recorder, &self.watched, &self.options, &self.events).unwrap();
        closed(&std::mem::replace(&mut self.recorder, recorder), std::mem::replace(&mut self.folder, folder))
    }

    pub fn end(self) -> Ended {
        self.observation.stop();
        closed(&self.recorder, self.folder)
    }
}

fn closed(recorder: &Recorder, folder: tempfile::TempDir) -> Ended {
    let summary = recorder.close().unwrap();
    Ended { recording: Recording::open(&summary.folder).unwrap(), _folder: folder }
}

fn new_recording() -> (tempfile::TempDir, Recorder) {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&folder.path().join("r"), Manifest::new("test", "test")).unwrap();
    (folder, recorder)
}

fn watched(processes: &[(&str, u32)]) -> Vec<Watched> {
    let watched = processes.iter().map(|(node, pid)| Watched {
        process: ProcessKind::Server,
        node: (*node).to_string(),
        pid: *pid,
    });
    watched.collect()
}

/// A closed recording.
pub struct Ended {
    recording: Recording,
    _folder: tempfile::TempDir,
}

/// One row: its numbers and texts.
#[derive(Debug, Clone, Default)]
pub struct Row {
    pub numbers: BTreeMap<String, i64>,
    pub texts: BTreeMap<String, String>,
}

impl Row {
    pub fn text(&self, column: &str) -> &str {
        self.texts.get(column).map_or("", String::as_str)
    }

    pub fn number(&self, column: &str) -> i64 {
        self.numbers.get(column).copied().unwrap_or(0)
    }
}

impl Ended {
    pub fn rows(&self, table: &str) -> Vec<Row> {
        let mut rows = Vec::new();
        for file in self.recording.files(table).unwrap() {
            let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap().build().unwrap();
            for batch in reader.map(Result::unwrap) {
                let first = rows.len();
                rows.resize(first + batch.num_rows(), Row::default());
                for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                    for (index, row) in
                        rows[first..].iter_mut().enumerate().filter(|(index, _)| column.is_valid(*index))
                    {
                        let name = field.name().clone();
                        if let Some(numbers) = column.as_primitive_opt::<Int64Type>() {
                            row.numbers.insert(name, numbers.value(index));
                        } else if let Some(texts) = column.as_string_opt::<i32>() {
                            row.texts.insert(name, texts.value(index).to_string());
                        }
                    }
                }
            }
        }
        rows
    }

    /// Captured and lost events of an eBPF source, and the reasons of the losses.
    pub fn source(&self, source: &str) -> (i64, i64, Vec<String>) {
        self.source_by("ebpf", source)
    }

    /// Captured and lost events of a source with this provider, and the reasons of the losses.
    pub fn source_by(&self, provider: &str, source: &str) -> (i64, i64, Vec<String>) {
        let reports: Vec<Row> = self.rows("sources").into_iter().filter(|row| row.text("source") == source).collect();
        assert!(reports.iter().all(|row| row.text("provider") == provider && row.numbers.contains_key("cpu_ns")));
        let sum = |column: &str| reports.iter().map(|row| row.number(column)).sum();
        let reasons = reports.iter().map(|row| row.text("lost_reason").to_string()).filter(|text| !text.is_empty());
        (sum("captured"), sum("lost"), reasons.collect())
    }
}

/// Drops every capability of the calling thread.
fn drop_capabilities() {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    let header = Header { version: 0x2008_0522, pid: 0 };
    let none = [0_u32; 6];
    // SAFETY: both pointers are to what version 3 of the call reads.
    let dropped = unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) };
    assert_eq!(dropped, 0);
}

/// Records a program without any capability. Returns the message of a source, and the tables of the recording.
pub fn without_capabilities(pid: u32, options: Options, source: &'static str) -> (Option<String>, Vec<String>) {
    let without = std::thread::spawn(move || {
        drop_capabilities();
        let (_folder, recorder) = new_recording();
        let watched = watched(&[("n", pid)]);
        let (events, received) = channel();
        let observation = Observation::start(&recorder, &watched, &options, &events).unwrap();
        observation.stop();
        let summary = recorder.close().unwrap();
        let reason = received.try_iter().find_map(|event| match event {
            Event::Degraded { source: of, reason, .. } if of == source => Some(reason),
            _ => None,
        });
        (reason, summary.tables.keys().cloned().collect())
    });
    without.join().unwrap()
}
