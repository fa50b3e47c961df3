use crate::{interrupt, terminal};
use anyhow::Result;
use clap::Args;
use helenus_load::responder::Responder;
use serde_json::json;
use std::net::SocketAddr;
use std::process::ExitCode;

/// Answer CQL without a database, to measure the client's own cost
///
/// Takes any schema, prepares any statement and answers every request at once, on one thread. A load
/// against it measures the load driver and the machine without a database: the most that this client can measure.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus responder &
  helenus load keyvalue/write --node 127.0.0.1 --in-flight 128 --for 10s
  helenus responder --listen 127.0.0.2:9042")]
pub struct Arguments {
    /// Address to listen on; only on this machine, because clients need no login
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9042", value_parser = listen)]
    listen: SocketAddr,
    /// Print the number of answered requests as JSON at the end
    #[arg(long)]
    json: bool,
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    let address = helenus_cassandra::cql::parse_address(text).ok_or("an address such as 127.0.0.1:9042")?;
    if address.ip().is_loopback() { Ok(address) } else { Err("only loopback addresses, such as 127.0.0.1".to_string()) }
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let cancel = interrupt::cancel_on_signals()?;
    let responder = Responder::start(arguments.listen)?;
    terminal::done(format_args!("answering on {}, until Ctrl-C", responder.address()));
    while !cancel.is_cancelled() {
        std::thread::sleep(super::POLL_EVERY);
    }
    terminal::talk(format_args!("{} requests answered", terminal::count(responder.executed())));
    if arguments.json {
        terminal::json(&json!({ "address": responder.address(), "requests": responder.executed() }))?;
    }
    Ok(ExitCode::SUCCESS)
}
