//! All sources of one recording, started and stopped together.

use crate::error::Error;
use crate::names::ThreadNames;
use crate::source::{Context, Running};
use crate::sources::{Options, SOURCES};
use crate::{Events, ProcessKind, Watched};
use helenus_recording::{NodeFacts, Recorder, descriptors};

/// The running sources.
#[derive(Debug)]
pub struct Observation {
    names: Vec<ThreadNames>,
    /// The running parts of each source, in the order of the registry.
    running: Vec<Vec<Box<dyn Running>>>,
}

impl Observation {
    /// Attaches the sources to processes that run. On an error nothing stays attached.
    pub fn start(
        recorder: &Recorder,
        watched: &[Watched],
        options: &Options,
        events: &Events,
    ) -> Result<Observation, Error> {
        name_nodes(recorder, watched)?;
        if let Some(bytes) = options.max_size {
            recorder.limit_size(bytes);
        }
        // Each thread of a node takes two file descriptors, and eight more if it is counted.
        descriptors::allow_many();
        let names: Vec<ThreadNames> = watched.iter().map(|_| ThreadNames::default()).collect();
        let running = SOURCES.iter().map(|_| Vec::new()).collect();
        let mut observation = Observation { names: names.clone(), running };
        let context = Context { recorder, watched, names: &names, events };
        match observation.start_where(&context, options, |_| true) {
            Ok(()) => Ok(observation),
            Err(error) => {
                observation.stop();
                Err(error)
            }
        }
    }

    /// Starts the sources with the given indices in the registry.
    fn start_where(
        &mut self,
        context: &Context<'_>,
        options: &Options,
        chosen: impl Fn(usize) -> bool,
    ) -> Result<(), Error> {
        let options = options.settled();
        let sources = SOURCES.iter().zip(&mut self.running).enumerate();
        for (_, (source, running)) in sources.filter(|(place, _)| chosen(*place)) {
            (source.start)(context, &options, running)?;
        }
        Ok(())
    }

    /// Continues in another recording while the agents stay in their JVMs. From then on the old recording gets no rows.
    /// The options and the processes must be the same as at the start.
    ///
    /// # Errors
    /// If an agent or a process has ended. Then stop the observation, and start a new one.
    pub fn continue_in(
        &mut self,
        recorder: &Recorder,
        watched: &[Watched],
        options: &Options,
        events: &Events,
    ) -> Result<(), Error> {
        name_nodes(recorder, watched)?;
        let names = self.names.clone();
        let context = Context { recorder, watched, names: &names, events };
        let mut ended = Vec::new();
        for (place, running) in self.running.iter_mut().enumerate().rev() {
            let mut goes_on = true;
            for part in running.iter_mut() {
                goes_on &= part.continue_in(&context)?;
            }
            if !goes_on {
                running.drain(..).for_each(|part| drop(part.stop()));
                ended.push(place);
            }
        }
        self.start_where(&context, options, |place| ended.contains(&place))
    }

    /// Goes on with other options: sources whose options differ are stopped, and started again.
    ///
    /// # Errors
    /// As [`Observation::start`]. Stop the observation then, and start a new one.
    pub fn change(
        &mut self,
        recorder: &Recorder,
        watched: &[Watched],
        (before, after): (&Options, &Options),
        events: &Events,
    ) -> Result<(), Error> {
        let names = self.names.clone();
        let context = Context { recorder, watched, names: &names, events };
        let (before, settled) = (before.settled(), after.settled());
        let is_other = |place: usize| !(SOURCES[place].is_same)(&before, &settled);
        for (_, running) in self.running.iter_mut().enumerate().rev().filter(|(place, _)| is_other(*place)) {
            running.drain(..).for_each(|part| drop(part.stop()));
        }
        self.start_where(&context, after, is_other)
    }

    /// Stops all sources, and returns messages about changes that may not be undone.
    pub fn stop(self) -> Vec<String> {
        self.running.into_iter().rev().flatten().filter_map(Running::stop).collect()
    }
}

/// Writes the nodes to the manifest.
fn name_nodes(recorder: &Recorder, watched: &[Watched]) -> Result<(), helenus_recording::Error> {
    recorder.update_manifest(|manifest| {
        for node in watched.iter().filter(|watched| watched.process == ProcessKind::Server) {
            match manifest.nodes.iter_mut().find(|known| known.address == node.node) {
                Some(known) => known.pid = Some(node.pid),
                None => manifest.nodes.push(NodeFacts {
                    address: node.node.clone(),
                    pid: Some(node.pid),
                    ..NodeFacts::default()
                }),
            }
        }
    })
}
