use super::POLL_EVERY;
use crate::interrupt::cancel_on_signals;
use crate::serve::{Library, Server};
use crate::terminal;
use anyhow::Result;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Open recordings in a browser: the workbench
///
/// Prints a link for a browser on this machine, and runs until Ctrl-C. The link has a token, which changes with each start;
/// everybody who has the link can read the recordings. From another machine, forward the port: ssh -L 7464:127.0.0.1:7464 HOST.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus serve run.helenus
  helenus serve /var/tmp/recordings --listen 127.0.0.1:0
  helenus serve run.helenus --json | jq -r .link")]
pub struct Arguments {
    /// A recording, or a folder of recordings
    #[arg(value_name = "RECORDING|FOLDER", default_value = ".")]
    path: PathBuf,
    /// Loopback address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7464")]
    listen: SocketAddr,
    /// Print the link as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let cancel = cancel_on_signals()?;
    let library = Library::open(&arguments.path)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = runtime.block_on(Server::bind(arguments.listen, library))?;
    if arguments.json {
        let (link, address) = (server.link(), server.address());
        terminal::json_line(&serde_json::json!({ "link": link, "address": address, "port": address.port() }))?;
    } else {
        terminal::data(server.link());
        terminal::talk(terminal::dim("the workbench is at this link until Ctrl-C"));
    }
    runtime.block_on(async {
        let cancelled = async {
            while !cancel.is_cancelled() {
                tokio::time::sleep(POLL_EVERY).await;
            }
        };
        tokio::select! {
            () = server.serve() => {}
            () = cancelled => {}
        }
    });
    // Running queries are not waited for.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}
