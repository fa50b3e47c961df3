//! The main function of a thin driver's thread: connects, runs the segments that it receives, and ends.

use super::engine::{Engine, Parts};
use super::session_thread::Preparation;
use crate::driver::thread::{
    Begin, Nodes, PUBLISH_EVERY, Planned, Report, STOP_DRAIN_NS, SegmentEnd, Thread, nanoseconds, tick,
};
use crate::{Error, Outcome};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

/// How long the first segment waits for connections.
const CONNECT_NS: i64 = 6_000_000_000;

pub(in crate::driver) fn live(thread: &Thread, preparation: &Preparation, mut commands_in: UnboundedReceiver<Begin>) {
    // The receiver is dropped only if the run has failed.
    let mut life = match Life::begin(thread, preparation) {
        Ok(life) => {
            let _ = thread.tell.send(Report::Ready(Ok(())));
            life
        }
        Err(error) => {
            let _ = thread.tell.send(Report::Ready(Err(error)));
            return;
        }
    };
    while let Some(begin) = commands_in.blocking_recv() {
        let done = life.segment(begin);
        let _ = thread.tell.send(Report::SegmentEnd(done));
    }
}

struct Life<'a> {
    thread: &'a Thread,
    engine: Engine,
    timeout_ns: i64,
    tick_ns: i64,
    next_tick_ns: i64,
    publish_ns: i64,
    nodes: Nodes,
}

impl<'a> Life<'a> {
    fn begin(thread: &'a Thread, preparation: &Preparation) -> Result<Life<'a>, Error> {
        let (run, plan) = (&thread.run, &thread.run.plan);
        let clock = run.recorder.clock();
        let parts = Parts {
            statements: Arc::clone(&preparation.statements),
            ring: preparation.ring.clone(),
            workload: Arc::new(plan.workload.clone()),
            pool: Arc::clone(&run.pool),
            clock,
            ledger: thread.ledger(),
            access: plan.access.clone(),
            connections_per_node: plan.connections_per_node,
            share: plan.place(thread.number),
        };
        let mut engine =
            Engine::new(parts).map_err(|source| Error::Start { what: "the poll of a driver thread", source })?;
        let timeout = plan.request_timeout;
        let until_ns = clock.now_ns() + CONNECT_NS;
        while engine.ready() < engine.connections() && clock.now_ns() < until_ns && !run.cancel.is_asked() {
            let now_ns = clock.now_ns();
            engine.tick(now_ns, i64::MIN);
            // A node of the ring that is down must not delay the start for long.
            if engine.ready() > 0 && now_ns > until_ns - CONNECT_NS * 3 / 4 {
                break;
            }
            engine.step(now_ns + 2_000_000);
        }
        if engine.ready() == 0 {
            let node = run.points.first().map_or_else(String::new, ToString::to_string);
            return Err(Error::Session { node, reason: engine.failure().to_string() });
        }
        Ok(Life {
            thread,
            engine,
            timeout_ns: nanoseconds(timeout),
            tick_ns: nanoseconds(tick(timeout)),
            next_tick_ns: i64::MIN,
            publish_ns: clock.now_ns(),
            nodes: Nodes::of(thread.number),
        })
    }

    fn segment(&mut self, begin: Begin) -> SegmentEnd {
        let run = &self.thread.run;
        let (clock, cancel) = (run.recorder.clock(), &run.cancel);
        let drain_ns = nanoseconds(run.plan.drain);
        let Planned { feed, windows, end_ns, in_flight } = self.thread.planned(begin);
        if in_flight.is_some() {
            while clock.now_ns() < begin.start_ns {
                self.engine.step(begin.start_ns);
            }
        }
        let room = in_flight.unwrap_or_else(|| self.thread.share(run.plan.max_in_flight).max(1));
        self.engine.supply.begin(feed, windows, room, in_flight.is_some());
        let mut stopped_ns = None;
        let mut over_ns = None;
        loop {
            let now_ns = clock.now_ns();
            self.keep_house(now_ns);
            if cancel.is_asked() && stopped_ns.is_none() {
                stopped_ns = Some(now_ns);
                self.engine.supply.end(now_ns);
            } else if now_ns >= end_ns.saturating_add(drain_ns) || run.cut.is_of(begin.segment) {
                self.engine.supply.end(now_ns);
            }
            if self.engine.supply.is_over() {
                let over_ns = *over_ns.get_or_insert(now_ns);
                let until_ns = match stopped_ns {
                    _ if cancel.is_asked_again() => 0,
                    Some(stopped_ns) => stopped_ns + STOP_DRAIN_NS,
                    None => over_ns + drain_ns,
                };
                if self.engine.supply.in_flight() > 0 && now_ns >= until_ns {
                    self.engine.abandon(i64::MAX, Outcome::Abandoned, "still in flight when the run was ended");
                }
                if self.engine.supply.in_flight() == 0 {
                    break;
                }
            }
            self.engine.step(self.next_tick_ns);
        }
        self.engine.supply.ledger.end();
        self.engine.supply.ledger.publish(clock.now_ns(), 0, Vec::new(), Vec::new());
        SegmentEnd { end_ns: clock.now_ns(), next_number: self.engine.next_number().max(begin.first_number) }
    }

    /// Periodic work, a few times a second: timeouts, progress, nodes.
    fn keep_house(&mut self, now_ns: i64) {
        if now_ns < self.next_tick_ns {
            return;
        }
        self.next_tick_ns = now_ns + self.tick_ns;
        self.engine.tick(now_ns, now_ns - self.timeout_ns);
        if now_ns >= self.publish_ns {
            self.publish_ns = now_ns + nanoseconds(PUBLISH_EVERY);
            let (lost, back) = self.nodes.changes(|| self.engine.nodes());
            let in_flight = self.engine.supply.in_flight() as u64;
            self.engine.supply.ledger.publish(now_ns, in_flight, lost, back);
        }
    }
}
