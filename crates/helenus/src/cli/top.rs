//! Pages in a terminal that show what a node does while it does it, or what a recording has.

mod app;
mod chart;
mod draw;
mod feed;
mod findings;
mod listing;
mod node;
mod overview;
mod pages;
mod paint;
mod screen;
mod spectrogram;
#[cfg(test)]
mod tests;

use crate::{interrupt, terminal};
use anyhow::{Result, bail};
use app::App;
use clap::Args;
use feed::Feed;
use findings::Findings;
use helenus_explain::LiveWindow;
use node::Node;
use pages::Page;
use paint::Paint;
use screen::Screen;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The shortest time between two readings.
const SHORTEST: Duration = Duration::from_millis(200);
/// Interval of checks for a signal.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// While a recording grows, findings are about this many seconds.
const SEARCHED_S: u32 = 60;

/// Show what a node does in pages that move, as htop shows a machine
///
/// Requests, statements, clients, thread groups, pools, tables, files, pauses, findings, the slowest requests and a spectrogram. Figures
/// are of the last seconds; keys go back in time, sort, filter, and into a line. ? lists the keys.
///
/// With --node a running node on this machine is recorded while the pages are shown, its last 15 minutes in a temporary folder that is
/// deleted at the end. A recording may be closed or still grow.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus top --node 127.0.0.1
  helenus top --node 127.0.0.1 --files
  helenus top --node 127.0.0.1 --for 10m --interval 2s
  helenus record --node 127.0.0.1 --for 60s -o node.helenus && helenus top node.helenus")]
pub struct Arguments {
    /// A recording: closed, or one that grows
    #[arg(value_name = "RECORDING", required_unless_present = "nodes", conflicts_with = "nodes")]
    recording: Option<PathBuf>,
    /// A node that runs on this machine, by its CQL address (may be given again, for a ring)
    #[arg(long = "node", value_name = "ADDRESS[:PORT]")]
    nodes: Vec<String>,
    /// End after this time
    #[arg(long = "for", value_name = "DURATION", value_parser = super::duration)]
    lasts: Option<Duration>,
    /// Between two readings
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = super::duration)]
    interval: Duration,
    /// Leave the JVM alone: no GC, pools and tables
    #[arg(long, requires = "nodes")]
    no_agent: bool,
    /// Also record system calls added up by file, for the page of files (needs root)
    #[arg(long, requires = "nodes")]
    files: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        bail!(
            "helenus top shows pages on a terminal, and this is none; for figures as data, use helenus statements --json, helenus clients --json or helenus explain --json"
        );
    }
    if arguments.interval < SHORTEST {
        bail!("--interval {:?} is too short; give {SHORTEST:?} or more", arguments.interval);
    }
    let cancel = interrupt::cancel_on_signals()?;
    let mut node = match arguments.nodes.is_empty() {
        true => None,
        false => Some(Node::record(&arguments.nodes, arguments.no_agent, arguments.files)?),
    };
    let shown = show(arguments, node.as_mut(), &cancel);
    // Restore the terminal before any message is printed.
    std::io::stdout().flush()?;
    if let Some(node) = node {
        node.end();
    }
    shown?;
    Ok(ExitCode::SUCCESS)
}

fn show(arguments: &Arguments, mut node: Option<&mut Node>, cancel: &helenus_cassandra::Cancel) -> Result<()> {
    let path = match (&node, &arguments.recording) {
        (Some(node), _) => node.path().to_path_buf(),
        (None, Some(path)) => path.clone(),
        (None, None) => bail!("nothing to look at: give a recording, or --node ADDRESS of a node that runs"),
    };
    let name = match node.is_some() {
        true => arguments.nodes.join(" "),
        false => {
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
        }
    };
    let mut steps = terminal::Steps::new();
    steps.step(format_args!("reading {}", path.display()));
    let (mut feed, mut live) = Feed::open(&path)?;
    feed.take(&mut live)?;
    drop(steps);
    let mut app = App::new(live, name, Paint::of_terminal(), feed.grows(), Findings::of(Some(feed.path())));
    let mut screen = Screen::open()?;
    let begun = Instant::now();
    let mut due = begun;
    screen.draw(&mut app)?;
    while !app.is_over && !cancel.is_cancelled() && arguments.lasts.is_none_or(|lasts| begun.elapsed() < lasts) {
        let mut is_changed = false;
        if app.grows && Instant::now() >= due {
            due = Instant::now() + arguments.interval;
            if let Some(node) = &mut node {
                app.notice = node.keep().or(app.notice.take());
            }
            feed.take(&mut app.live)?;
            app.grows = feed.grows();
            is_changed = !app.is_paused();
        }
        let is_visible = app.page == Page::Findings;
        let window = searched(&app);
        is_changed |= app.findings.update(window, is_visible, app.grows);
        if is_changed {
            screen.draw(&mut app)?;
        }
        if screen.keys(
            &mut app,
            LOOK_EVERY.min(due.saturating_duration_since(Instant::now())).max(Duration::from_millis(20)),
        )? {
            app.notice = None;
            screen.draw(&mut app)?;
        }
    }
    Ok(())
}

/// The window that findings are searched for in.
fn searched(app: &App) -> Option<LiveWindow> {
    if app.grows && !app.is_paused() { app.live.last(SEARCHED_S) } else { app.window() }
}
