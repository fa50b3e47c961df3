//! Exports have the same sums as the recorded samples in every format.

use crate::world::{MS, NODE, Phase, S, T0, World, healthy_gc};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use helenus_explain::{Engine, ExportFormat, ExportOptions, Exported, Flame, FlameOptions, Options, explain, export};
use helenus_recording::{Manifest, Recorder, Recording, rows};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;

/// Nine samples of two groups and three threads, and a few events.
fn recorded(folder: &tempfile::TempDir) -> Engine {
    let path = folder.path().join("r");
    let recorder = Recorder::create(&path, Manifest::new("exports", "test")).unwrap();
    for (stack, frames, kinds) in
        [(1, "Thread.run;Read.execute;pread", "jik"), (2, "GangWorker::run", "c"), (3, "", "")]
    {
        recorder.append(rows::Stack { time_ns: T0, stack, frames, kinds });
    }
    for at in 0..9 {
        let (tid, thread, thread_group, stack) = match at % 3 {
            0 => (11, "ReadStage-1", "ReadStage", 1),
            1 => (12, "ReadStage-2", "ReadStage", if at == 7 { 3 } else { 1 }),
            _ => (13, "GC Thread#0", "GC Thread", 2),
        };
        recorder.append(rows::StackSample {
            // The samples are not in the order of time.
            time_ns: T0 + (8 - at) * 10 * MS,
            node: NODE,
            event: "cpu",
            weight: 10 * MS + at,
            tid,
            thread,
            thread_group,
            stack,
        });
    }
    recorder.append(rows::Pause {
        start_ns: T0 + 5 * MS,
        duration_ns: 7 * MS,
        node: NODE,
        kind: "gc",
        collector: Some("G1New"),
        cause: Some("G1 Evacuation Pause"),
        provider: "jfr",
        ..rows::Pause::default()
    });
    for (start_ns, duration_ns, call) in
        [(T0, 2 * MS, "pread64"), (T0, 200 * MS, "futex"), (T0 + 9 * MS, 1000, "write")]
    {
        recorder.append(rows::Syscall {
            start_ns,
            duration_ns,
            node: NODE,
            tid: 11,
            thread_group: "ReadStage",
            call,
            file: "/data/Data.db",
            file_kind: "file",
            ..rows::Syscall::default()
        });
    }
    recorder.close().unwrap();
    Engine::open(&[Recording::open(&path).unwrap()]).unwrap()
}

fn options(selection: FlameOptions) -> ExportOptions {
    ExportOptions { selection, only_slow: false, syscalls_over_ns: MS }
}

fn bytes(engine: &Engine, format: ExportFormat, options: &ExportOptions) -> (Vec<u8>, Exported) {
    let mut out = Vec::new();
    let explanation = explain(engine, &Options::default()).unwrap();
    let exported = export(engine, format, options, Some(&explanation), &mut out).unwrap();
    (out, exported)
}

fn json(engine: &Engine, format: ExportFormat, options: &ExportOptions) -> Value {
    serde_json::from_slice(&bytes(engine, format, options).0).unwrap()
}

fn total(engine: &Engine) -> i64 {
    let rows = engine.sql("SELECT sum(weight) FROM samples WHERE event = 'cpu'").unwrap();
    rows.batches()[0].column(0).as_primitive::<Int64Type>().value(0)
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn folded_stacks_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let engine = recorded(&folder);
    let (out, exported) = bytes(&engine, ExportFormat::Folded, &options(FlameOptions::default()));
    let text = String::from_utf8(out).unwrap();
    let weights: i64 = text.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<i64>().unwrap()).sum();
    assert_eq!((weights, exported.samples), (total(&engine), 9));
    insta::assert_snapshot!(text);
}

