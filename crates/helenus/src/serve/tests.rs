//! Tests of the server, from the side of a browser and of an attacker.

use super::control::{Undo, Wanted};
use super::{Control, Library, Server};
use crate::apart::Limits;
use anyhow::Result;
use helenus_recording::{Manifest, NodeFacts, Recorder, rows};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

const MS: i64 = 1_000_000;
const S: i64 = 1000 * MS;
const T0: i64 = 1_700_000_000 * S;
const SECONDS: i64 = 20;
const RATE: i64 = 100;
/// The time from which on requests take long.
const SLOW_FROM: i64 = 10;

/// Records a load of two operations, one of which becomes slow after ten seconds.
fn record(path: &Path) {
    record_from(path, T0);
}

fn record_from(path: &Path, begin_ns: i64) {
    let recorder = Recorder::create(path, Manifest::new("a slow read", "test")).unwrap();
    recorder.append(rows::Mark {
        start_ns: begin_ns,
        end_ns: begin_ns + SECONDS * S,
        kind: "phase",
        name: "steady",
        rate_per_s: Some(RATE as f64),
        measured: true,
        ..rows::Mark::default()
    });
    for number in 0..SECONDS * RATE {
        let due = begin_ns + number * S / RATE;
        let is_read = number % 2 == 0;
        let took = if is_read && due >= begin_ns + SLOW_FROM * S { 200 * MS } else { MS + number % 7 * MS / 10 };
        recorder.append(rows::Request {
            intended_start_ns: due,
            start_ns: due,
            end_ns: due + took,
            node: "127.0.0.1",
            operation: if is_read { "read" } else { "write" },
            outcome: "ok",
            ..rows::Request::default()
        });
    }
    recorder.close().unwrap();
}

struct Served {
    address: SocketAddr,
    token: String,
    folder: TempDir,
}

/// A folder with two recordings, a link to another place, and a file.
fn serve() -> Served {
    serve_with(Arc::default(), || Limits::beside_a_node(10))
}

fn serve_with(control: Arc<Control>, limits: fn() -> Limits) -> Served {
    let folder = TempDir::new().unwrap();
    let (inside, outside) = (folder.path().join("inside"), folder.path().join("outside"));
    std::fs::create_dir_all(inside.join("deeper")).unwrap();
    record(&inside.join("one"));
    record(&inside.join("deeper/two"));
    record(&outside);
    std::os::unix::fs::symlink(&outside, inside.join("linked")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("nowhere"), inside.join("dangling.helenus")).unwrap();
    std::fs::write(inside.join("manifest.txt"), "no recording").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let library = Library::open(&inside).unwrap();
    let mut server = runtime.block_on(Server::bind("127.0.46.1:0".parse().unwrap(), library, control)).unwrap();
    server.api.limits = limits;
    let (address, link) = (server.address(), server.link());
    // Runs until the process of the tests ends.
    std::thread::spawn(move || runtime.block_on(server.serve()));
    let token = link.split_once("#token=").unwrap().1.to_string();
    Served { address, token, folder }
}

