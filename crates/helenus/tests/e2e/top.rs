//! `helenus top` in a terminal that tmux provides.

use crate::harness::{Place, comes_true, signal_to, wait_for};
use helenus_needs::{need, program};
use helenus_recording::{Manifest, NodeFacts, Recorder, rows};
use std::path::Path;
use std::process::Command;

const SECOND: i64 = 1_000_000_000;
const NODE: &str = "127.0.0.1";

/// A terminal of 80×24 with a tmux server of its own, which ends with the test.
pub struct Terminal<'a> {
    place: &'a Place,
}

impl Terminal<'_> {
    /// Runs helenus in it. When helenus has ended, its exit code is shown and the shell waits.
    pub fn run<'a>(place: &'a Place, arguments: &str) -> Terminal<'a> {
        let helenus = env!("CARGO_BIN_EXE_helenus");
        let run = format!("echo $$ >pid; exec {helenus} {arguments}");
        let script = format!("sh -c '{run}'; echo ended with $?; exec cat");
        let terminal = Terminal { place };
        let folder = place.path("").display().to_string();
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-c", &folder, &script]);
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(self.place.path("tmux")).args(arguments);
        command.env_remove("TMUX").env("XDG_STATE_HOME", self.place.path("state")).env("LC_ALL", "C.UTF-8");
        let output = command.output().unwrap();
        assert!(output.status.success(), "tmux {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"][..], keys].concat());
    }

    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits for a text, and returns the screen with it.
    pub fn wait(&self, text: &str) -> String {
        let mut screen = String::new();
        let is_there = comes_true(|| {
            screen = self.screen();
            screen.contains(text)
        });
        assert!(is_there, "waited in vain for {text}; the terminal shows:\n{screen}");
        screen
    }

    /// Whether programs have the alternate screen, or have hidden the cursor.
    fn is_taken(&self) -> bool {
        self.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]).trim() != "0 1"
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(self.place.path("tmux")).arg("kill-server").output();
    }
}

/// A minute of requests; one in each ten seconds is slow, and overlaps a collection.
fn record(path: &Path) {
    let mut manifest = Manifest::new("made", "made");
    manifest.nodes.push(NodeFacts { address: NODE.to_string(), ..NodeFacts::default() });
    let begin_ns = manifest.created_ns - 60 * SECOND;
    manifest.created_ns = begin_ns;
    let recorder = Recorder::create(path, manifest).unwrap();
    for number in 0..6000 {
        let start_ns = begin_ns + number * SECOND / 100;
        let is_slow = number % 1000 == 500;
        recorder.append(rows::WireRequest {
            start_ns,
            duration_ns: if is_slow { SECOND } else { SECOND / 1000 },
            node: NODE,
            client: "10.0.0.7",
            client_port: 40_000,
            opcode: "EXECUTE",
            statement: if number % 4 == 0 { "INSERT INTO shop.orders" } else { "SELECT * FROM shop.orders" },
            answer: "rows",
            ..rows::WireRequest::default()
        });
        if is_slow {
            recorder.append(rows::Pause {
                start_ns: start_ns + SECOND / 100,
                duration_ns: SECOND / 3,
                node: NODE,
                kind: "gc",
                collector: Some("G1New"),
                ..rows::Pause::default()
            });
        }
    }
    recorder.close().unwrap();
}

#[test]
fn pages_are_gone_through_by_keys() {
    need!(program("tmux"));
    let place = Place::new();
    record(&place.path("made.helenus"));
    let terminal = Terminal::run(&place, "top made.helenus");
    let overview = terminal.wait("requests/s");
    assert!(overview.contains("made.helenus") && overview.contains("ended"), "{overview}");
    terminal.press(&["2"]);
    let statements = terminal.wait("calls/s");
    assert!(statements.find("INSERT") < statements.find("SELECT"), "those with most time first: {statements}");
    terminal.press(&["Enter"]);
    terminal.wait("Its slowest requests");
    terminal.press(&["Enter"]);
    terminal.wait("collection G1New");
    terminal.press(&["Escape"]);
    terminal.wait("Its slowest requests");
    terminal.press(&["2"]);
    terminal.press(&["/", "select", "Enter"]);
    wait_for("the filter", || {
        let screen = terminal.screen();
        screen.contains("SELECT") && !screen.contains("INSERT")
    });
    terminal.press(&["?"]);
    terminal.wait("reverse the order");
    terminal.press(&["x", "q"]);
    terminal.wait("ended with 0");
    assert!(!terminal.is_taken(), "the terminal is as it was");
}

#[test]
fn the_terminal_is_given_back_when_it_is_ended() {
    need!(program("tmux"));
    let place = Place::new();
    record(&place.path("made.helenus"));
    let terminal = Terminal::run(&place, "top made.helenus");
    terminal.wait("requests/s");
    assert!(terminal.is_taken());
    let pid = std::fs::read_to_string(place.path("pid")).unwrap();
    signal_to(pid.trim().parse().unwrap(), libc::SIGTERM);
    terminal.wait("ended with");
    assert!(!terminal.is_taken(), "the terminal is as it was");
}

#[test]
fn without_a_terminal_it_names_another_way() {
    let place = Place::new();
    let said = place.run("top made.helenus");
    assert_eq!(said.status.code(), Some(2));
    assert!(said.err.contains("statements --json"), "{}", said.err);
}