#[test]
fn speedscope_has_a_profile_for_each_group_or_thread() {
    let folder = tempfile::tempdir().unwrap();
    let engine = recorded(&folder);
    let file = json(&engine, ExportFormat::Speedscope, &options(FlameOptions::default()));
    let mut sum = 0.0;
    for profile in file["profiles"].as_array().unwrap() {
        let weights = numbers(&profile["weights"]);
        assert_eq!(weights.len(), profile["samples"].as_array().unwrap().len());
        assert_eq!(weights.iter().sum::<f64>(), profile["endValue"].as_f64().unwrap());
        sum += weights.iter().sum::<f64>();
    }
    assert_eq!(sum as i64, total(&engine));
    insta::assert_snapshot!(serde_json::to_string_pretty(&file).unwrap());
    let by_thread = FlameOptions { by_thread: true, group: Some("ReadStage".into()), ..FlameOptions::default() };
    let file = json(&engine, ExportFormat::Speedscope, &options(by_thread));
    let names: Vec<&str> =
        file["profiles"].as_array().unwrap().iter().map(|profile| profile["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ReadStage-2", "ReadStage-1"], "the heavier first");
}

#[test]
fn the_firefox_profile_has_samples_in_order_and_pauses_as_markers() {
    let folder = tempfile::tempdir().unwrap();
    let engine = recorded(&folder);
    let file = json(&engine, ExportFormat::Firefox, &options(FlameOptions::default()));
    let shared = &file["shared"];
    let (mut sum, mut markers) = (0.0, 0);
    for thread in file["threads"].as_array().unwrap() {
        let times = numbers(&thread["samples"]["time"]);
        assert!(times.is_sorted() && times.iter().all(|time| *time >= 0.0));
        let weights = numbers(&thread["samples"]["weight"]);
        assert_eq!((weights.len(), times.len()), (times.len(), thread["samples"]["length"].as_u64().unwrap() as usize));
        sum += weights.iter().sum::<f64>();
        markers += thread["markers"]["length"].as_u64().unwrap();
        for stack in thread["samples"]["stack"].as_array().unwrap() {
            assert!(stack.as_u64().is_none_or(|stack| stack < shared["stackTable"]["length"].as_u64().unwrap()));
        }
    }
    assert_eq!(((sum * 1e6).round() as i64, markers), (total(&engine), 1));
    for (table, columns) in [("stackTable", 2), ("frameTable", 9), ("funcTable", 7)] {
        let length = shared[table]["length"].as_u64().unwrap() as usize;
        let lists = shared[table].as_object().unwrap().values().filter_map(Value::as_array);
        let lists: Vec<usize> = lists.map(Vec::len).collect();
        assert_eq!(lists, vec![length; columns], "{table}");
    }
    // Frames of the JVM in a collector's thread belong to garbage collection; the kernel's frames belong to the kernel.
    let category = |name: &str| {
        let names = shared["stringArray"].as_array().unwrap();
        let name = names.iter().position(|known| known == name).unwrap() as u64;
        let functions = shared["funcTable"]["name"].as_array().unwrap();
        let function = functions.iter().position(|known| known.as_u64() == Some(name)).unwrap();
        let category = shared["frameTable"]["category"][function].as_u64().unwrap() as usize;
        file["meta"]["categories"][category]["name"].as_str().unwrap().to_string()
    };
    assert_eq!([category("GangWorker::run"), category("pread"), category("Thread.run")], ["GC", "Kernel", "Java"]);
    let node = &file["threads"][0];
    assert_eq!((node["name"].as_str().unwrap(), node["isMainThread"].as_bool()), (NODE, Some(true)));
    assert_eq!(
        node["markers"]["endTime"][0].as_f64().unwrap() - node["markers"]["startTime"][0].as_f64().unwrap(),
        7.0
    );
}