impl Served {
    /// Sends a text unchanged, and reads until the connection is closed.
    fn send(&self, text: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(text.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    fn ask(&self, path: &str, headers: &str) -> String {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", self.address))
    }

    fn with_token(&self, path: &str) -> String {
        self.ask(path, &format!("Authorization: Bearer {}\r\n", self.token))
    }

    fn post(&self, path: &str, headers: &str) -> String {
        self.send(&format!("POST {path} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", self.address))
    }

    /// Saves a window, as the page does.
    fn save(&self, parameters: &str) -> String {
        let headers = format!("Authorization: Bearer {}\r\nOrigin: http://{}\r\n", self.token, self.address);
        self.post(&format!("/api/save?{parameters}"), &headers)
    }

    /// The answer to a query.
    fn json(&self, path: &str) -> Value {
        let answer = self.with_token(path);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

#[test]
fn strangers_are_refused() {
    let served = serve();
    let host = served.address.to_string();
    let bearer = format!("Authorization: Bearer {}\r\n", served.token);
    let is = |answer: &str, status: &str| assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    let list = "/api/recordings";
    is(&served.ask(list, &bearer), "200");
    is(&served.ask(list, ""), "401");
    is(&served.ask(list, "Authorization: Bearer 0123\r\n"), "401");
    // A token in the query part would be stored in histories and logs, so it is not accepted.
    is(&served.ask(&format!("{list}?token={}", served.token), ""), "401");
    // A foreign name that resolves to this machine (DNS rebinding).
    is(&served.send(&format!("GET {list} HTTP/1.1\r\nHost: evil.example\r\n{bearer}\r\n")), "403");
    is(&served.send(&format!("GET / HTTP/1.1\r\nHost: evil.example:{}\r\n\r\n", served.address.port())), "403");
    // Pages of other sites in the same browser.
    is(&served.ask(list, &format!("{bearer}Origin: https://evil.example\r\n")), "403");
    is(&served.ask(list, &format!("{bearer}Origin: null\r\n")), "403");
    is(&served.ask(list, &format!("{bearer}Origin: http://{host}\r\n")), "200");
    for site in ["cross-site", "same-site"] {
        is(&served.ask(list, &format!("{bearer}Sec-Fetch-Site: {site}\r\n")), "403");
    }
    is(&served.ask(list, &format!("{bearer}Sec-Fetch-Site: same-origin\r\n")), "200");
    // Everything is read with GET, and only the workbench's own page writes, with POST.
    let own = format!("Origin: http://{host}\r\n");
    is(&served.post(list, &format!("{bearer}{own}")), "405");
    is(&served.send(&format!("PUT {list} HTTP/1.1\r\nHost: {host}\r\n{bearer}{own}\r\n")), "405");
    let save = "/api/save?recording=one&t=0-5&name=stolen";
    is(&served.ask(save, &bearer), "405");
    for headers in ["", &own, &bearer, &format!("{bearer}Origin: https://evil.example\r\n")] {
        let status = if headers == own { "401" } else { "403" };
        is(&served.post(save, headers), status);
    }
    is(&served.post(save, &format!("{bearer}{own}Sec-Fetch-Site: cross-site\r\n")), "403");
    is(&served.post(save, &format!("{bearer}{own}Content-Length: 5\r\n")), "413");
    assert_eq!(served.json(list).as_array().unwrap().len(), 2, "nothing was saved");
    is(&served.send(&format!("GET {list} HTTP/1.1\r\nHost: {host}\r\n{bearer}Content-Length: 9999999\r\n\r\n")), "413");
    let long = format!("GET {list}?q={} HTTP/1.1\r\nHost: {host}\r\n{bearer}\r\n", "x".repeat(1 << 20));
    assert!(!served.send(&long).starts_with("HTTP/1.1 200"), "a request is bounded");
}

#[test]
fn answers_keep_the_page_to_itself() {
    let served = serve();
    let page = served.ask("/", "");
    let head = page.split_once("\r\n\r\n").unwrap().0.to_ascii_lowercase();
    for header in [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "script-src 'self';",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-resource-policy: same-origin",
        "cache-control: no-store",
    ] {
        assert!(head.contains(header), "{header}: {head}");
    }
    assert!(!head.contains("access-control"), "{head}");
    let nonce = head.split_once("'nonce-").unwrap().1.split_once('\'').unwrap().0;
    assert!(page.contains(nonce) && !page.contains("HELENUS_NONCE"));
    assert!(!served.ask("/", "").contains(nonce), "each page has its own");
    assert!(!page.contains(&served.token));
    assert!(served.ask("/../Cargo.toml", "").starts_with("HTTP/1.1 404"));
}

#[test]
fn only_recordings_of_the_folder_are_opened() {
    let served = serve();
    let listed = served.json("/api/recordings");
    let mut names: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["deeper/two", "one"], "and none that a link leads to");
    assert_eq!(served.json("/api/report?recording=deeper/two")["title"], "a slow read");
    for name in ["../outside", "linked", "inside/../../outside", "/etc", "one/../one", "%2e%2e%2foutside", "."] {
        let answer = served.with_token(&format!("/api/report?recording={name}"));
        assert!(answer.starts_with("HTTP/1.1 422") && answer.contains("there is no recording"), "{name}: {answer}");
    }
}

#[test]
fn a_window_has_answers_of_its_own() {
    let served = serve();
    let whole = served.json("/api/statements?recording=one");
    let fast = served.json("/api/statements?recording=one&t=0-10");
    let slow = served.json("/api/statements?recording=one&t=10-20");
    let read = |table: &Value| {
        table["rows"].as_array().unwrap().iter().find(|row| row["operation"] == "read").unwrap().clone()
    };
    assert_eq!(read(&whole)["requests"], SECONDS * RATE / 2);
    assert_eq!(read(&fast)["requests"], SLOW_FROM * RATE / 2);
    assert_eq!(read(&fast)["requests"].as_i64().unwrap() + read(&slow)["requests"].as_i64().unwrap(), 1000);
    assert!(read(&fast)["max_ms"].as_f64().unwrap() < 10.0 && read(&slow)["max_ms"].as_f64().unwrap() >= 200.0);

    let answer = served.json("/api/answer?recording=one&t=12-18");
    assert_eq!(answer["requests"], 6 * RATE);
    let against = served.json("/api/answer?recording=one&t=12-18&against=0-8");
    assert!(against["slow_threshold_ms"].as_f64().unwrap() < 100.0, "{against:#}");
    assert_eq!(against["slow_requests"], 6 * RATE / 2, "all reads are slow against the good time");
    let slowest = served.json("/api/slowest?recording=one&t=0-15");
    assert_eq!(slowest[0]["operation"], "read");
    assert!((slowest[0]["response_ms"].as_f64().unwrap() - 200.0).abs() < 1.0);
    // The requests of a range of response times: alone in lists, and as the slow ones of the findings.
    let listed = served.json("/api/slowest?recording=one&took=100-300");
    assert_eq!(listed.as_array().unwrap().len(), 100);
    let fastest = served.json("/api/slowest?recording=one&took=0-100");
    assert!(fastest[0]["response_ms"].as_f64().unwrap() < 100.0, "{fastest:#}");
    let shared = served.json("/api/shared?recording=one&t=5-20&took=100-300");
    let slow = (SECONDS - SLOW_FROM) * RATE / 2;
    assert_eq!(shared["requests"].as_f64(), Some(slow as f64), "{shared:#}");
    assert_eq!(shared["values"][0]["value"], "read", "{shared:#}");
    assert_eq!(
        (shared["values"][0]["share"].as_f64(), shared["values"][0]["what"].as_str()),
        (Some(1.0), Some("statement"))
    );
    let ranged = served.json("/api/answer?recording=one&t=5-20&took=100-300");
    assert_eq!(ranged["slow_requests"], slow);
    assert_eq!(served.json("/api/answer?recording=one&t=5-20&took=1-100")["judged_requests"], 1000);
    let changes = served.json("/api/changes?recording=one&t=10-20&against=0-10");
    assert_eq!(changes["statements"][0]["operation"], "read");
    assert!(changes["statements"][0]["now"]["p50_ms"].as_f64().unwrap() >= 199.0, "{changes:#}");
    let phases = served.json("/api/report?recording=one&t=5-8");
    let phase = &phases["phases"][0];
    assert_eq!(phase["requests"], 3 * RATE);
    assert_eq!(phases["duration_s"], 3.0);
    assert_eq!(phase["throughput_per_s"].as_f64().unwrap().round(), RATE as f64, "a cut phase keeps its rate");
    let compared = served.json("/api/compare?recording=one&t=10-20&against=0-10");
    assert_eq!(compared["variants"].as_array().unwrap().len(), 1);
    let detail = served.json("/api/statement?recording=one&operation=write");
    assert_eq!(detail["slowest"][0]["operation"], "write");
    for question in ["clients", "files", "tables", "gc", "events", "flame-events", "schema"] {
        assert!(
            served.json(&format!("/api/{question}?recording=one&t=3-6")).is_array()
                || question == "clients"
                || question == "files",
            "{question}"
        );
    }
    for (question, why) in [
        ("answer?recording=one&t=30-40", "no part of the recording"),
        ("answer?recording=one&t=abc", "is no window"),
        ("slowest?recording=one&took=80-20", "is not a range of response times"),
        ("changes?recording=one&t=0-5", "choose a window to compare with"),
        ("setting-now?recording=one&node=127.0.0.1&name=threads", "--allow-control"),
        ("answer", "lacks recording="),
        ("flame?recording=one", "no stacks were sampled"),
    ] {
        let answer = served.with_token(&format!("/api/{question}"));
        assert!(answer.starts_with("HTTP/1.1 422") && answer.contains(why), "{question}: {answer}");
    }
    assert!(served.with_token("/api/nothing").starts_with("HTTP/1.1 404"));
}

#[test]
fn a_window_is_saved_as_a_recording_of_its_own() {
    let served = serve();
    let answer = served.save("recording=one&t=12-15&name=slow");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let saved: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(saved["name"], "slow.helenus");
    let path = Path::new(saved["path"].as_str().unwrap());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let listed = served.json("/api/recordings");
    let copy = listed.as_array().unwrap().iter().find(|one| one["name"] == "slow.helenus").unwrap();
    assert!(copy["title"].as_str().unwrap().starts_with("a slow read, 3.0s from 2023-11-14 22:13:32"), "{copy:#}");
    let requests = copy["requests"].as_i64().unwrap();
    // Requests that began before the window were under way in it.
    assert!((3 * RATE..=4 * RATE).contains(&requests), "{requests}");
    assert_eq!(served.json("/api/answer?recording=slow.helenus")["requests"], requests);
    for (parameters, why) in [
        ("recording=one&t=12-15&name=slow", "already"),
        ("recording=one&t=12-15&name=../outside2", "no name for a recording"),
        ("recording=one&t=12-15&name=%2Ftmp%2Fx", "no name for a recording"),
        ("recording=one&t=12-15&name=dangling", "already"),
        ("recording=../outside&t=12-15&name=other", "there is no recording"),
        ("recording=one&t=12-15", "lacks name="),
        ("recording=one&t=90-95&name=other", "no part of the recording"),
    ] {
        let answer = served.save(parameters);
        assert!(answer.starts_with("HTTP/1.1 422") && answer.contains(why), "{parameters}: {answer}");
    }
    assert_eq!(served.json("/api/recordings").as_array().unwrap().len(), 3);
}

#[test]
fn nodes_are_not_changed_unless_it_is_allowed() {
    let served = serve();
    let controls = served.json("/api/controls?recording=one");
    assert_eq!((&controls["is_allowed"], &controls["nodes"]), (&Value::Bool(false), &serde_json::json!([])));
    let headers = format!("Authorization: Bearer {}\r\nOrigin: http://{}\r\n", served.token, served.address);
    let valve = "recording=one&node=127.0.0.1&name=lwt&at=lwt&law=fixed&limit=8";
    for path in [format!("/api/add-valve?{valve}"), "/api/undo?recording=one&number=1".to_string()] {
        let answer = served.post(&path, &headers);
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("--allow-control"), "{answer}");
    }
}

#[test]
fn what_is_saved_from_one_recording_is_listed_beside_it() {
    let folder = TempDir::new().unwrap();
    record(&folder.path().join("one"));
    let library = Library::open(&folder.path().join("one")).unwrap();
    assert_eq!(library.saves(), folder.path().canonicalize().unwrap());
    record(&folder.path().join("saved"));
    library.add_saved("saved");
    let names: Vec<String> = library.listed().into_iter().map(|one| one.name).collect();
    assert_eq!(names.len(), 2);
    assert!(library.recording("saved").is_ok());
    assert!(library.recording("other").is_err());
}

#[test]
fn a_name_of_invalid_utf_8_is_listed_and_opened() {
    let served = serve();
    let folder = served.folder.path().join("inside");
    for bytes in [b"caf\xe9".as_slice(), b"caf\xe8"] {
        record(&folder.join(std::ffi::OsStr::from_bytes(bytes)));
    }
    let listed = served.json("/api/recordings");
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    for name in ["caf\\xe9", "caf\\xe8"] {
        assert!(names.contains(&name), "{names:?}");
        let asked = name.replace('\\', "%5C");
        assert_eq!(served.json(&format!("/api/report?recording={asked}"))["requests"], SECONDS * RATE);
    }
}

#[test]
fn queries_read_within_bounds() {
    let served = serve();
    let sql = |q: &str| served.with_token(&format!("/api/sql?recording=one&t=0-10&q={}", q.replace(' ', "+")));
    let rows = |q: &str| -> Value { serde_json::from_str(sql(q).split_once("\r\n\r\n").unwrap().1).unwrap() };
    let counted = rows("select count(*) as n, min(start_ns) as first_ns from requests");
    assert_eq!(counted["rows"][0][0], SLOW_FROM * RATE);
    assert_eq!(counted["rows"][0][1], T0.to_string(), "a number that JavaScript would round is a text");
    let many = rows("select a.start_ns from requests a cross join requests b");
    assert_eq!((many["rows"].as_array().unwrap().len(), &many["is_cut"]), (2000, &Value::Bool(true)));
    for (q, why) in [
        ("create table t as select 1", "a recording is only read"),
        ("copy requests to '/tmp/x.parquet'", "a recording is only read"),
        ("create external table t stored as parquet location '/etc'", "a recording is only read"),
        ("select * from '/etc/passwd'", "not found"),
        ("selec 1", "expected"),
    ] {
        let answer = sql(q);
        assert!(answer.starts_with("HTTP/1.1 422"), "{q}: {answer}");
        assert!(answer.to_lowercase().contains(&why.to_lowercase()), "{q}: {answer}");
    }
}

#[test]
fn a_browser_that_is_stuck_holds_nobody_back() {
    let served = serve();
    let begin = |text: &str| {
        let mut stream = TcpStream::connect(served.address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    let header = format!("Host: {}\r\nAuthorization: Bearer {}\r\n\r\n", served.address, served.token);
    // More queries than run at a time; nobody reads the answers, and half of the clients disconnect.
    let endless: String = url::form_urlencoded::byte_serialize(endless()[1].as_bytes()).collect();
    let mut stuck: Vec<TcpStream> = (0..3)
        .map(|number| begin(&format!("GET /api/sql?recording=one&n={number}&q={endless} HTTP/1.1\r\n{header}")))
        .collect();
    stuck.extend([begin(""), begin("GET / HTTP/1.1\r\nHost:")]);
    assert!(served.json("/api/recordings").is_array());
    let mut gone: Vec<TcpStream> = (3..9)
        .map(|number| begin(&format!("GET /api/sql?recording=one&n={number}&q={endless} HTTP/1.1\r\n{header}")))
        .collect();
    gone.append(&mut stuck);
    drop(gone);
    // Their queries end, and others can run.
    assert_eq!(served.json("/api/statements?recording=one&t=0-1")["rows"].as_array().unwrap().len(), 2);
}

#[test]
fn only_loopback_is_listened_on() {
    let folder = TempDir::new().unwrap();
    record(&folder.path().join("one"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bind = |address: &str| {
        let library = Library::open(folder.path()).unwrap();
        runtime.block_on(Server::bind(address.parse().unwrap(), library, Arc::new(Control::new(true, None))))
    };
    let everywhere = bind("0.0.0.0:0").unwrap_err();
    assert!(everywhere.to_string().contains("loopback"), "{everywhere}");
    let first = bind("127.0.46.2:0").unwrap();
    let taken = bind(&first.address().to_string()).unwrap_err();
    assert!(taken.to_string().contains("choose another port"), "{taken}");
    assert!(Library::open(&folder.path().join("nothing")).is_err());
    let empty = TempDir::new().unwrap();
    let none = Library::open(empty.path()).unwrap_err();
    assert!(none.to_string().contains("there is no recording in"), "{none}");
}

#[test]
fn live_figures_are_of_all_nodes_or_of_one() {
    let served = serve();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    record_from(&served.folder.path().join("inside/recent"), i64::try_from(now).unwrap() - 2 * SECONDS * S);
    let live = |node: &str| {
        let path = format!("/api/live?recording=recent&length=60{node}");
        let mut answer = Value::Null;
        for _ in 0..200 {
            answer = served.json(&path);
            // Until all is read.
            if answer["is_growing"] == false {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        answer
    };
    let all = live("");
    assert_eq!(all["totals"]["requests"], live("&node=127.0.0.1")["totals"]["requests"]);
    let nodes = served.json("/api/live-table?recording=recent&length=60&of=nodes&node=127.0.0.1");
    assert_eq!(nodes[0]["node"], "127.0.0.1");
    let refused = served.with_token("/api/live?recording=recent&node=127.0.0.9");
    assert!(refused.starts_with("HTTP/1.1 422") && refused.contains("127.0.0.9"), "{refused}");
    // The list of nodes is the way back.
    let nodes = served.json("/api/live-table?recording=recent&length=60&of=nodes&node=127.0.0.9");
    assert_eq!(nodes[0]["node"], "127.0.0.1");
}

#[test]
fn another_recording_of_the_same_name_has_its_own_answers() {
    let served = serve();
    let ask = || served.json("/api/report?recording=one")["requests"].clone();
    assert_eq!(ask(), SECONDS * RATE);
    let path = served.folder.path().join("inside/one");
    std::fs::remove_dir_all(&path).unwrap();
    let recorder = Recorder::create(&path, Manifest::new("another", "test")).unwrap();
    recorder.append(rows::Request {
        intended_start_ns: T0,
        start_ns: T0,
        end_ns: T0 + MS,
        node: "127.0.0.1",
        operation: "read",
        outcome: "ok",
        ..rows::Request::default()
    });
    recorder.close().unwrap();
    assert_eq!(ask(), 1);
}

/// Processes of this one that have not been waited for.
fn children() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let of_task = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    of_task.map(|children| children.split_whitespace().count()).sum()
}

/// Waits for a condition, for as long as a slow machine may take.
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < until, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A change of a node that only says whether it is in force.
#[derive(Debug, Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Wanted for Flag {
    fn make(&self, _: &NodeFacts) -> Result<(String, Box<dyn Undo>)> {
        self.0.store(true, Ordering::Relaxed);
        Ok(("a flag".to_string(), Box::new(self.clone())))
    }
}

impl Undo for Flag {
    fn undo(&mut self, _: &NodeFacts) -> Result<&'static str> {
        self.0.store(false, Ordering::Relaxed);
        Ok("undone")
    }

    fn by_hand(&self, _: &NodeFacts) -> Option<String> {
        None
    }
}

/// A server of a recording that grows, with a change in force.
fn serve_a_change(limits: fn() -> Limits) -> (Served, Recorder, Flag) {
    let control = Arc::new(Control::new(true, None));
    let served = serve_with(Arc::clone(&control), limits);
    let inside = served.folder.path().join("inside");
    let mut manifest = Manifest::new("grows", "test");
    manifest.nodes.push(NodeFacts { address: "127.0.0.1".into(), ..NodeFacts::default() });
    let recorder = Recorder::create(&inside.join("grows"), manifest).unwrap();
    let (flag, library) = (Flag::default(), Library::open(&inside).unwrap());
    control.change((&library, "grows"), "127.0.0.1", &flag, "a test").unwrap();
    (served, recorder, flag)
}

impl Served {
    /// Asks for rows as the page does.
    fn sql(&self, query: &str) -> String {
        let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        self.with_token(&format!("/api/sql?recording=one&q={query}"))
    }

    fn undo(&self) {
        let headers = format!("Authorization: Bearer {}\r\nOrigin: http://{}\r\n", self.token, self.address);
        let undone = self.post("/api/undo?recording=grows&number=1", &headers);
        assert!(undone.starts_with("HTTP/1.1 200"), "{undone}");
    }
}

/// So little that a question soon reaches its limits.
fn small() -> Limits {
    let bytes = 64 << 20;
    Limits { memory_bytes: 512 << 20, spill_bytes: bytes, file_bytes: Some(bytes), ..Limits::beside_a_node(10) }
}

fn short() -> Limits {
    Limits { within: Some(Duration::from_secs(10)), ..small() }
}

#[test]
fn deep_questions_do_not_end_the_server() {
    let (served, _recorder, flag) = serve_a_change(short);
    let unions = vec!["select 1"; 800].join(" union ");
    let joins = (0..800).map(|number| format!("marks m{number}")).collect::<Vec<_>>().join(", ");
    let casts = format!("select 1{}", "::bigint".repeat(1600));
    for query in [unions, format!("select count(*) from {joins}"), casts] {
        let answer = served.sql(&query);
        let clear = ["too many levels or parts", "recursion limit", "needs more memory", "took longer"];
        let is_clear = answer.starts_with("HTTP/1.1 200") || clear.iter().any(|why| answer.contains(why));
        assert!(is_clear, "{query:.60}: {answer}");
    }
    assert_eq!(served.json("/api/statements?recording=one&t=0-1")["rows"].as_array().unwrap().len(), 2);
    assert!(flag.0.load(Ordering::Relaxed), "the change is held");
    served.undo();
    assert!(!flag.0.load(Ordering::Relaxed));
}

#[test]
fn large_questions_end_with_their_limit_and_leave_nothing() {
    let (served, _recorder, flag) = serve_a_change(small);
    for query in [
        "select repeat('x', 2000000000)",
        "select length(repeat('x', 2000000000))",
        "select range(0, 1000000000)",
        "select a.start_ns from requests a, requests b, requests c order by a.start_ns + b.end_ns + c.end_ns",
    ] {
        let answer = served.sql(query);
        let is_clear = ["needs more memory", "needs more disk space"].iter().any(|why| answer.contains(why));
        assert!(answer.starts_with("HTTP/1.1 422") && is_clear, "{query}: {answer}");
    }
    assert!(flag.0.load(Ordering::Relaxed), "the change is held");
    let spilled = crate::scratch::of_questions().unwrap().path();
    let left: Vec<_> = std::fs::read_dir(spilled).unwrap().map(|entry| entry.unwrap().path()).collect();
    wait_for("the end of what was spilled", || left.iter().all(|path| !path.exists()));
    assert_eq!(served.json("/api/statements?recording=one&t=0-1")["rows"].as_array().unwrap().len(), 2);
}

/// These take longer than anybody waits: one in the parser, one in its rows.
fn endless() -> [String; 2] {
    let casts = format!("select {}1{}", "CAST(".repeat(60), " AS bigint)".repeat(60));
    let sum = "a.start_ns % 7 + b.start_ns % 7 + c.start_ns % 7 + d.start_ns % 7";
    [casts, format!("select max({sum}) from requests a, requests b, requests c, requests d")]
}

#[test]
fn endless_questions_keep_nobody_from_changes_and_live_figures() {
    let (served, _recorder, flag) = serve_a_change(|| Limits::beside_a_node(10));
    let before = children();
    let header = format!("Host: {}\r\nAuthorization: Bearer {}\r\n\r\n", served.address, served.token);
    let asked: Vec<TcpStream> = (0..8)
        .map(|number| {
            let query: String = url::form_urlencoded::byte_serialize(endless()[number % 2].as_bytes()).collect();
            let mut stream = TcpStream::connect(served.address).unwrap();
            let text = format!("GET /api/sql?recording=one&n={number}&q={query} HTTP/1.1\r\n{header}");
            stream.write_all(text.as_bytes()).unwrap();
            stream
        })
        .collect();
    wait_for("four questions", || children() >= before + 4);
    assert!(served.json("/api/recordings").is_array());
    assert_eq!(served.json("/api/controls?recording=grows")["made"].as_array().unwrap().len(), 1);
    served.json("/api/live?recording=grows&length=60");
    served.undo();
    assert!(!flag.0.load(Ordering::Relaxed));
    // The questions of browsers that have gone end, and give way to others.
    drop(asked);
    assert_eq!(served.json("/api/statements?recording=one&t=0-1")["rows"].as_array().unwrap().len(), 2);
}

#[test]
fn a_question_that_takes_too_long_is_ended_with_the_reason() {
    let served =
        serve_with(Arc::default(), || Limits { within: Some(Duration::from_secs(2)), ..Limits::beside_a_node(10) });
    for query in endless() {
        let answer = served.sql(&query);
        assert!(answer.starts_with("HTTP/1.1 422") && answer.contains("took longer than 2 s"), "{query}: {answer}");
    }
}

#[test]
fn a_silent_crowd_stops_no_page() {
    let served = serve();
    // The page is answered while most of those that came last may still send their request. On a machine that does
    // nothing for seconds they may be late, which has to happen again and again before it counts.
    let is_answered_at_once = (0..5).any(|_| {
        let silent: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(served.address).unwrap()).collect();
        assert!(served.ask("/", "").starts_with("HTTP/1.1 200"));
        assert!(served.json("/api/recordings").is_array());
        let is_open = |mut stream: &TcpStream| {
            stream.set_nonblocking(true).unwrap();
            stream.read(&mut [0; 1]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
        };
        silent.iter().filter(|stream| is_open(stream)).count() >= 100
    });
    assert!(is_answered_at_once);
    assert_eq!(served.json("/api/statements?recording=one&t=0-1")["rows"].as_array().unwrap().len(), 2);
}
