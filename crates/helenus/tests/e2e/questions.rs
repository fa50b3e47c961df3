//! Questions about recordings in processes of their own: their limits, and what is left when something is killed.

use crate::harness::{Place, Running, wait_for};
use helenus_recording::{Manifest, Recorder, rows};
use serde_json::Value;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;

const S: i64 = 1_000_000_000;

fn record(path: &Path) {
    let recorder = Recorder::create(path, Manifest::new("many requests", "test")).unwrap();
    recorder.append(rows::Mark {
        end_ns: 20 * S,
        kind: "phase",
        name: "steady",
        measured: true,
        ..rows::Mark::default()
    });
    for number in 0..2000 {
        let due = number * S / 100;
        recorder.append(rows::Request {
            intended_start_ns: due,
            start_ns: due,
            end_ns: due + S / 1000,
            node: "127.0.0.1",
            operation: "read",
            outcome: "ok",
            ..rows::Request::default()
        });
    }
    recorder.close().unwrap();
}

/// A place with a recording `r`, and a folder for temporary files.
fn place() -> Place {
    let place = Place::new();
    record(&place.path("r"));
    std::fs::create_dir(place.path("tmp")).unwrap();
    place
}

fn start(place: &Place, arguments: &str, query: Option<&str>) -> Running {
    let mut command = place.command(arguments);
    command.env("TMPDIR", place.path("tmp")).args(query);
    Running::of(command)
}

fn left(place: &Place) -> usize {
    std::fs::read_dir(place.path("tmp")).unwrap().count()
}

/// Parsing it takes longer than anybody waits.
fn endless() -> String {
    format!("select {}1{}", "CAST(".repeat(60), " AS bigint)".repeat(60))
}

/// The processes below one.
fn below(pid: i32) -> Vec<i32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().map(|child| child.parse().unwrap()).collect()
}

fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
fn a_query_gets_what_it_may_take_and_no_more() {
    let place = place();
    let unions = vec!["select 1"; 800].join(" union ");
    let casts = format!("select 1{}", "::bigint".repeat(1600));
    for (arguments, query, why) in [
        ("sql r --timeout 2s", endless().as_str(), "took longer than 2 s and was ended; --timeout"),
        ("sql r --memory 400MiB", "select repeat('x', 2000000000)", "more memory than the 400.0 MiB"),
        ("sql r --memory 400MiB", "select range(0, 1000000000)", "more memory"),
        (
            "sql r --memory 400MiB --disk 1MiB",
            "select a.start_ns from requests a, requests b, requests c order by a.start_ns + b.end_ns + c.end_ns",
            "more disk space",
        ),
    ] {
        let result = start(&place, arguments, Some(query)).end();
        assert_eq!(result.status.code(), Some(2), "{query:.80}: {}", result.err);
        assert!(result.err.contains(why), "{query:.80}: {}", result.err);
    }
    for query in [unions, casts] {
        let result = start(&place, "sql r", Some(&query)).end();
        assert!(matches!(result.status.code(), Some(0 | 2)), "{query:.80}: {} {}", result.status, result.err);
    }
    // Data, messages and exit codes are those of the command.
    let rows = start(&place, "sql r --csv", Some("select count(*) as n from requests")).end();
    assert_eq!((rows.out.as_str(), rows.status.code()), ("n\n2000\n", Some(0)), "{}", rows.err);
    let wrong = start(&place, "sql r", Some("select nothing from requests")).end();
    assert!(wrong.status.code() == Some(2) && wrong.err.contains("nothing"), "{}", wrong.err);
    assert_eq!(left(&place), 0, "nothing is left in the folder for temporary files");
}

#[test]
fn a_signal_ends_a_command_with_the_process_that_works_for_it() {
    let place = place();
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let query = start(&place, "sql r", Some(&endless()));
        wait_for("the process of the query", || !below(query.pid()).is_empty());
        let child = below(query.pid())[0];
        query.signal(signal);
        let ended = query.end();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended.status), Some(signal), "{}", ended.err);
        assert!(!is_alive(child));
        assert_eq!(left(&place), 0);
    }
}

#[test]
fn what_a_killed_server_leaves_ends_with_it_and_is_removed_by_the_next() {
    let place = place();
    let served = start(&place, "serve r --listen 127.0.0.1:0 --json", None);
    wait_for("the link", || served.printed().ends_with('\n'));
    let link: Value = serde_json::from_str(&served.printed()).unwrap();
    let (address, token) =
        (link["address"].as_str().unwrap(), link["link"].as_str().unwrap().split_once("#token=").unwrap().1);
    let query: String = url::form_urlencoded::byte_serialize(endless().as_bytes()).collect();
    let mut asked = TcpStream::connect(address).unwrap();
    let text = format!(
        "GET /api/sql?recording=r&q={query} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    asked.write_all(text.as_bytes()).unwrap();
    wait_for("the process of the question", || !below(served.pid()).is_empty());
    let child = below(served.pid())[0];
    served.signal(libc::SIGKILL);
    served.end();
    wait_for("the end of the process of the question", || !is_alive(child));
    assert_eq!(left(&place), 1);
    assert_eq!(place_of_left(&place), "helenus-questions-");
    start(&place, "sql r", Some("select 1")).end();
    assert_eq!(left(&place), 0);
}

/// What the name of the only folder for temporary files begins with.
fn place_of_left(place: &Place) -> String {
    let entry = std::fs::read_dir(place.path("tmp")).unwrap().next().unwrap().unwrap();
    entry.file_name().into_string().unwrap().chars().take("helenus-questions-".len()).collect()
}

#[test]
fn people_do_not_meet_the_command_of_such_a_process() {
    let place = place();
    let mut texts = vec![place.well("--help"), place.well("completions bash"), place.well("completions zsh")];
    place.well("completions man --to man");
    let pages = std::fs::read_dir(place.path("man")).unwrap();
    texts.extend(pages.map(|page| std::fs::read_to_string(page.unwrap().path()).unwrap()));
    assert!(texts.len() > 40 && texts.iter().all(|text| !text.contains("__within")));
    for arguments in ["__within", "__within {} answer"] {
        let refused = place.run(arguments);
        assert!(refused.status.code() == Some(2) && refused.err.contains("no command for people"), "{}", refused.err);
    }
}