#[test]
fn the_firefox_profile_has_the_cpu_time_between_samples() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let recorder = Recorder::create(&path, Manifest::new("exports", "test")).unwrap();
    recorder.append(rows::Stack { time_ns: T0, stack: 1, frames: "a", kinds: "j" });
    // A thread is busy for 40 ms, idle for 200 ms, and busy again; the wall-clock samples cover all of it.
    for (event, at_ms) in [10, 20, 30, 40, 250].map(|at| ("cpu", at)).into_iter().chain([("wall", 100), ("wall", 200)])
    {
        recorder.append(rows::StackSample {
            time_ns: T0 + at_ms * MS,
            node: NODE,
            event,
            weight: 10 * MS,
            tid: 7,
            thread: "worker-1",
            thread_group: "worker",
            stack: 1,
        });
    }
    recorder.close().unwrap();
    let engine = Engine::open(&[Recording::open(&path).unwrap()]).unwrap();
    let samples = |event: &str| {
        let selection = FlameOptions { event: event.into(), by_thread: true, ..FlameOptions::default() };
        let file = json(&engine, ExportFormat::Firefox, &options(selection));
        let thread = file["threads"].as_array().unwrap().iter().find(|thread| thread["name"] == "worker-1").unwrap();
        (file["meta"]["sampleUnits"]["threadCPUDelta"].clone(), thread["samples"].clone())
    };
    let (unit, cpu) = samples("cpu");
    let (times, deltas) = (numbers(&cpu["time"]), numbers(&cpu["threadCPUDelta"]));
    assert_eq!((unit.as_str(), deltas.len(), cpu["length"].as_u64()), (Some("ns"), times.len(), Some(7)));
    // CPU time of each sample divided by the time since the previous sample, which the first one lacks.
    let share = |at: usize| (times[at] - times[at - 1], deltas[at] / 1e6 / (times[at] - times[at - 1]));
    assert_eq!(
        (1..7).map(share).collect::<Vec<_>>(),
        [(10.0, 1.0), (10.0, 1.0), (10.0, 1.0), (10.0, 1.0), (200.0, 0.0), (10.0, 1.0)]
    );
    assert_eq!(numbers(&cpu["weight"]).iter().sum::<f64>(), 50.0);
    let (_, wall) = samples("wall");
    assert!(wall.get("threadCPUDelta").is_none() && wall["length"] == 2, "the wall clock is no CPU time");
}

/// Two threads of one name on one node, one on another, and one whose name contains a line feed.
fn namesakes(folder: &tempfile::TempDir) -> Engine {
    let path = folder.path().join("r");
    let recorder = Recorder::create(&path, Manifest::new("exports", "test")).unwrap();
    recorder.append(rows::Stack { time_ns: T0, stack: 1, frames: "a;b\u{1}<\u{1b}[31m&", kinds: "jj" });
    for (tid, thread, weight) in [(7, "java", 1), (8, "java", 2), (9, "main", 4), (10, "x;y\nz 5", 8), (8, "java", 16)]
    {
        recorder.append(rows::StackSample {
            time_ns: T0 + weight,
            node: NODE,
            event: "cpu",
            weight,
            tid,
            thread,
            thread_group: "all",
            stack: 1,
        });
    }
    recorder.close().unwrap();
    Engine::open(&[Recording::open(&path).unwrap()]).unwrap()
}

#[test]
fn threads_that_share_a_name_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    let engine = namesakes(&folder);
    let by_thread = options(FlameOptions { by_thread: true, ..FlameOptions::default() });
    let text = String::from_utf8(bytes(&engine, ExportFormat::Folded, &by_thread).0).unwrap();
    let mut threads: BTreeMap<&str, i64> = BTreeMap::new();
    for line in text.lines() {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        *threads.entry(stack.split_once(';').unwrap().0).or_default() += weight.parse::<i64>().unwrap();
    }
    let expected = BTreeMap::from([("[java tid=7]", 1), ("[java tid=8]", 18), ("main", 4), ("x:y:z 5", 8)]);
    assert_eq!(threads, expected);
    let (out, _) = bytes(&engine, ExportFormat::Pprof, &by_thread);
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&out[..]).read_to_end(&mut plain).unwrap();
    let profile = fields(&plain);
    let texts: Vec<String> = profile[&6].iter().map(|text| String::from_utf8(text.bytes()).unwrap()).collect();
    let mut labelled: BTreeMap<String, u64> = BTreeMap::new();
    for sample in profile[&2].iter().map(|sample| fields(&sample.bytes())) {
        let labels = sample[&3].iter().map(|label| fields(&label.bytes()));
        let thread = labels.into_iter().find(|label| texts[label[&1][0].number() as usize] == "thread").unwrap();
        *labelled.entry(texts[thread[&2][0].number() as usize].clone()).or_default() +=
            varints(&sample[&2][0].bytes())[1];
    }
    assert_eq!((labelled["[java tid=7]"], labelled["[java tid=8]"], labelled["main"]), (1, 18, 4));
    let file = json(&engine, ExportFormat::Speedscope, &by_thread);
    let profiles = file["profiles"].as_array().unwrap();
    let sum =
        |name: &str| profiles.iter().find(|profile| profile["name"] == name).unwrap()["endValue"].as_i64().unwrap();
    assert_eq!((sum("[java tid=7]"), sum("[java tid=8]")), (1, 18));
    // Thread ids differ in another recording, so names are compared.
    let flame = || Flame::build(&engine, &by_thread.selection).unwrap();
    let lines: Vec<String> = flame().compare("after", flame(), "before").folded().collect();
    assert!(lines.iter().any(|line| line.starts_with("java;") && line.ends_with(" 19 19")), "{lines:?}");
}

