//! The commands of docs/tutorial.md and README.md, run as they are printed: what the pages promise comes out.
//!
//! Four things differ from what a reader does:
//! - The node has an address of its own in place of 127.0.0.1, and a small heap.
//! - Times after `--for` and `--each` are a third, because a reader's half hour is too long for a test.
//! - `PID` is the node's process.
//! - Experiments are only read: their node starts would take minutes. Other tests run experiments.

use crate::alone;
use crate::harness::{CommandOutput, Place, Running, pid_of_node, wait_for};
use helenus_needs::{need, root};
use std::path::Path;
use std::process::{Command, Stdio};

const ADDRESS: &str = "127.0.30.40";
const SHORTENED_BY: u64 = 3;

/// A fenced block of a page, and the paragraph before it.
struct Block {
    language: String,
    text: String,
    before: String,
}

/// The blocks of a page of the repository, in their order.
fn blocks(page: &str) -> Vec<Block> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page)).unwrap();
    let parts: Vec<&str> = text.split("```").collect();
    let block = |pair: &[&str]| {
        let (language, text) = pair[1].split_once('\n').unwrap();
        let before = pair[0].trim_end().rsplit("\n\n").next().unwrap_or_default().replace('\n', " ");
        Block { language: language.to_string(), text: text.to_string(), before }
    };
    parts.chunks_exact(2).map(block).collect()
}

/// The commands with times cut, and with the node of the test.
fn adapted(commands: &str, pid: Option<i32>) -> String {
    let mut out = String::new();
    for line in commands.lines() {
        let mut words: Vec<String> = line.split(' ').map(str::to_string).collect();
        for at in 1..words.len() {
            if ["--for", "--each"].contains(&words[at - 1].as_str()) {
                let seconds: u64 = words[at].strip_suffix('s').unwrap().parse().unwrap();
                words[at] = format!("{}s", seconds.div_ceil(SHORTENED_BY));
            }
        }
        let line = words.join(" ").replace("127.0.0.1", ADDRESS);
        let line = pid.map_or(line.clone(), |pid| line.replace("PID", &pid.to_string()));
        let options = format!("helenus up --address {ADDRESS} --heap 512m --jvm-opt -XX:TieredStopAtLevel=1");
        out.push_str(&line.replace("helenus up", &options));
        out.push('\n');
    }
    out
}

