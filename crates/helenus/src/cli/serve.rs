use super::{POLL_EVERY, record};
use crate::interrupt::cancel_on_signals;
use crate::scratch::{Purpose, Scratch};
use crate::serve::{Control, Library, Server};
use crate::terminal;
use anyhow::{Context, Result, bail};
use clap::Args;
use helenus_cassandra::Cancel;
use helenus_observe::{SourceSwitches, SwitchRequest};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;
use std::time::Duration;

/// Above this size the oldest rows of a recorded node are deleted before their time.
const MOST_BYTES: u64 = 2 << 30;

/// Open recordings or running nodes in a browser: the workbench
///
/// Prints a link for a browser on this machine, and runs until Ctrl-C. The link has a token, which changes with each start;
/// everybody who has the link can read the recordings. From another machine, forward the port: ssh -L 7464:127.0.0.1:7464 HOST.
///
/// With --node it records a running node meanwhile, as `helenus record --keep` does, and opens the live page. The recording has
/// the last 30 minutes, at most 2 GiB.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus serve run.helenus
  helenus serve --node 127.0.0.1
  helenus serve --node 127.0.0.1 --keep 1h -o node.helenus
  helenus serve --node 127.0.0.1 --allow-control
  helenus serve /var/tmp/recordings --listen 127.0.0.1:0
  helenus serve run.helenus --json | jq -r .link")]
pub struct Arguments {
    /// A recording, or a folder of recordings
    #[arg(value_name = "RECORDING|FOLDER", default_value = ".", conflicts_with = "nodes")]
    path: PathBuf,
    /// Record a node that runs on this machine, by its CQL address, and show it live (may be given again, for a ring)
    #[arg(long = "node", value_name = "ADDRESS[:PORT]")]
    nodes: Vec<String>,
    /// How much of the recorded nodes to keep
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = super::duration, requires = "nodes")]
    keep: Duration,
    /// Folder of the nodes' recording, which stays [default: a temporary folder, which is deleted at the end]
    #[arg(short, long, value_name = "FOLDER", requires = "nodes")]
    output: Option<PathBuf>,
    /// Loopback address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7464")]
    listen: SocketAddr,
    /// Let everybody who has the link change the nodes that are being recorded: valves, settings, threads, and what is recorded;
    /// all is undone at the end
    #[arg(long)]
    allow_control: bool,
    /// Print the link as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let cancel = cancel_on_signals()?;
    let place = (!arguments.nodes.is_empty()).then(|| Place::of(arguments.output.as_deref())).transpose()?;
    let library = match &place {
        Some(place) => Library::of_new(&place.folder, &place.saves)?,
        None => Library::open(&arguments.path)?,
    };
    let (switches, asked) = SourceSwitches::new();
    let control = Arc::new(Control::new(arguments.allow_control, place.is_some().then_some(switches)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = runtime.block_on(Server::bind(arguments.listen, library, Arc::clone(&control)))?;
    let link = Link { link: server.link(), address: server.address(), json: arguments.json };
    let recorder = match place {
        None => {
            link.print();
            None
        }
        Some(place) => Some(Recorder::start(arguments.nodes, place, (arguments.keep, asked), cancel.clone(), link)?),
    };
    let is_over = || cancel.is_cancelled() || recorder.as_ref().is_some_and(Recorder::has_ended);
    runtime.block_on(async {
        let over = async {
            while !is_over() {
                tokio::time::sleep(POLL_EVERY).await;
            }
        };
        tokio::select! {
            () = server.serve() => {}
            () = over => {}
        }
    });
    // Running queries are not waited for.
    runtime.shutdown_background();
    for undone in control.undo_all() {
        match undone {
            Ok(done) => terminal::done(done),
            Err(error) => terminal::warn(format_args!("{error:#}")),
        }
    }
    recorder.map_or(Ok(()), Recorder::end)?;
    Ok(ExitCode::SUCCESS)
}

/// Where the page is.
struct Link {
    link: String,
    address: SocketAddr,
    json: bool,
}

impl Link {
    fn print(&self) {
        let Link { link, address, json } = self;
        if *json {
            terminal::data(serde_json::json!({ "link": link, "address": address, "port": address.port() }));
        } else {
            terminal::data(link);
            terminal::talk(terminal::dim("the workbench is at this link until Ctrl-C"));
        }
    }
}

/// Where the nodes' recording is.
struct Place {
    folder: PathBuf,
    /// Folder for windows that are saved.
    saves: PathBuf,
    /// Deleted at the end.
    temporary: Option<Scratch>,
}

impl Place {
    fn of(output: Option<&Path>) -> Result<Place> {
        if let Some(output) = output {
            let beside = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            return Ok(Place { folder: output.to_path_buf(), saves: beside.to_path_buf(), temporary: None });
        }
        let temporary = Scratch::new(Purpose::Serve)?;
        let folder = temporary.path().join("live.helenus");
        Ok(Place { folder, saves: PathBuf::from("."), temporary: Some(temporary) })
    }
}

/// The thread that records nodes.
struct Recorder {
    thread: JoinHandle<Result<()>>,
    temporary: Option<Scratch>,
}

impl Recorder {
    /// Prints the link once the nodes are recorded.
    fn start(
        nodes: Vec<String>,
        place: Place,
        (keep, switches): (Duration, Receiver<SwitchRequest>),
        cancel: Cancel,
        link: Link,
    ) -> Result<Recorder> {
        let Place { folder, temporary, .. } = place;
        let record =
            move || record::keep_nodes(&nodes, &folder, (keep, MOST_BYTES), &cancel, switches, || link.print());
        let thread = std::thread::Builder::new().name("recorder".into()).spawn(record);
        Ok(Recorder { thread: thread.context("cannot start the thread that records")?, temporary })
    }

    fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until the nodes are as before, and deletes a temporary recording.
    fn end(self) -> Result<()> {
        let Ok(outcome) = self.thread.join() else { bail!("the recorder failed; its message is above") };
        if let Some(temporary) = self.temporary {
            let folder = temporary.path().to_path_buf();
            match temporary.close() {
                Ok(()) if outcome.is_ok() => terminal::done("deleted the temporary recording; -o FOLDER would keep it"),
                Ok(()) => {}
                Err(error) => terminal::warn(format_args!("cannot delete {}: {error}", folder.display())),
            }
        }
        outcome
    }
}