#[test]
fn a_picture_is_well_formed_whatever_the_names() {
    let folder = tempfile::tempdir().unwrap();
    let engine = namesakes(&folder);
    let mut flame = Flame::build(&engine, &FlameOptions { by_thread: true, ..FlameOptions::default() }).unwrap();
    flame.title = "a\0b\u{8}\u{fffe}<".to_string();
    flame.event = "\u{c}<&".to_string();
    let svg = flame.svg();
    // XML 1.0 can't represent these characters.
    let is_char = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    assert!(svg.chars().all(is_char), "{svg}");
    assert!(svg.contains("b\u{fffd}&lt;\u{fffd}[31m&amp;") && svg.contains("of \u{fffd}&lt;&amp;"), "{svg}");
    // Every tag and every character reference comes from the exporter.
    let opened = svg.matches('<').count();
    let ours: usize = ["<svg ", "</svg>", "<g>", "</g>", "<title>", "</title>", "<rect ", "<text ", "</text>"]
        .iter()
        .map(|tag| svg.matches(tag).count())
        .sum();
    assert_eq!(opened, ours);
}

#[test]
fn pprof_is_read_by_another_reader() {
    let folder = tempfile::tempdir().unwrap();
    let engine = recorded(&folder);
    let by_thread = FlameOptions { by_thread: true, ..FlameOptions::default() };
    let (out, _) = bytes(&engine, ExportFormat::Pprof, &options(by_thread));
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&out[..]).read_to_end(&mut plain).unwrap();
    let profile = fields(&plain);
    let texts: Vec<String> = profile[&6].iter().map(|text| String::from_utf8(text.bytes()).unwrap()).collect();
    let text = |number: u64| texts[number as usize].as_str();
    assert_eq!(text(0), "");
    let types: Vec<(&str, &str)> = profile[&1]
        .iter()
        .map(|ty| fields(&ty.bytes()))
        .map(|ty| (text(ty[&1][0].number()), text(ty[&2][0].number())))
        .collect();
    assert_eq!(types, [("samples", "count"), ("cpu", "nanoseconds")]);
    let functions: HashMap<u64, &str> = profile[&5]
        .iter()
        .map(|function| fields(&function.bytes()))
        .map(|function| (function[&1][0].number(), text(function[&2][0].number())))
        .collect();
    let locations: HashMap<u64, &str> = profile[&4]
        .iter()
        .map(|location| fields(&location.bytes()))
        .map(|location| {
            let line = fields(&location[&4][0].bytes());
            (location[&1][0].number(), functions[&line[&1][0].number()])
        })
        .collect();
    let (mut count, mut weight, mut stacks) = (0, 0, BTreeMap::new());
    for sample in &profile[&2] {
        let sample = fields(&sample.bytes());
        let values = varints(&sample[&2][0].bytes());
        count += values[0];
        weight += values[1];
        let ids = sample.get(&1).map_or(Vec::new(), |ids| varints(&ids[0].bytes()));
        let names: Vec<&str> = ids.iter().map(|id| locations[id]).collect();
        let labels: Vec<String> = sample[&3]
            .iter()
            .map(|label| fields(&label.bytes()))
            .map(|label| format!("{}={}", text(label[&1][0].number()), text(label[&2][0].number())))
            .collect();
        stacks.insert(labels.join(" "), names.join(";"));
    }
    assert_eq!((count, weight as i64), (9, total(&engine)));
    assert_eq!(stacks["node=127.0.0.1 thread_group=ReadStage thread=ReadStage-1"], "pread;Read.execute;Thread.run");
    assert_eq!(profile[&9][0].number(), T0 as u64);
    assert_eq!(profile[&10][0].number(), 80 * MS as u64);
}

/// A field of a protobuf message, decoded according to the documentation of the wire format.
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

