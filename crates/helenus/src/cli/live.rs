//! Recordings of the moment: the commands that show recordings also show nodes that run, by recording them for a while.

use super::nodes;
use super::opened::opened;
use crate::assets::AGENT_JAR;
use crate::{interrupt, terminal};
use anyhow::{Context, Result, bail};
use clap::Args;
use helenus_cassandra::Cancel;
use helenus_cassandra::cql::Credentials;
use helenus_cassandra::target::{self, Target, Which};
use helenus_explain::Engine;
use helenus_observe::{Event, Observation, Options, ProcessKind, Views, Watched};
use helenus_recording::{Manifest, NodeFacts, Recorder, Recording};
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often the virtual tables are asked.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// The least that two readings need.
const SHORTEST: Duration = Duration::from_secs(2);

/// Recordings, or nodes that run.
#[derive(Debug, Args)]
pub struct Sources {
    /// One recording or more
    #[arg(value_name = "RECORDING", required_unless_present = "nodes", conflicts_with = "nodes")]
    recordings: Vec<PathBuf>,
    #[command(flatten)]
    live: LiveArguments,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Nodes that run")]
struct LiveArguments {
    /// In place of recordings: a node that runs on this machine, by its CQL address (may be given again, for a ring)
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
    /// With --no-agent: user, where the node asks for one
    #[arg(long, value_name = "NAME", requires = "password_file")]
    user: Option<String>,
    /// With --no-agent: a file with the user's password, so that it is not seen among the processes
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
}

/// How the figures were had, for each way that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    Agent,
    VirtualTables,
}

impl Sources {
    /// Opens the recordings, or makes one of the nodes, and hands it over: once, or with --watch until it is cancelled.
    pub fn each(&self, json: bool, mut show: impl FnMut(&Engine) -> Result<()>) -> Result<()> {
        if self.live.nodes.is_empty() {
            return show(&opened(&self.recordings)?);
        }
        if self.live.lasts < SHORTEST {
            bail!("--for {:?} is too short for two readings; give {SHORTEST:?} or more", self.live.lasts);
        }
        let cancel = interrupt::cancel_on_signals()?;
        let clear = self.live.watch && !json && std::io::stdout().is_terminal();
        loop {
            let look = self.live.look(&cancel)?;
            // Whoever watches has seen the looks before this one.
            if cancel.is_cancelled() && self.live.watch {
                return Ok(());
            }
            let engine = Engine::open(&[look.recording])?;
            if clear {
                anstream::print!("\x1b[H\x1b[2J");
            }
            show(&engine)?;
            std::io::stdout().flush()?;
            if !self.live.watch {
                return Ok(());
            }
        }
    }

    pub fn is_watching(&self) -> bool {
        self.live.watch
    }
}

/// A recording that goes with its folder.
struct Look {
    recording: Recording,
    _folder: tempfile::TempDir,
}

impl LiveArguments {
    fn look(&self, cancel: &Cancel) -> Result<Look> {
        let addresses = self.nodes.iter().map(|node| nodes::address(node)).collect::<Result<Vec<_>>>()?;
        let folder =
            tempfile::Builder::new().prefix("helenus-look-").tempdir().context("cannot make a temporary folder")?;
        let path = folder.path().join("look.helenus");
        let recorder = Recorder::create(&path, Manifest::new("live", &super::command_line()))?;
        let mut steps = terminal::Steps::new();
        let looked = match self.no_agent {
            true => self.ask(&recorder, &addresses, &mut steps, cancel),
            false => self.observe(&recorder, &addresses, &mut steps, cancel),
        };
        let closed = recorder.close();
        looked?;
        closed?;
        Ok(Look { recording: Recording::open(&path)?, _folder: folder })
    }

