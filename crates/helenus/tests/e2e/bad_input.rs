//! Bad input gives one clear error that says what to do, exit code 2, and no loss of data.

use crate::harness::Place;
use std::net::TcpListener;
use std::path::Path;

/// Runs helenus, which must refuse with one error that contains all of `says`.
fn refused(place: &Place, arguments: &str, says: &[&str]) {
    let result = place.run(arguments);
    assert_eq!(result.status.code(), Some(2), "helenus {arguments}: {}{}", result.out, result.err);
    assert_eq!(result.err.matches("error:").count(), 1, "helenus {arguments}: {}", result.err);
    for text in says {
        assert!(result.err.contains(text), "helenus {arguments} does not say {text:?}: {}", result.err);
    }
    assert_eq!(result.out, "", "an error is no data");
}

#[test]
fn addresses_and_processes_that_are_none() {
    let place = Place::new();
    refused(&place, "record --node 127.0.31.9 --for 1s", &["nobody listens on 127.0.31.9:9042", "helenus up"]);
    refused(&place, "record --node nowhere.invalid --for 1s", &["nowhere.invalid", "ADDRESS"]);
    refused(&place, "record --pid 999999999 --for 1s", &["no process 999999999"]);
    refused(&place, "record --for 1s", &["--node"]);
    refused(&place, "load keyvalue --node 127.0.31.9 --rate 5 --for 1s -o r", &["cannot reach", "helenus up"]);
    let mut sleep = std::process::Command::new("sleep").arg("100").spawn().unwrap();
    refused(&place, &format!("record --pid {} --for 1s", sleep.id()), &["no Java virtual machine", "--no-agent"]);
    let limited = format!("record --pid {} --no-agent --max-events-per-s 5 --for 1s", sleep.id());
    refused(&place, &limited, &["--syscalls full"]);
    let without = format!("record --pid {} --no-agent --off-cpu-above 5ms --for 1s", sleep.id());
    refused(&place, &without, &["--sched on"]);
    // Its CPU and threads can still be recorded.
    place.well(&format!("record --pid {} --for 1s --no-agent -o sleeping", sleep.id()));
    assert!(place.ask("sleeping", "select count(*) from cpus") > 0);
    refused(&place, "spectrogram sleeping", &["no system calls", "--syscalls full"]);
    refused(&place, "spectrogram sleeping --of requests", &["no requests", "helenus load"]);
    refused(&place, "spectrogram sleeping --select 1s..10ms", &["begins where it ends"]);
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    let left: Vec<_> = std::fs::read_dir(place.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["sleeping"], "what could not start leaves no recording behind");
}

#[test]
fn versions_ports_and_settings() {
    let place = Place::new();
    refused(&place, "up --version 3.11", &["3.11", "5.0"]);
    refused(&place, "up --heap lots", &["lots", "512m"]);
    refused(&place, "up --nodes 0", &["between 1 and"]);
    let taken = TcpListener::bind("127.0.31.1:9042").unwrap();
    refused(&place, "up --address 127.0.31.1", &["port 9042 on 127.0.31.1 is in use", &std::process::id().to_string()]);
    drop(taken);
    // The error contains the reason from the node's own log, and nothing keeps running.
    refused(&place, "up --address 127.0.31.1 --set not_a_setting=5 --heap 300m", &["not_a_setting", "log"]);
    assert_eq!(place.well("ps --json").trim(), "[]");
    refused(&place, "down nosuch", &["nosuch"]);
}

#[test]
fn files_that_are_no_recordings() {
    let place = Place::new();
    refused(&place, "explain nothing", &["no recording at nothing"]);
    std::fs::create_dir(place.path("empty")).unwrap();
    refused(&place, "explain empty", &["empty is not a recording", "manifest.json"]);
    std::fs::write(place.path("file"), "text").unwrap();
    refused(&place, "report file", &["file is not a recording"]);
    std::fs::create_dir(place.path("newer")).unwrap();
    std::fs::write(place.path("newer/manifest.json"), r#"{"format": 2000}"#).unwrap();
    refused(&place, "recording info newer", &["format 2000", "newer helenus"]);
    place.well(&format!("record --pid {} --for 1s --no-agent -o cut", std::process::id()));
    refused(&place, "recording merge cut cut -o cut", &["cut already exists"]);
    let mut sql = place.command("sql cut");
    let result = sql.arg("select nosuch from cpus").output().unwrap();
    assert_eq!(result.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&result.stderr).contains("nosuch"));
    let parquet = place.path("cut/cpus/part-0.parquet");
    let bytes = std::fs::read(&parquet).unwrap();
    std::fs::write(&parquet, &bytes[..bytes.len() / 2]).unwrap();
    let mut sql = place.command("sql cut");
    let result = sql.arg("select count(*) from cpus").output().unwrap();
    let said = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success() && said.contains("cpus/part-0.parquet is skipped"), "{said}");
    assert!(said.contains("rows)"), "the loss is counted: {said}");
    assert_ne!(place.ask("cut", "select count(*) from sources"), 0, "other tables are read");
}