/// A shell in the folder of the test, with its state and its binary.
fn shell(place: &Place, commands: &str) -> Running {
    let binary = Path::new(env!("CARGO_BIN_EXE_helenus")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command
        .args(["-ec", commands])
        .current_dir(place.path(""))
        .env("PATH", path)
        .env("XDG_STATE_HOME", place.path("state"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Running::of(command)
}

/// What the commands printed; they must succeed.
fn well(commands: &str, result: CommandOutput) -> String {
    assert!(result.status.success(), "{commands}{}\n{}\n{}", result.status, result.out, result.err);
    format!("{}{}", result.out, result.err)
}

/// The text on one line, with `N` for each number or address and `T` for each time.
fn without_figures(text: &str) -> String {
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let mut out = String::new();
        let mut number = String::new();
        for letter in word.chars().chain([' ']) {
            if letter.is_ascii_digit() || (!number.is_empty() && [',', '.'].contains(&letter)) {
                number.push(letter);
            } else {
                let kept = number.trim_end_matches([',', '.']);
                if !kept.is_empty() {
                    out.push('N');
                    out.push_str(&number[kept.len()..]);
                }
                number.clear();
                out.push(letter);
            }
        }
        words.push(out.trim_end().to_string());
    }
    let mut text = words.join(" ");
    for unit in ["µs", "ms", "s"] {
        for after in [" ", ":", ",", ".", ")"] {
            text = text.replace(&format!("N {unit}{after}"), &format!("T{after}"));
        }
    }
    text
}

/// Each sentence of a printed answer that tells a cause or a step is in the output, with other figures.
fn promises(printed: &str, output: &str) {
    let answer = printed.split("\n\n").next().unwrap();
    let (answer, output) = (without_figures(answer), without_figures(output));
    let sentences = answer.split_inclusive(". ").map(str::trim);
    for sentence in sentences.filter(|text| !["Helenus judged", "That is"].iter().any(|begin| text.starts_with(begin)))
    {
        assert!(output.contains(sentence), "`{sentence}` is promised, and comes not:\n{output}");
    }
}

#[test]
fn the_tutorial_and_the_readme_lead_to_what_they_promise() {
    need!(root());
    let _machine = alone();
    let place = Place::new();
    let (tutorial, readme) = (blocks("docs/tutorial.md"), blocks("README.md"));
    let find = |page: &[Block], text: &str| page.iter().position(|block| block.text.contains(text)).unwrap();
    let stops = &tutorial[find(&tutorial, "kill -STOP")];
    let mut pid = None;
    let mut running: Vec<(String, Running)> = Vec::new();
    let mut output = String::new();
    for block in &tutorial {
        let commands = adapted(&block.text, pid);
        match block.language.as_str() {
            "toml" => std::fs::write(place.path("heap.toml"), &block.text).unwrap(),
            "sh" if commands.contains("helenus lab run") => is_an_experiment(&place.path("heap.toml")),
            "sh" if ["In one terminal", "In another"].iter().any(|begins| block.before.starts_with(begins)) => {
                running.push((commands.clone(), shell(&place, &commands)));
                if commands.contains("helenus record") {
                    let said = |text: &str| running.last().unwrap().1.has_said(text);
                    wait_for("the sources to record", || said("recording for"));
                }
            }
            "sh" => {
                output = well(&commands, shell(&place, &commands).end());
                if block.text == stops.text {
                    // The other terminals are done before the next step.
                    for (commands, other) in running.drain(..) {
                        well(&commands, other.end());
                    }
                }
                if commands.contains("helenus up") {
                    pid = Some(pid_of_node(&place));
                }
            }
            "" => promises(&block.text, &output),
            other => panic!("{other}"),
        }
        if block.text.contains("helenus explain both.helenus") {
            readme_leads_to_what_it_promises(&place, &readme, &tutorial, pid);
        }
    }
    assert_eq!(place.json("ps --json"), serde_json::json!([]), "the tutorial cleans up");
}

/// The commands of the README, on the tutorial's node.
fn readme_leads_to_what_it_promises(place: &Place, readme: &[Block], tutorial: &[Block], pid: Option<i32>) {
    let of = |page: &'static str, text: &str| -> String {
        let page = if page == "readme" { readme } else { tutorial };
        page.iter().find(|block| block.text.contains(text)).unwrap().text.clone()
    };
    let printed = |text: &str| {
        let at = readme.iter().position(|block| block.text.contains(text)).unwrap();
        readme[at + 1].text.clone()
    };
    let load = adapted(&of("tutorial", "--rate 2k"), pid).replace("load.helenus", "beside.helenus");
    let record = adapted(&of("readme", "helenus record"), pid).replace("node.helenus", "readme.helenus");
    let load = shell(place, &load);
    let recording = shell(place, &record);
    wait_for("the sources to record", || recording.has_said("recording for"));
    let stops = adapted(&of("tutorial", "kill -STOP"), pid);
    well(&stops, shell(place, &stops).end());
    promises(&printed("helenus record"), &well(&record, recording.end()));
    load.signal(libc::SIGINT);
    load.end();

    let steps = adapted(&of("readme", "--steps"), pid);
    let (promised, table) = (printed("--steps"), well(&steps, shell(place, &steps).end()));
    let columns = |text: &str| text.lines().next().unwrap().split_whitespace().take(4).collect::<Vec<_>>().join(" ");
    assert_eq!(columns(&table), columns(&promised));
    let names = |text: &str| -> Vec<String> {
        let first = text.lines().filter_map(|line| line.split_whitespace().next());
        first
            .filter(|name| name.ends_with("/s") && name.starts_with(|digit: char| digit.is_ascii_digit()))
            .map(str::to_string)
            .collect()
    };
    assert_eq!(names(&table), names(&promised));

    let lab = of("readme", "helenus lab run");
    let file = lab.split_whitespace().nth(3).unwrap();
    is_an_experiment(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file));
}

fn is_an_experiment(file: &Path) {
    helenus_lab::Experiment::read(file).unwrap();
}
