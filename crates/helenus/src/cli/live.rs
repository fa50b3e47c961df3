//! Lets commands that show recordings also show running nodes, by recording them for a short time.

mod watching;

use super::access::TlsArguments;
use super::opened::opened;
use crate::{interrupt, terminal};
use anyhow::{Context, Result, bail};
use clap::Args;
use helenus_explain::Engine;
use helenus_notation::given;
use helenus_observe::{JmxEndpoint, Keys};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;
use watching::Watching;

/// How often the virtual tables are queried.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// The shortest time that two readings need.
const SHORTEST: Duration = Duration::from_secs(2);

/// Recordings, or nodes that run.
#[derive(Debug, Args)]
pub struct Sources {
    /// One or more recordings
    #[arg(value_name = "RECORDING", conflicts_with = "nodes")]
    recordings: Vec<PathBuf>,
    #[command(flatten)]
    live: LiveArguments,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Nodes that run")]
struct LiveArguments {
    /// Instead of recordings: a running node on this machine, by its CQL address (repeatable, for a ring)
    #[arg(long = "node", value_name = "ADDRESS[:PORT]")]
    nodes: Vec<String>,
    /// How long to look
    #[arg(long = "for", value_name = "DURATION", default_value = "10s", value_parser = super::duration, requires = "nodes")]
    lasts: Duration,
    /// Look again and again, until Ctrl-C
    #[arg(long, requires = "nodes")]
    watch: bool,
    /// Leave the JVMs alone: ask CQL's virtual tables, and look at the files of SSTables. Nodes may be on other machines
    #[arg(long, requires = "nodes")]
    no_agent: bool,
    /// Leave the JVM alone, and read its MBeans over JMX, as nodetool does; the schema comes over CQL. Nodes may be on other
    /// machines (one for each --node, in their order)
    #[arg(long, value_name = "HOST:PORT", requires = "nodes", conflicts_with = "no_agent")]
    jmx: Vec<String>,
    /// User name for JMX, if the nodes require one
    #[arg(long, value_name = "NAME", requires_all = ["jmx", "jmx_password_file"])]
    jmx_user: Option<String>,
    /// A file with that user's password
    #[arg(long, value_name = "FILE", requires = "jmx_user")]
    jmx_password_file: Option<PathBuf>,
    /// User name for CQL, which --no-agent and --jmx use, if the node requires one
    #[arg(long, value_name = "NAME", requires = "password_file")]
    user: Option<String>,
    /// A file with that user's password, so that it is not seen among the processes
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
    #[command(flatten)]
    tls: TlsArguments,
    /// Whether the command needs requests of clients, but nothing of the JVM.
    #[arg(skip)]
    requests: bool,
    /// Receives the texts of partition keys.
    #[arg(skip)]
    keys: Option<Keys>,
}

/// How long a node may take to answer over CQL.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The figures of one of several readings, with the time at its end.
#[derive(Debug, Serialize)]
pub struct Timed<'a, T> {
    time: String,
    #[serde(flatten)]
    shown: &'a T,
}

pub fn timed<T: Serialize>(shown: &T) -> Timed<'_, T> {
    Timed { time: chrono::Local::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, false), shown }
}

/// The sources of the figures, one line for each that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    Agent,
    Jmx,
    VirtualTables,
}

impl Sources {
    /// Recordings or, where there are none, the requests of clients to nodes that run. The texts of partition keys go to `keys`.
    pub fn of_requests(
        recordings: Vec<PathBuf>,
        nodes: Vec<String>,
        lasts: Duration,
        watch: bool,
        keys: Option<Keys>,
    ) -> Sources {
        let live = LiveArguments {
            nodes,
            lasts,
            watch,
            no_agent: false,
            jmx: Vec::new(),
            jmx_user: None,
            jmx_password_file: None,
            user: None,
            password_file: None,
            tls: TlsArguments::default(),
            requests: true,
            keys,
        };
        Sources { recordings, live }
    }

    /// Opens the recordings, or records the nodes, and passes the result on: once, or with --watch until it is
    /// cancelled.
    pub fn each(&self, json: bool, mut show: impl FnMut(&Engine) -> Result<()>) -> Result<()> {
        if self.live.nodes.is_empty() {
            if self.recordings.is_empty() {
                bail!("nothing to look at: give a recording, or --node ADDRESS of a node that runs");
            }
            return show(&opened(&self.recordings)?);
        }
        if self.live.lasts < SHORTEST {
            bail!("--for {:?} is too short for two readings; give {SHORTEST:?} or more", self.live.lasts);
        }
        let cancel = interrupt::cancel_on_signals()?;
        let clear = self.live.watch && !json && std::io::stdout().is_terminal();
        let mut watching = Watching::begin(&self.live)?;
        loop {
            let waited = watching.wait(&cancel);
            let goes_on = waited.is_ok() && self.live.watch && !cancel.is_cancelled();
            let (reading, next) = if goes_on { watching.next_reading()? } else { (watching.end()?, None) };
            waited?;
            // With --watch, the last reading is not shown: the user has seen the readings before it.
            if self.live.watch && !goes_on {
                return Ok(());
            }
            let engine = Engine::open(&[reading.recording])?;
            if clear {
                terminal::clear();
            }
            if self.live.watch && !json {
                terminal::print(terminal::dim(terminal::now()));
            }
            show(&engine)?;
            std::io::stdout().flush()?;
            match next {
                Some(next) => watching = next,
                None => return Ok(()),
            }
        }
    }

    pub fn reads_recordings(&self) -> bool {
        !self.recordings.is_empty()
    }

    pub fn is_watching(&self) -> bool {
        self.live.watch
    }
}

impl LiveArguments {
    fn endpoints(&self, nodes: usize) -> Result<Vec<JmxEndpoint>> {
        if !self.jmx.is_empty() && self.jmx.len() != nodes {
            bail!("there are {} of --jmx for {nodes} of --node; give one for each, in the same order", self.jmx.len());
        }
        let login = self.login(self.jmx_user.as_ref(), self.jmx_password_file.as_ref())?;
        Ok(self.jmx.iter().map(|address| JmxEndpoint { address: address.clone(), login: login.clone() }).collect())
    }

    fn login(&self, user: Option<&String>, file: Option<&PathBuf>) -> Result<Option<(String, String)>> {
        let Some((user, file)) = user.cloned().zip(file) else { return Ok(None) };
        let password = given::read_text(file, given::WRITTEN_AT_MOST)
            .with_context(|| format!("cannot read the password file {}", file.display()))?;
        Ok(Some((user, password.trim_end_matches(['\r', '\n']).to_string())))
    }
}

/// Describes the providers of a source's figures.
pub fn provider(engine: &Engine, source: &str) -> Vec<Provider> {
    let mut providers: Vec<Provider> = Vec::new();
    for facts in engine.manifests().iter().flat_map(|manifest| &manifest.sources) {
        let provider = match facts.provider.as_str() {
            "jmx" => Provider::Jmx,
            other if other.starts_with("cql") => Provider::VirtualTables,
            _ => Provider::Agent,
        };
        if facts.name == source && !providers.contains(&provider) {
            providers.push(provider);
        }
    }
    providers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_has_its_time_beside_its_figures() {
        #[derive(Serialize)]
        struct Shown {
            tables: usize,
        }
        let reading = serde_json::to_value(timed(&Shown { tables: 3 })).unwrap();
        assert_eq!(reading["tables"], 3);
        assert!(chrono::DateTime::parse_from_rfc3339(reading["time"].as_str().unwrap()).is_ok(), "{reading}");
    }
}