    fn observe(
        &self,
        recorder: &Recorder,
        addresses: &[SocketAddr],
        steps: &mut terminal::Steps,
        cancel: &Cancel,
    ) -> Result<()> {
        let targets = addresses
            .iter()
            .map(|address| Ok((address.ip().to_string(), target::find(Which::Address(*address))?)))
            .collect::<Result<Vec<(String, Target)>, target::Error>>()
            .context("give --no-agent for a node on another machine")?;
        if let Some((name, target)) = targets.iter().find(|(_, target)| !target.is_cassandra) {
            bail!("{name} (pid {}, {}) is no Cassandra; give the CQL address of a node", target.pid, target.command);
        }
        let watched: Vec<Watched> = targets
            .into_iter()
            .map(|(node, target)| Watched { process: ProcessKind::Server, node, pid: target.pid.unsigned_abs() })
            .collect();
        let (events, heard) = std::sync::mpsc::channel();
        // Threads and CPUs are not what is asked about.
        let options = Options { agent: Some(AGENT_JAR), interval: Duration::from_secs(1), ..Options::default() };
        steps.step(format_args!("attaching to {} node(s)", watched.len()));
        let observation = Observation::start(recorder, &watched, &options, &events)?;
        self.wait(steps, cancel, || {});
        steps.step("detaching");
        let left = observation.stop();
        for event in heard.try_iter() {
            if let Event::Degraded { .. } | Event::TargetEnded { .. } = event {
                steps.keep(|| super::say_event(&event));
            }
        }
        for undone in left {
            steps.keep(|| terminal::warn(undone));
        }
        Ok(())
    }

    fn ask(
        &self,
        recorder: &Recorder,
        addresses: &[SocketAddr],
        steps: &mut terminal::Steps,
        cancel: &Cancel,
    ) -> Result<()> {
        let credentials = self.credentials()?;
        recorder.update_manifest(|manifest| {
            manifest.nodes.extend(
                addresses.iter().map(|address| NodeFacts { address: address.ip().to_string(), ..NodeFacts::default() }),
            );
        })?;
        steps.step(format_args!("connecting to {} node(s)", addresses.len()));
        let mut views = Vec::new();
        for address in addresses {
            let root = target::find(Which::Address(*address)).ok().map(|target| target.root());
            let node = address.ip().to_string();
            views.push(Views::open(recorder, &node, *address, root, credentials.as_ref())?);
        }
        let mut failed = None;
        let mut due = Instant::now();
        self.wait(steps, cancel, || {
            if failed.is_none() && Instant::now() >= due {
                due = Instant::now() + ASK_EVERY;
                failed = views.iter_mut().find_map(|view| view.read().err());
            }
        });
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    fn wait(&self, steps: &mut terminal::Steps, cancel: &Cancel, mut meanwhile: impl FnMut()) {
        let started = Instant::now();
        steps.step(format_args!("looking for {:?}", self.lasts));
        while started.elapsed() < self.lasts && !cancel.is_cancelled() {
            meanwhile();
            steps.live(format_args!(
                "looking: {:.0} of {:.0} s",
                started.elapsed().as_secs_f64(),
                self.lasts.as_secs_f64()
            ));
            std::thread::sleep(super::LOOK_EVERY);
        }
    }

    fn credentials(&self) -> Result<Option<Credentials>> {
        let Some((user, file)) = self.user.clone().zip(self.password_file.as_ref()) else { return Ok(None) };
        let password = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read the password file {}", file.display()))?;
        Ok(Some(Credentials { user, password: password.trim_end_matches(['\r', '\n']).to_string() }))
    }
}

/// Where the figures of a source come from, in words.
pub fn provider(engine: &Engine, source: &str) -> Vec<Provider> {
    let mut providers: Vec<Provider> = Vec::new();
    for facts in engine.manifests().iter().flat_map(|manifest| &manifest.sources) {
        let provider = if facts.provider.starts_with("cql") { Provider::VirtualTables } else { Provider::Agent };
        if facts.name == source && !providers.contains(&provider) {
            providers.push(provider);
        }
    }
    providers
}