impl Field {
    fn number(&self) -> u64 {
        match self {
            Field::Number(number) => *number,
            Field::Bytes(_) => panic!("bytes"),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Field::Number(_) => panic!("a number"),
            Field::Bytes(bytes) => bytes.clone(),
        }
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for place in 0..10 {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn varints(mut bytes: &[u8]) -> Vec<u64> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(varint(&mut bytes));
    }
    all
}

fn fields(mut bytes: &[u8]) -> BTreeMap<u64, Vec<Field>> {
    let mut all: BTreeMap<u64, Vec<Field>> = BTreeMap::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (taken, left) = bytes.split_at(length);
                bytes = left;
                Field::Bytes(taken.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        all.entry(key >> 3).or_default().push(field);
    }
    all
}

#[test]
fn the_trace_has_what_happened_and_how_long_it_took() {
    let world = World {
        phases: vec![Phase { name: "steady", rate_per_s: 500, seconds: 6, measured: true }],
        gc: healthy_gc(6),
        client_stops: vec![(3 * S, 200 * MS)],
        ..World::default()
    };
    let explained = world.explain();
    let everything = options(FlameOptions::default());
    let mut out = Vec::new();
    export(&explained.engine, ExportFormat::Chrome, &everything, Some(&explained.explanation), &mut out).unwrap();
    let file: Value = serde_json::from_slice(&out).unwrap();
    let events = file["traceEvents"].as_array().unwrap();
    let of = |phase: &str, category: &str| {
        events.iter().filter(|event| event["ph"] == phase && (category.is_empty() || event["cat"] == category)).count()
    };
    assert_eq!(of("X", "phase"), 1);
    assert_eq!(of("X", "gc"), 3);
    let slow = of("b", "request");
    assert_eq!(slow, of("e", "request"));
    assert_eq!(slow, explained.explanation.slow_requests);
    let named = |event: &&Value| event["cat"] == "request" && event["name"] == "write";
    assert_eq!(events.iter().filter(named).count(), 2 * slow, "each has the name of its operation");
    let count = |sql: &str| {
        explained.engine.sql(sql).unwrap().batches()[0].column(0).as_primitive::<Int64Type>().value(0) as usize
    };
    assert_eq!(of("C", ""), count("SELECT count(DISTINCT time_ns) FROM cpus"));
    assert_eq!(of("X", "stall"), count("SELECT count(*) FROM stalls"));
    let pause: f64 =
        events.iter().filter(|event| event["cat"] == "gc").map(|event| event["dur"].as_f64().unwrap()).sum();
    assert_eq!((pause * 1000.0).round() as usize, count("SELECT sum(duration_ns) FROM pauses WHERE kind = 'gc'"));
    assert!(events.iter().filter_map(|event| event["ts"].as_f64()).all(|at| at >= 0.0));
    // Calls longer than the bound, except waiting ones.
    let folder = tempfile::tempdir().unwrap();
    let file = json(&recorded(&folder), ExportFormat::Chrome, &everything);
    let calls: Vec<&Value> =
        file["traceEvents"].as_array().unwrap().iter().filter(|event| event["cat"] == "syscall").collect();
    assert_eq!(calls.len(), 1);
    assert_eq!((calls[0]["name"].as_str(), calls[0]["dur"].as_f64()), (Some("pread64"), Some(2000.0)));
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    let folder = tempfile::tempdir().unwrap();
    let engine = recorded(&folder);
    for format in [ExportFormat::Folded, ExportFormat::Pprof, ExportFormat::Firefox, ExportFormat::Speedscope] {
        let error =
            |selection| export(&engine, format, &options(selection), None, &mut Vec::new()).unwrap_err().to_string();
        let alloc = error(FlameOptions { event: "alloc".into(), ..FlameOptions::default() });
        assert!(alloc.contains("no alloc samples") && alloc.contains("has cpu"), "{alloc}");
        let group = error(FlameOptions { group: Some("Nobody".into()), ..FlameOptions::default() });
        assert!(group.contains("of Nobody") && group.contains("--group"), "{group}");
    }
    let explained =
        World { phases: vec![Phase { name: "p", rate_per_s: 100, seconds: 1, measured: true }], ..World::default() }
            .explain();
    let error =
        export(&explained.engine, ExportFormat::Pprof, &options(FlameOptions::default()), None, &mut Vec::new());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("helenus record --stacks"), "{error}");
}
