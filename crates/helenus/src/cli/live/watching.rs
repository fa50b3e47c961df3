//! Reads nodes repeatedly, by agents in them or from outside.

use super::{ASK_EVERY, LiveArguments, TIMEOUT};
use crate::assets::AGENT_JAR;
use crate::cli::{self, nodes};
use crate::scratch::{Purpose, Scratch};
use crate::terminal::{self, Steps};
use anyhow::{Context, Result, bail};
use helenus_cassandra::cql::{Channel, Connection, Credentials};
use helenus_cassandra::target::{self, Target, TargetName};
use helenus_cassandra::{Cancel, Version, java};
use helenus_observe::{
    AgentOptions, Event, EventOptions, Jmx, Observation, Options, PressureOptions, ProcessKind, RequestsFrom,
    SamplingOptions, Switch, Views, Watched, WireOptions,
};
use helenus_recording::{Manifest, NodeFacts, Recorder, Recording};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

/// A recording that is deleted with its temporary folder.
pub(super) struct Reading {
    pub(super) recording: Recording,
    _folder: Scratch,
}

/// A recording in progress, for one reading.
struct OpenReading {
    recorder: Recorder,
    folder: Scratch,
}

impl OpenReading {
    fn begin() -> Result<OpenReading> {
        let folder = Scratch::new(Purpose::Look)?;
        let recorder =
            Recorder::create(&folder.path().join("look.helenus"), Manifest::new("live", &cli::command_line()))?;
        Ok(OpenReading { recorder, folder })
    }

    fn close(self) -> Result<Reading> {
        self.recorder.close()?;
        Ok(Reading { recording: Recording::open(self.recorder.folder())?, _folder: self.folder })
    }
}

/// Nodes that are being recorded. Agents and connections stay from one reading to the next.
pub(super) struct Watching<'a> {
    live: &'a LiveArguments,
    open: OpenReading,
    provider: Provider,
}

/// How nodes are read.
enum Provider {
    Agents(Box<Agents>),
    /// Reads from outside: over CQL, and over JMX if requested.
    Outside {
        views: Vec<Views>,
        jmx: Vec<Jmx>,
    },
}

struct Agents {
    observation: Observation,
    watched: Vec<Watched>,
    options: Options,
    events: Sender<Event>,
    received: Receiver<Event>,
}

impl<'a> Watching<'a> {
    pub(super) fn begin(live: &'a LiveArguments) -> Result<Watching<'a>> {
        let addresses = live.nodes.iter().map(|node| nodes::address(node)).collect::<Result<Vec<_>>>()?;
        let open = OpenReading::begin()?;
        let mut steps = Steps::new();
        let provider = match live.no_agent || !live.jmx.is_empty() {
            true => outside(live, &open.recorder, &addresses, &mut steps)?,
            false => Provider::Agents(Box::new(Agents::attach(&open.recorder, &addresses, live, &mut steps)?)),
        };
        Ok(Watching { live, open, provider })
    }

    /// Waits until the reading is over.
    pub(super) fn wait(&mut self, cancel: &Cancel) -> Result<()> {
        let (started, lasts) = (Instant::now(), self.live.lasts);
        let mut steps = Steps::new();
        let doing = if self.live.requests { "listening" } else { "reading" };
        steps.step(format_args!("{doing} for {lasts:?}"));
        let mut due = started;
        while started.elapsed() < lasts && !cancel.is_cancelled() {
            if let Provider::Outside { views, .. } = &mut self.provider
                && Instant::now() >= due
            {
                due = Instant::now() + ASK_EVERY;
                views.iter_mut().try_for_each(Views::read)?;
            }
            steps.live(format_args!("{doing}: {:.0} of {:.0} s", started.elapsed().as_secs_f64(), lasts.as_secs_f64()));
            std::thread::sleep(cli::POLL_EVERY);
        }
        Ok(())
    }

    /// Begins the next reading, then returns the one that has ended. Nodes that went away are searched for again.
    pub(super) fn next_reading(self) -> Result<(Reading, Option<Watching<'a>>)> {
        let Watching { live, open, mut provider } = self;
        let next = OpenReading::begin()?;
        let switched = match &mut provider {
            Provider::Agents(agents) => agents.continue_in(&next.recorder).map_err(anyhow::Error::from),
            Provider::Outside { views, jmx } => continue_outside(&next.recorder, live, views, jmx),
        };
        match switched {
            Ok(()) => Ok((open.close()?, Some(Watching { live, open: next, provider }))),
            Err(_) => {
                let reading = Watching { live, open, provider }.end()?;
                Ok((reading, Some(Watching::begin(live)?)))
            }
        }
    }

    /// Returns the last reading, and detaches from the nodes.
    pub(super) fn end(self) -> Result<Reading> {
        let Watching { open, provider, .. } = self;
        let mut steps = Steps::new();
        steps.step("detaching");
        match provider {
            Provider::Agents(agents) => agents.detach(&steps),
            Provider::Outside { jmx, .. } => jmx.into_iter().for_each(Jmx::stop),
        }
        open.close()
    }
}

impl Agents {
    fn attach(
        recorder: &Recorder,
        addresses: &[SocketAddr],
        live: &LiveArguments,
        steps: &mut Steps,
    ) -> Result<Agents> {
        let requests = live.requests;
        let targets = addresses
            .iter()
            .map(|address| Ok((address.ip().to_string(), target::find(TargetName::Address(*address))?)))
            .collect::<Result<Vec<(String, Target)>, target::Error>>()
            .context(match requests {
                true => "only nodes on this machine can be watched",
                false => "give --no-agent for a node on another machine",
            })?;
        if let Some((name, target)) = targets.iter().find(|(_, target)| !target.is_cassandra) {
            bail!("{name} (pid {}, {}) is no Cassandra; give the CQL address of a node", target.pid, target.command);
        }
        let watched: Vec<Watched> = targets
            .into_iter()
            .map(|(node, target)| Watched { process: ProcessKind::Server, node, pid: target.pid.unsigned_abs() })
            .collect();
        let (events, received) = std::sync::mpsc::channel();
        let mut wire = WireOptions::of(if requests { RequestsFrom::Auto } else { RequestsFrom::Off });
        wire.keys = live.keys.clone();
        // Threads and CPUs are not needed.
        let options = Options {
            agent: AgentOptions { jar: Some(AGENT_JAR).filter(|_| !requests), ..AgentOptions::default() },
            wire,
            sampling: SamplingOptions { interval: Duration::from_secs(1), ..SamplingOptions::default() },
            // Advice needs the settings of the machine and the process.
            pressure: PressureOptions { pressure: if requests { Switch::Off } else { Switch::On } },
            events: EventOptions { events: Switch::Off },
            ..Options::default()
        };
        let doing = if requests { "listening" } else { "attaching" };
        steps.step(format_args!("{doing} to {} node(s)", watched.len()));
        let observation = Observation::start(recorder, &watched, &options, &events)?;
        if requests {
            // Without --agent, a missing agent is no error. A node that can't be read by CQL has nothing to show.
            let unheard = received.try_iter().find_map(|event| match event {
                Event::Degraded { node, source: "wire", reason } => Some(format!("{node}: {reason}")),
                _ => None,
            });
            if let Some(reason) = unheard {
                observation.stop();
                bail!(reason);
            }
        }
        Ok(Agents { observation, watched, options, events, received })
    }

