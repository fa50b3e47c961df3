//! A recording of a real node is complete, and killing a process loses none of it.

use crate::harness::{Place, Running, origin, pid_of_node, record_under_load, signal_to, size_of, wait_for};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// Threads of a process whose names begin with helenus.
fn agent_threads(pid: i32) -> usize {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let name = |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.ok()?.path().join("comm")).ok();
    tasks.filter_map(name).filter(|name| name.starts_with("helenus")).count()
}

#[test]
fn a_recording_is_whole_whoever_ends_it() {
    let place = Place::new();
    let address = "127.0.30.3";
    place.well(&format!("up --name recorded --address {address} --heap 768m"));
    let node = pid_of_node(&place);
    everything_is_recorded(&place, address);
    assert_eq!(agent_threads(node), 0, "the agent has left");

    served_live(&place, address);
    wait_for("the agent to leave with the workbench", || agent_threads(node) == 0);

    killed_and_salvaged(&place, address);
    wait_for("the agent to leave after its recorder was killed", || agent_threads(node) == 0);

    a_trigger_copies_the_minutes_around_an_incident(&place, address, node);
    wait_for("the agent to leave after its recorder was ended", || agent_threads(node) == 0);

    // When the node ends, the recording is closed and complete.
    let record = place.start(&format!("record --node {address} -o last"));
    let recorded = |table: &str| size_of(&place.path(&format!("last/{table}"))) > 0;
    wait_for("the sources to record", || recorded("pools") && recorded("threads"));
    signal_to(node, libc::SIGKILL);
    let record = record.end();
    assert!(record.status.success(), "{}", record.err);
    assert!(record.err.contains("has ended"), "{}", record.err);
    assert!(place.ask("last", "select count(*) from threads") > 0);
    let first = &place.json("explain last --json")["findings"][0];
    assert_eq!((&first["finding"], &first["node"]), (&Value::from("node-ended"), &Value::from(address)), "{first:#}");
}

fn everything_is_recorded(place: &Place, address: &str) {
    let load = "keyvalue/mixed --no-populate --rate 150 --for 10s --warm-up 2s";
    record_under_load(place, "calm", address, load, |_| ());
    let explained = place.json("explain calm --json");
    let expected = place.ask("calm", "select count(*) from requests");
    assert_eq!(expected, 12 * 150, "open loop sends what its schedule says");
    // A busy machine makes some wait for too long.
    let failed = "select count(*) from requests where outcome <> 'ok' and outcome not like '%timeout'";
    assert_eq!(place.ask("calm", failed), 0);
    // The node's recorder does not watch the load, and sees that it has connections to the node.
    let clients = "select count(*) from processes where role = 'client' and process = 'helenus'";
    assert!(place.ask("calm-server", clients) > 0);
    // It does not judge what the load in the other process does not judge.
    let warm_up = "select count(*) from marks where kind = 'unjudged' and name = 'warm-up'";
    assert!(place.ask("calm-server", warm_up) > 0);
    let judged = place.json("explain calm-server --json")["judged_requests"].as_i64().unwrap();
    assert!((1..12 * 150 - 150).contains(&judged), "{judged} requests");
    for table in ["cpus", "threads", "pools", "table_stats", "pauses", "sources", "marks"] {
        assert!(place.ask("calm", &format!("select count(*) from {table}")) > 0, "{table} has rows");
    }
    let java_names = "select count(*) from threads where thread_group = 'Native-Transport-Requests'";
    assert!(place.ask("calm", java_names) > 0, "threads have their Java names");
    read_by_another(&place.path("calm"), expected);
    // A busy machine may drop packets, which is counted, or follow fewer connections, whose requests weigh more.
    let lost = "select count(*) from sources where source = 'wire' and lost > 0";
    let thinned = "select count(*) from wire where weight > 1";
    if place.ask("calm", lost) == 0 && place.ask("calm", thinned) == 0 {
        let on_the_wire =
            "select count(*) from wire where opcode = 'EXECUTE' and statement like '% helenus.keyvalue %'";
        assert_eq!(place.ask("calm", on_the_wire), expected, "every request is paired with its answer");
        for split in ["slow", "others"] {
            let split = &origin(&explained)[split];
            assert_eq!(split["on_the_wire"], split["requests"], "each is found on both sides: {split:#}");
        }
    }
}

/// Shows the requests of a running load that is not recorded.
fn requests_are_shown_live(place: &Place, address: &str) {
    let statements = place.json(&format!("statements --node {address} --for 2s --contains keyvalue --json"));
    let rows = statements["rows"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["requests_per_s"].as_f64().unwrap() > 0.0), "{statements:#}");
    let one = place.json(&format!("statements --node {address} --for 2s --contains keyvalue --statement 1 --json"));
    assert!(!one["slowest"].as_array().unwrap().is_empty(), "{one:#}");
    let clients = place.json(&format!("clients --node {address} --for 2s --json"));
    assert!(clients["rows"][0]["drivers"][0].is_string(), "{clients:#}");
}