#[test]
fn workloads_and_experiments() {
    let place = Place::new();
    refused(&place, "load keyvalu --rate 5 --for 1s", &["keyvalu", "keyvalue"]);
    refused(&place, "load keyvalue", &["--rate"]);
    refused(&place, "load keyvalue --rate 5 --for soon", &["soon"]);
    std::fs::write(place.path("w.toml"), "description = \"d\"\nschemas = []\n").unwrap();
    refused(&place, "load w.toml --rate 5 --for 1s", &["w.toml:2", "did you mean `schema`"]);
    std::fs::write(place.path("e.toml"), "title = \"t\"\nquestion = \"q\"\nworkloads = \"keyvalue\"\n").unwrap();
    refused(&place, "lab run e.toml", &["e.toml:3", "did you mean `workload`"]);
    refused(&place, "lab run nothing.toml", &["nothing.toml"]);
    let head = "title = \"t\"\nquestion = \"q\"\nworkload = \"keyvalue\"\n[[phase]]\nin_flight = 1\ncount = 1\n";
    let valve = "[[variant]]\nname = \"none\"\n[[variant]]\nname = \"lwt\"\n[[variant.valve]]\nat = \"lwt\"\n";
    std::fs::write(place.path("e.toml"), format!("{head}{valve}")).unwrap();
    refused(&place, "lab run e.toml", &["e.toml:11", "a valve has a `law`"]);
    let parameter = format!("{head}{valve}law = \"fixed\"\nparameters = {{ limit = \"200\" }}\n");
    std::fs::write(place.path("e.toml"), parameter).unwrap();
    refused(&place, "lab run e.toml", &["e.toml:14", "the law fixed takes for limit a whole number from 1 to 128"]);
    let option = "[[variant]]\nname = \"none\"\n[[variant]]\nname = \"other\"\njvm_options = [\"-XX:+NoSuchThing\"]\n";
    std::fs::write(place.path("e.toml"), format!("{head}{option}")).unwrap();
    refused(&place, "lab run e.toml", &["`other`", "the JVM does not start with -XX:+NoSuchThing"]);
    let setting = option.replace("jvm_options = [\"-XX:+NoSuchThing\"]", "settings = [\"concurrent_readz=8\"]");
    std::fs::write(place.path("e.toml"), format!("{head}{setting}")).unwrap();
    refused(&place, "lab run e.toml", &["`other`", "concurrent_readz"]);
    // Methods that no class of the release has, for probes and for valves.
    let method = valve.replace("at = \"lwt\"", "at = \"StorageProxy.caz\"");
    std::fs::write(place.path("e.toml"), format!("{head}{method}law = \"fixed\"\n")).unwrap();
    refused(&place, "lab run e.toml -o r", &["`lwt`", "\"StorageProxy.caz\"", "did you mean cas"]);
    std::fs::write(place.path("e.toml"), format!("{head}[observe]\nprobes = [\"no.such.Class.method\"]\n")).unwrap();
    refused(&place, "lab run e.toml -o r", &["no.such.Class.method", "there is no class"]);
    assert!(!place.path("r").exists());
    std::fs::write(place.path("e.toml"), format!("{head}[[variant]]\nname = \"none\"\n")).unwrap();
    refused(&place, "lab run e.toml", &["e.toml:7", "two variants at least"]);
    refused(&place, "compare a b c", &["--baseline A1 A2 -- B1 B2"]);
    refused(&place, "compare a --fail-if-worse speed", &["response_p99"]);
    refused(&place, "compare nothing", &["no recording at nothing"]);
}