    fn continue_in(&mut self, recorder: &Recorder) -> Result<(), helenus_observe::Error> {
        self.observation.continue_in(recorder, &self.watched, &self.options, &self.events)
    }

    fn detach(self, steps: &Steps) {
        let left = self.observation.stop();
        for event in self.received.try_iter() {
            if let Event::Degraded { .. } | Event::TargetEnded { .. } = event {
                steps.keep(|| cli::say_event(&event));
            }
        }
        for undone in left {
            steps.keep(|| terminal::warn(undone));
        }
    }
}

fn continue_outside(recorder: &Recorder, live: &LiveArguments, views: &mut [Views], jmx: &[Jmx]) -> Result<()> {
    name_nodes(recorder, live)?;
    views.iter_mut().try_for_each(|view| view.continue_in(recorder))?;
    Ok(jmx.iter().try_for_each(|jmx| jmx.continue_in(recorder))?)
}

/// Puts the nodes into the manifest.
fn name_nodes(recorder: &Recorder, live: &LiveArguments) -> Result<()> {
    let addresses = live.nodes.iter().map(|node| nodes::address(node)).collect::<Result<Vec<_>>>()?;
    recorder.update_manifest(|manifest| {
        manifest.nodes = addresses
            .iter()
            .map(|address| NodeFacts { address: address.ip().to_string(), ..NodeFacts::default() })
            .collect();
    })?;
    Ok(())
}

/// Connects from outside.
fn outside(live: &LiveArguments, recorder: &Recorder, addresses: &[SocketAddr], steps: &mut Steps) -> Result<Provider> {
    let endpoints = live.endpoints(addresses.len())?;
    let credentials = live.login(live.user.as_ref(), live.password_file.as_ref())?;
    let credentials = credentials.map(|(user, password)| Credentials { user, password });
    let tls = live.tls.read()?;
    name_nodes(recorder, live)?;
    steps.step(format_args!("connecting to {} node(s)", addresses.len()));
    let mut views = Vec::new();
    for address in addresses {
        let wrap = |socket| -> std::io::Result<Box<dyn Channel>> {
            match &tls {
                None => Ok(Box::new(socket)),
                Some(tls) => Ok(Box::new(tls.over(socket, address.ip())?)),
            }
        };
        let connection = Connection::open_over(*address, TIMEOUT, credentials.as_ref(), &wrap)?;
        let node = address.ip().to_string();
        views.push(match live.no_agent {
            true => {
                let root = target::find(TargetName::Address(*address)).ok().map(|target| target.root());
                Views::open(recorder, &node, connection, root)?
            }
            false => Views::of_definitions(recorder, &node, connection)?,
        });
    }
    let mut jmx: Vec<Jmx> = Vec::new();
    for (address, endpoint) in addresses.iter().zip(endpoints) {
        let java = java::for_version(Version::default(), None)?;
        // The events are log lines of the JMX client itself, which are of no use here.
        let (events, _) = std::sync::mpsc::channel();
        let node = address.ip().to_string();
        match Jmx::open(recorder, &node, endpoint, &java.program(), AGENT_JAR, &events) {
            Ok(one) => jmx.push(one),
            Err(error) => {
                jmx.into_iter().for_each(Jmx::stop);
                return Err(error.into());
            }
        }
    }
    Ok(Provider::Outside { views, jmx })
}