/// The workbench records a node by itself, also for `helenus freeze`, and leaves nothing behind.
fn served_live(place: &Place, address: &str) {
    let served = place.start(&format!("serve --node {address} --allow-control --listen 127.0.0.1:0 --json"));
    wait_for("the link", || served.printed().ends_with('\n'));
    let link: Value = serde_json::from_str(&served.printed()).unwrap();
    let (at, token) = link["link"].as_str().unwrap().strip_prefix("http://").unwrap().split_once("/#token=").unwrap();
    let send = |method: &str, path: &str| {
        let mut stream = TcpStream::connect(at).unwrap();
        let own = format!("Host: {at}\r\nOrigin: http://{at}\r\nAuthorization: Bearer {token}");
        write!(stream, "{method} {path} HTTP/1.1\r\n{own}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let ask = |path: &str| send("GET", path);
    assert!(ask("/api/recordings").contains(&format!("[\"{address}\"]")), "{}", ask("/api/recordings"));
    wait_for("figures of the node", || {
        let live = ask("/api/live?recording=live.helenus");
        live.contains("\"is_growing\":true") && ask("/api/live-table?recording=live.helenus&of=pools").contains(address)
    });
    wait_for("findings", || ask("/api/live-findings?recording=live.helenus").contains("\"error\":\"\""));
    place.well(&format!("freeze {address} --last 1m -o frozen"));
    assert!(place.ask("frozen", "select count(*) from pools") > 0);
    let valve = |name: &str| {
        let wanted = format!("name={name}&stage=native-transport&law=fixed&limit=64&minutes=5");
        send("POST", &format!("/api/add-valve?recording=live.helenus&node={address}&{wanted}"))
    };
    let added = valve("first");
    assert!(added.starts_with("HTTP/1.1 200") && added.contains("a client from 127.0.0.1"), "{added}");
    let undone = send("POST", "/api/undo?recording=live.helenus&number=1");
    assert!(undone.contains("undone by a client"), "{undone}");
    let added = valve("second");
    assert!(added.starts_with("HTTP/1.1 200"), "{added}");
    let change = |question: &str, wanted: &str| {
        send("POST", &format!("/api/{question}?recording=live.helenus&node={address}&{wanted}"))
    };
    let set = change("set", "name=compaction-throughput&value=17&minutes=5");
    assert!(set.contains("set compaction-throughput from 64 to 17"), "{set}");
    let threads = change("set", "name=threads&value=read%3D8&minutes=5");
    assert!(threads.contains("set read-threads from 32 to 8"), "{threads}");
    let leveled = "%7B%22class%22:%22LeveledCompactionStrategy%22%7D";
    let compaction = change("set", &format!("name=compaction&table=helenus.keyvalue&value={leveled}&minutes=5"));
    assert!(compaction.contains("to LeveledCompactionStrategy"), "{compaction}");
    let stopped = change("switch", "name=stacks&value=off");
    assert!(stopped.contains("stacks from cpu to off"), "{stopped}");
    let started = change("switch", "name=syscalls&value=summary");
    assert!(started.contains("syscalls from off to summary"), "{started}");
    let refused = change("switch", "name=syscalls&value=all");
    assert!(refused.starts_with("HTTP/1.1 422") && refused.contains("one of off, summary, full"), "{refused}");
    let mut copies = 0;
    wait_for("system calls", || {
        copies += 1;
        place.well(&format!("freeze {address} --last 10s -o calls-{copies}"));
        place.ask(&format!("calls-{copies}"), "select count(*) from syscall_summary") > 0
    });
    let placed = change("place", "strategy=first-assignment");
    assert!(placed.contains("threads by first-assignment"), "{placed}");
    let valves = place.json(&format!("valve list --node {address} --json"));
    assert_eq!((valves.as_array().unwrap().len(), &valves[0]["valve"]), (1, &Value::from("second")), "{valves:#}");
    served.signal(libc::SIGINT);
    let served = served.end();
    assert!(served.status.success(), "{}", served.err);
    for undone in [
        "added the valve second",
        "set compaction-throughput from 64 to 17",
        "set read-threads from 32 to 8",
        "to LeveledCompactionStrategy",
        "by first-assignment",
    ] {
        assert!(served.err.contains(undone), "{undone}: {}", served.err);
    }
    for left in [&format!("valve list --node {address} --json"), "tune status --json", "pin --list --json"] {
        assert_eq!(place.json(left).as_array().unwrap().len(), 0, "{left}");
    }
    assert!(served.err.contains("deleted the temporary recording"), "{}", served.err);
}

/// Kills the recorder and the load at once, in the middle of it; both recordings can be salvaged and explained.
fn killed_and_salvaged(place: &Place, address: &str) {
    let record = place.start(&format!("record --node {address} -o killed-server"));
    let recorded = |table: &str| size_of(&place.path(&format!("killed-server/{table}"))) > 0;
    wait_for("the sources to record", || recorded("pools") && recorded("threads"));
    let load = place.start(&format!("load keyvalue/mixed --rate 400 --for 60s --node {address} -o killed-client"));
    wait_for("requests to be recorded", || size_of(&place.path("killed-client/requests")) > 0);
    std::thread::sleep(Duration::from_millis(2_345));
    let killed_ns = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
    record.signal(libc::SIGKILL);
    load.signal(libc::SIGKILL);
    record.end();
    load.end();
    for (recording, table) in [("killed-client", "requests"), ("killed-server", "threads")] {
        let refused = place.run(&format!("explain {recording}"));
        assert_eq!(refused.status.code(), Some(2));
        assert!(refused.err.contains("helenus recording salvage"), "{}", refused.err);
        place.well(&format!("recording salvage {recording}"));
        let time = if table == "requests" { "start_ns" } else { "time_ns" };
        let last_ns = place.ask(recording, &format!("select max({time}) from {table}"));
        assert!(
            last_ns > killed_ns - 3_000_000_000,
            "{table} ends {} ms before the kill",
            (killed_ns - last_ns) / 1_000_000
        );
    }
    place.well("recording merge killed-client killed-server -o killed");
    place.json("explain killed --json");
    place.well("report killed -o killed.html");
}

/// Stops the node's process for some seconds, so that its requests become slow.
fn a_trigger_copies_the_minutes_around_an_incident(place: &Place, address: &str, node: i32) {
    // Five minutes have segments of 10 s.
    let mut command = place.command(&format!("record --node {address} --keep 5m --requests wire -o flight"));
    command.args(["--trigger", "max(read) > 1s", "--trigger", "p99(write) > 1h for 5s"]);
    command.args(["--exec", "printf '%s|%s' \"$HELENUS_TRIGGER\" \"$HELENUS_INCIDENT\" >alert && mv alert alerted"]);
    let record = Running::of(command);
    wait_for("the sources to record", || record.has_said("Ctrl-C ends it"));
    let load = place.start(&format!("load keyvalue/mixed --no-populate --rate 200 --for 10m --node {address} -o slow"));
    wait_for("requests to be sent", || size_of(&place.path("slow/requests")) > 0);
    wait_for("slow requests to be noticed", || {
        signal_to(node, libc::SIGSTOP);
        std::thread::sleep(Duration::from_millis(4_500));
        signal_to(node, libc::SIGCONT);
        // On a busy machine their rows may come too late to be judged.
        (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            record.has_said("max(read) > 1s came true")
        })
    });

    // Before the copy of the trigger is made.
    place.well(&format!("freeze {address} --last 1m -o by-hand"));
    assert!(place.ask("by-hand", "select count(*) from wire where duration_ns > 1000000000") > 0);
    assert!(place.ask("by-hand", "select count(*) from settings") > 0, "and the state before it");
    assert!(place.ask("by-hand", "select count(*) from events where kind = 'silent'") > 0, "nobody was answered");

    // This load goes on for as long as that takes.
    requests_are_shown_live(place, address);
    wait_for("the alert", || place.path("alerted").exists());
    let alert = std::fs::read_to_string(place.path("alerted")).unwrap();
    let (trigger, copy) = alert.split_once('|').unwrap();
    assert_eq!(trigger, "max(read) > 1s");
    let beside = |extension: &str| std::fs::read_to_string(Path::new(copy).with_extension(extension)).unwrap();
    assert!(beside("html").contains("<html") && !beside("txt").trim().is_empty());
    assert!(place.ask(copy, "select count(*) from wire where duration_ns > 1000000000") > 0, "the slow ones are there");

    let segments = || std::fs::read_dir(place.path("flight/segments")).unwrap().count();
    wait_for("another segment", || segments() > 1);
    load.signal(libc::SIGINT);
    load.end();
    record.signal(libc::SIGINT);
    let record = record.end();
    assert!(record.status.success(), "{}", record.err);
    assert!(!record.err.contains("p99(write)"), "{}", record.err);
    let unnamed = "select count(*) from samples where stack not in (select stack from stacks)";
    assert_eq!(place.ask("flight", unnamed), 0, "each segment has the stacks of its samples");
}

/// DuckDB can read our Parquet files.
fn read_by_another(recording: &Path, requests: i64) {
    let python = std::env::var("HELENUS_TEST_PYTHON")
        .unwrap_or_else(|_| format!("{}/.cache/helenus/python/bin/python", std::env::var("HOME").unwrap()));
    let script = "import duckdb, sys; print(*duckdb.sql(f\"select count(*), count(distinct operation), min(end_ns - start_ns) > 0 from '{sys.argv[1]}/requests/*.parquet'\").fetchall())";
    let output = std::process::Command::new(&python).args(["-c", script]).arg(recording).output();
    let output = output.unwrap_or_else(|error| panic!("{python}: {error}; `make test` installs it"));
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(stdout.trim(), format!("({requests}, 2, True)"), "{}", String::from_utf8_lossy(&output.stderr));
}
