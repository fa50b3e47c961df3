//! Malicious JFR files: files that unpack to far more than their size, and endless ones.

use crate::made::{BYTE, Chunk, Field, LONG, STRING, text, varint};
use crate::memory::most_held;
use crate::{options, read};
use helenus_observe::{Imported, import};
use helenus_recording::{Manifest, Recorder};
use std::io::{BufReader, Read};

const SAMPLE: u64 = 10;
const STACK: u64 = 11;
const FRAME: u64 = 12;
const METHOD: u64 = 13;
const NOTHING: u64 = 20;
const MIB: usize = 1 << 20;

/// The memory that reading a file of this size may take, including rows that are not written yet.
fn allowed(bytes: &[u8]) -> usize {
    256 * MIB + 64 * bytes.len()
}

/// A chunk with one sample, whose stack has these frames, given by the numbers of their methods.
fn with_stacks(stacks: &[Vec<u64>], methods: &[String]) -> Chunk {
    let mut chunk = Chunk::new();
    chunk.class(
        SAMPLE,
        "jdk.ExecutionSample",
        vec![("startTime", LONG, false, false), ("stackTrace", STACK, true, false)],
    );
    chunk.class(STACK, "jdk.types.StackTrace", vec![("frames", FRAME, false, true)]);
    chunk.class(FRAME, "jdk.types.StackFrame", vec![("method", METHOD, true, false)]);
    chunk.class(METHOD, "jdk.types.Method", vec![("name", STRING, false, false)]);
    let frames = |frames: &Vec<u64>| {
        [varint(frames.len() as u64), frames.iter().flat_map(|method| varint(*method)).collect()].concat()
    };
    chunk.pool(STACK, (1..).zip(stacks.iter().map(frames)).collect());
    chunk.pool(METHOD, (1..).zip(methods.iter().map(|name| text(name))).collect());
    (1..=stacks.len() as u64).for_each(|stack| chunk.event(SAMPLE, &[vec![1], varint(stack)].concat()));
    chunk
}

/// The result of an import, or its error.
fn outcome(bytes: &[u8]) -> Result<Imported, String> {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&folder.path().join("r"), Manifest::new("t", "c")).unwrap();
    let (read, most) = most_held(|| import(&recorder, bytes, &options()));
    assert!(most < allowed(bytes), "{} bytes took {} MiB", bytes.len(), most / MIB);
    recorder.close().unwrap();
    read.map_err(|error| error.to_string())
}

fn samples(bytes: &[u8]) -> Result<u64, String> {
    outcome(bytes).map(|imported| imported.samples)
}

#[test]
fn a_made_chunk_is_read_like_a_real_one() {
    let chunk = with_stacks(&[vec![2, 1], vec![1]], &["outer".into(), "inner".into()]);
    let read = read(&chunk.bytes(), &options()).unwrap();
    let mut frames: Vec<&str> = read.rows.iter().map(|row| row.5.as_str()).collect();
    frames.sort_unstable();
    assert_eq!(frames, ["outer", "outer;inner"]);
}

#[test]
fn objects_that_take_no_bytes_take_no_memory_and_no_time() {
    // Constants that are lists, each with as many empty objects as bytes follow.
    let mut chunk = with_stacks(&[vec![1]], &["f".into()]);
    chunk.class(NOTHING, "Nothing", vec![]);
    chunk.class(NOTHING + 1, "Nothings", vec![("list", NOTHING, false, true)]);
    let lists = (1..=20_000).map(|number| (number, varint(20_000)));
    chunk.pool(NOTHING + 1, lists.collect());
    // Padding, so that as many bytes follow the last list.
    chunk.pool(STRING, vec![(1, text(&"x".repeat(20_000)))]);
    assert_eq!(samples(&chunk.bytes()), Ok(1));
    // Objects of a hundred objects of a hundred objects each, and so on; the innermost take no bytes.
    let mut chunk = with_stacks(&[vec![1]], &["f".into()]);
    chunk.class(NOTHING, "Nothing", vec![]);
    for depth in 1..=6 {
        let fields: Vec<Field> = vec![("f", NOTHING + depth - 1, false, false); 100];
        chunk.class(NOTHING + depth, "Nest", fields);
    }
    chunk.pool(NOTHING + 6, (1..=1000).map(|number| (number, Vec::new())).collect());
    assert_eq!(samples(&chunk.bytes()), Ok(1));
    // A stack that contains itself.
    let mut chunk = with_stacks(&[vec![1]], &["f".into()]);
    chunk.class(NOTHING, "Self", vec![("b", BYTE, false, false), ("self", NOTHING, false, false)]);
    chunk.pool(NOTHING, vec![(1, vec![0; 100])]);
    assert!(outcome(&chunk.bytes()).unwrap_err().contains("without end"));
}

#[test]
fn long_names_that_many_stacks_share_are_refused() {
    // A file of 110 kB whose stacks have 2 GB of names.
    let name = "n".repeat(60_000);
    let stacks: Vec<Vec<u64>> = (0..600).map(|stack| vec![1; 40 + stack % 30]).collect();
    let bytes = with_stacks(&stacks, std::slice::from_ref(&name)).bytes();
    assert!(bytes.len() < 130_000, "{}", bytes.len());
    let imported = outcome(&bytes).unwrap();
    // Samples before the limit are taken, and the rest is counted.
    assert!(imported.samples > 0 && imported.losses[0].contains("24 times its size"), "{imported:?}");
    assert_eq!(imported.samples + imported.lost, 600);
    let deep = with_stacks(&[vec![1; 100]], &[name]).bytes();
    assert!(outcome(&deep).unwrap_err().contains("4 MiB"));
    let deep = with_stacks(&[vec![1; 70_000]], &["f".into()]).bytes();
    assert!(outcome(&deep).unwrap_err().contains("65,536 frames"));
}

#[test]
fn a_thread_has_a_name_of_some_hundred_bytes() {
    let mut chunk = with_stacks(&[], &["f".into()]);
    chunk.class(30, "java.lang.Thread", vec![("javaName", STRING, false, false), ("osThreadId", LONG, false, false)]);
    chunk.class(31, "jdk.ThreadPark", vec![("eventThread", 30, true, false), ("stackTrace", STACK, true, false)]);
    chunk.pool(30, vec![(1, [text(&"t".repeat(50_000)), vec![7]].concat())]);
    chunk.pool(STACK, vec![(1, vec![1, 1])]);
    (0..5).for_each(|_| chunk.event(31, &[1, 1]));
    let read = read(&chunk.bytes(), &options()).unwrap();
    assert_eq!(read.rows.len(), 5);
    assert!(read.rows.iter().all(|row| row.3 == "t".repeat(512)));
}

#[test]
fn files_without_end_are_read_up_to_a_bound() {
    // Sparse files can be like this: a header, followed by any number of zeros.
    let endless = |size: u64| {
        let mut header = b"FLR\0\0\x02\0\0".to_vec();
        header.extend(size.to_be_bytes());
        header.extend([0; 52]);
        BufReader::new(std::io::Cursor::new(header).chain(std::io::repeat(0)))
    };
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(&folder.path().join("r"), Manifest::new("t", "c")).unwrap();
    let error = import(&recorder, endless(200 << 30), &options()).unwrap_err().to_string();
    assert!(error.contains("512 MiB") && error.contains("maxchunksize"), "{error}");
    // An unfinished chunk has no size.
    let (error, most) = most_held(|| import(&recorder, endless(0), &options()));
    assert!(error.unwrap_err().to_string().contains("cut off"));
    assert!(most < 700 * MIB, "{} MiB", most / MIB);
    recorder.close().unwrap();
}