#[test]
fn files_without_an_end_are_refused_at_once() {
    let place = Place::new();
    let fifo = place.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for name in ["fifo", "/dev/zero"] {
        refused(&place, &format!("import {name} -o r"), &[name, "no regular file", "/dev/stdin"]);
    }
    refused(&place, "lab run fifo", &["no regular file"]);
    refused(&place, "stress user profile=fifo ops(insert=1) n=1", &["no regular file"]);
    std::fs::File::create(place.path("sparse.txt")).unwrap().set_len(200 << 30).unwrap();
    refused(&place, "import sparse.txt -o r", &["neither a JFR file"]);
    refused(&place, "import sparse.txt --format folded -o r", &["no sample", "longer than 64 MiB"]);
    refused(&place, "import sparse.txt --format perf -o r", &["no sample", "longer than 64 MiB"]);
    refused(&place, "load sparse.txt --rate 5 --for 1s", &["more than 64 MiB"]);
    assert!(!place.path("r").exists());
    // Lines before the error are imported.
    let mut file = std::fs::File::options().create_new(true).write(true).open(place.path("half.txt")).unwrap();
    std::io::Write::write_all(&mut file, b"main;f 3\nmain;g 4\n").unwrap();
    file.set_len(200 << 30).unwrap();
    let result = place.run("import half.txt --format folded -o half");
    assert!(result.status.success() && result.err.contains("nothing is read from line 3 on"), "{}", result.err);
    assert_eq!(place.ask("half", "select sum(weight) from samples"), 7);
}

#[test]
fn a_damaged_stream_is_salvaged_and_is_an_error() {
    use helenus_recording::{Manifest, Recorder, rows};
    let place = Place::new();
    let recorder = Recorder::create(&place.path("r"), Manifest::new("ended", "test")).unwrap();
    recorder.append_all((1..50).map(|time_ns| rows::CpuSample { time_ns, ..rows::CpuSample::default() }));
    recorder.append(rows::Mark { start_ns: 1, end_ns: 2, kind: "phase", name: "p", ..rows::Mark::default() });
    drop(recorder);
    let stream = place.path("r/cpus/part-0.arrows");
    let mut bytes = std::fs::read(&stream).unwrap();
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    std::fs::write(&stream, bytes).unwrap();
    let result = place.run("recording salvage r");
    assert_eq!(result.status.code(), Some(2), "{}", result.err);
    for text in ["salvaged ", "49 rows of cpus", "bytes of its stream are damaged", "cpus/part-0.damaged"] {
        assert!(result.err.contains(text), "{text}: {}", result.err);
    }
    place.well("recording salvage r");
    assert!(place.well("recording info r").contains("49 rows of cpus"));
    std::fs::create_dir(place.path("beside")).unwrap();
    assert_eq!(place.ask("beside/../r", "select count(*) from marks"), 1);
    // A failure leaves an older file unchanged.
    std::fs::write(place.path("old.svg"), "old").unwrap();
    refused(&place, "flame r -o old.svg", &["samples"]);
    assert_eq!(std::fs::read(place.path("old.svg")).unwrap(), b"old");
}

#[test]
fn a_full_stdout_is_an_error_and_no_panic() {
    let place = Place::new();
    let mut command = place.command("ps --json");
    command.stdout(std::fs::File::create("/dev/full").unwrap());
    let output = command.output().unwrap();
    let result = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{result}");
    assert!(result.contains("cannot write to stdout") && !result.contains("panicked"), "{result}");
}

#[test]
fn a_low_limit_of_open_files_is_named() {
    let place = Place::new();
    let helenus = env!("CARGO_BIN_EXE_helenus");
    let script = format!("ulimit -n 16; exec '{helenus}' load keyvalue --node 127.0.31.9 --rate 5 --for 1s -o r");
    let mut command = std::process::Command::new("sh");
    let result = command.args(["-c", &script]).current_dir(place.path(".")).output().unwrap();
    let text = String::from_utf8_lossy(&result.stderr);
    assert_eq!(result.status.code(), Some(2), "{text}");
    assert!(text.contains("16 open files at most") && text.contains("ulimit -n 65536"), "{text}");
}

#[test]
fn any_path_will_do() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    std::fs::write(place.path("stacks"), "main;f 3\n").unwrap();
    let long = "l".repeat(245);
    let names: [&[u8]; 2] = [b"-a b'\"\nline \xff\xfe", long.as_bytes()];
    for name in names.map(OsStr::from_bytes) {
        let run = |arguments: &[&OsStr]| {
            let output = place.command("").args(arguments).output().unwrap();
            let result = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{arguments:?}: {result}");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let path = Path::new(".").join(name);
        let with = |end: &str| {
            let mut with = path.clone().into_os_string();
            with.push(end);
            with
        };
        let [second, merged, report] = [".2", ".m", ".html"].map(with);
        let [import, stacks, o] = ["import", "stacks", "-o"].map(OsStr::new);
        run(&[import, stacks, o, path.as_os_str()]);
        run(&[import, stacks, o, &second]);
        run(&["recording".as_ref(), "merge".as_ref(), path.as_os_str(), &second, o, &merged]);
        run(&["report".as_ref(), &merged, o, &report]);
        let rows = run(&["sql".as_ref(), &merged, "select sum(weight) as w from samples".as_ref(), "--csv".as_ref()]);
        assert_eq!(rows, "w\n6\n", "{path:?}");
    }
}
