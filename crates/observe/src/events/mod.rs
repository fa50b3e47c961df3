//! Events from a node's log: compactions, flushes, schema changes, nodes up and down, and warnings.
//!
//! ```text
//! debug.log or system.log of the node, from now on ─▶ lines ─▶ events
//! ```

mod class;
mod follow;
mod line;

pub(crate) use line::{Event, LogLine, days, time_of_day_ns, zone_ns};

use crate::check::{Check, CheckState};
use crate::error::Error;
use crate::option_values::Switch;
use crate::source::{Context, Running, Source, facts};
use crate::worker::{Instruction, Instructions, NoThread, Worker};
use clap::Args;
use follow::Log;
use helenus_recording::rows::{NodeEvent, SourceReport};
use helenus_recording::{Recorder, cpu_time_of_this_thread_ns};
use std::time::Duration;

const SOURCE: &str = "events";
const PROVIDER: &str = "log";
const INTERVAL: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct EventOptions {
    /// Record what the node's log says that happened: compactions, repair, nodes up and down, time-outs, warnings and more
    #[arg(long, value_name = "MODE", default_value = "on")]
    pub events: Switch,
}

impl Default for EventOptions {
    fn default() -> EventOptions {
        EventOptions { events: Switch::On }
    }
}

pub(crate) struct NodeEvents;

impl Source for NodeEvents {
    type Options = EventOptions;

    fn start(
        &self,
        context: &Context<'_>,
        options: &EventOptions,
        running: &mut Vec<Box<dyn Running>>,
    ) -> Result<(), Error> {
        if options.events != Switch::On {
            return Ok(());
        }
        // A node that logs elsewhere, or a process that is no node, has no log to follow.
        let mut logs: Vec<Log> = Vec::new();
        for (watched, log) in context.servers().filter_map(|(watched, _)| Log::of(&watched).map(|log| (watched, log))) {
            match log {
                Ok(log) => logs.push(log),
                Err(error) => context.degrade(&watched.node, SOURCE, error),
            }
        }
        if logs.is_empty() {
            return Ok(());
        }
        let nodes: Vec<String> = logs.iter().map(|log| log.node().to_string()).collect();
        let run = Run { recorder: context.recorder.clone(), logs };
        match Worker::start("events", move || Ok::<_, NoThread>((run, ())), Run::run) {
            Ok((worker, ())) => {
                let sources = nodes.iter().map(|node| facts(SOURCE, node, PROVIDER, "")).collect();
                running.push(Box::new(worker.noted(context, sources)));
            }
            Err(error) => nodes.iter().for_each(|node| context.degrade(node, SOURCE, error.to_string())),
        }
        Ok(())
    }

    fn checks(&self) -> Vec<Check> {
        vec![Check::new(
            "events of a node's log",
            CheckState::Works,
            "debug.log or system.log in -Dcassandra.logdir",
            "",
        )]
    }
}

struct Run {
    recorder: Recorder,
    logs: Vec<Log>,
}

impl Run {
    fn run(mut self, instructions: &Instructions) {
        let mut last_ns = self.recorder.clock().now_ns();
        loop {
            let instruction = instructions.wait(INTERVAL);
            let time_ns = self.recorder.clock().now_ns();
            for log in &mut self.logs {
                let before_ns = cpu_time_of_this_thread_ns();
                let (mut captured, recorder) = (0, &self.recorder);
                let lost = log.read(time_ns, |node, event| {
                    captured += 1;
                    recorder.append(NodeEvent {
                        time_ns: event.time_ns,
                        node,
                        kind: event.class.kind,
                        what: &event.class.what,
                        logger: &event.logger,
                    });
                });
                self.recorder.append(SourceReport {
                    time_ns,
                    interval_ns: time_ns - last_ns,
                    source: SOURCE,
                    node: log.node(),
                    provider: PROVIDER,
                    captured,
                    lost: lost.lines,
                    lost_reason: lost.reason,
                    cpu_ns: Some(cpu_time_of_this_thread_ns() - before_ns),
                });
            }
            last_ns = time_ns;
            match instruction {
                Instruction::Nothing => {}
                Instruction::Continue(next) => self.recorder = next.begin(),
                Instruction::Stop => return,
            }
        }
    }
}
