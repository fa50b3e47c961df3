//! Paths below /api/ and the queries that they stand for. All answers are JSON of the types in `web/src/model.ts`.

use super::asked::Asked;
use super::control::{Control, Wanted, WantedPlacement, WantedSetting, WantedSource, WantedValve};
use super::library::{Identity, Library};
use super::live::{Followed, Follower, Part};
use super::question::Question;
use super::save::Saves;
use super::work::Work;
use super::{Answer, Asker};
use crate::report;
use anyhow::{Context, Result, bail};
use helenus_explain::{
    CompareOptions, Engine, Flame, FlameOptions, Io, Options, Report, SlowThreshold, Stop, TrafficFilter,
    client_traffic, compare, explain, gc, happened, judge_requests, query, schema, slowest_requests, statement_detail,
    statement_traffic, tables, window,
};
use hyper::{Method, StatusCode};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of rows of a query that a page shows.
const QUERIED_ROWS: usize = 2000;
const SLOWEST: u32 = 100;
/// The number of intervals in the table of collections.
const GC_INTERVALS: i64 = 60;
const SHORTEST_GC_INTERVAL_NS: i64 = 1_000_000_000;

#[derive(Debug)]
pub(super) struct Api {
    library: Arc<Library>,
    work: Work,
    followed: Arc<Followed>,
    saves: Arc<Saves>,
    control: Arc<Control>,
    /// The time span of each closed recording that was requested.
    spans: Arc<Mutex<HashMap<Identity, (i64, i64)>>>,
}

impl Api {
    pub(super) fn new(library: Library, control: Arc<Control>) -> Api {
        Api {
            library: Arc::new(library),
            work: Work::new(),
            followed: Arc::default(),
            saves: Arc::default(),
            control,
            spans: Arc::default(),
        }
    }

    pub(super) async fn answer(&self, asker: Asker, name: &str, parameters: &str) -> Answer {
        let asked = Asked::of(parameters);
        let Some(question) = Question::named(name) else {
            return Answer::error(StatusCode::NOT_FOUND, &format!("the workbench has no answer named {name}"));
        };
        if (asker.method == Method::POST) != question.writes() {
            let how = if question.writes() { "this writes, and takes POST" } else { "everything is read with GET" };
            return Answer::error(StatusCode::METHOD_NOT_ALLOWED, how);
        }
        if question.controls() && !self.control.is_allowed() {
            let why = "this server changes no node; start helenus serve with --allow-control if it may";
            return Answer::error(StatusCode::FORBIDDEN, why);
        }
        // The answers about a growing recording change, so they are not cached.
        let closed = asked.text("recording").filter(|_| question.is_kept()).and_then(|name| self.library.closed(name));
        let key = closed.map(|identity| format!("{name}?{parameters} {identity:?}"));
        let (library, spans) = (Arc::clone(&self.library), Arc::clone(&self.spans));
        let (followed, saves) = (Arc::clone(&self.followed), Arc::clone(&self.saves));
        let (control, who) = (Arc::clone(&self.control), asker.who);
        let answered = self.work.answer(key, move |stop| {
            let (library, spans, followed) = (&*library, &*spans, &*followed);
            let subject =
                Subject { library, spans, followed, saves: &saves, control: &control, who: &who, asked, stop };
            subject.answer(question)
        });
        match answered.await {
            Ok(body) => Answer::json(body.to_string()),
            Err(error) => Answer::error(StatusCode::UNPROCESSABLE_ENTITY, &format!("{error:#}")),
        }
    }
}

/// The recording and window of a query, with access to the data.
struct Subject<'a> {
    library: &'a Library,
    spans: &'a Mutex<HashMap<Identity, (i64, i64)>>,
    followed: &'a Followed,
    saves: &'a Saves,
    control: &'a Control,
    /// The browser that asks.
    who: &'a str,
    asked: Asked,
    stop: Stop,
}

impl Subject<'_> {
    fn answer(&self, question: Question) -> Result<String> {
        match question {
            Question::Ping => json(&true),
            Question::Recordings => json(&self.library.listed()),
            Question::Report => {
                let engine = self.engine()?;
                json(&Report::build(&engine, &judge_requests(&engine, &self.options()?)?)?)
            }
            Question::ReportPage => {
                let engine = self.engine()?;
                json(&report::html(&Report::build(&engine, &explain(&engine, &self.options()?)?)?)?)
            }
            Question::Answer => self.findings(),
            Question::Statements => json(&statement_traffic(&self.engine()?, &self.filter())?),
            Question::Statement => {
                json(&statement_detail(&self.engine()?, self.asked.needed("operation")?, &self.filter())?)
            }
            Question::Clients => json(&client_traffic(&self.engine()?, &self.filter())?),
            Question::Slowest => json(&slowest_requests(&self.engine()?, &self.filter(), SLOWEST)?),
            Question::Flame => json(&self.flame()?.tree()),
            Question::FlameEvents => json(&Flame::events(&self.engine()?)?),
            Question::Files => json(&Io::load(&self.engine()?)?),
            Question::Tables => json(&tables(&self.engine()?)?),
            Question::Gc => {
                let (from, to) = self.window_or_all()?;
                json(&gc(&self.engine()?, ((to - from) / GC_INTERVALS).max(SHORTEST_GC_INTERVAL_NS))?)
            }
            Question::Events => json(&happened(&self.engine()?, self.window_or_all()?, self.zero_ns()?)?),
            Question::Schema => json(&schema(&self.engine()?)?),
            Question::Sql => json(&query(&self.engine()?, self.asked.needed("q")?, QUERIED_ROWS)?),
            Question::Compare => self.compared(),
            Question::Live => json(&self.followed()?.view(&self.part()?)?),
            Question::LiveTable => self.followed()?.table(self.asked.needed("of")?, &self.part()?),
            Question::LiveFindings => json(&self.followed()?.findings()?),
            Question::Save => {
                let (recording, name) = (self.asked.needed("recording")?, self.asked.needed("name")?);
                json(&self.saves.save(self.library, recording, self.window_or_all()?, name)?)
            }
            Question::Controls => json(&self.control.shown(self.library, self.asked.needed("recording")?)?),
            Question::AddValve => self.change(&WantedValve::of(&self.asked)?),
            Question::Set => self.change(&WantedSetting::of(&self.asked)?),
            Question::Place => self.change(&WantedPlacement::of(&self.asked)?),
            Question::Switch => self.change(&WantedSource::of(&self.asked, self.control.sources()?)?),
            Question::Undo => {
                let number = self.asked.needed("number")?.parse().context("number= takes the number of a change")?;
                self.control.undo(number, self.who)?;
                json(&self.control.shown(self.library, self.asked.needed("recording")?)?)
            }
        }
    }

    fn change(&self, wanted: &dyn Wanted) -> Result<String> {
        let recording = (self.library, self.asked.needed("recording")?);
        json(&self.control.change(recording, self.asked.needed("node")?, wanted, self.who)?)
    }

    fn followed(&self) -> Result<Arc<Follower>> {
        let name = self.asked.needed("recording")?;
        self.followed.of(name, &self.library.path(name)?)
    }

    /// The part of a growing recording that a live page asks for.
    fn part(&self) -> Result<Part<'_>> {
        let seconds = self.asked.text("length").map(str::parse).transpose().context("length= takes seconds")?;
        let until_s = self.asked.text("until").map(str::parse).transpose().context("until= takes seconds")?;
        if until_s.is_some_and(|until: f64| !until.is_finite()) {
            bail!("until= takes seconds");
        }
        Ok(Part { seconds: seconds.unwrap_or(60), until_s, node: self.asked.text("node") })
    }

    /// An engine with the recording, limited to the window if there is one.
    fn engine(&self) -> Result<Engine> {
        self.engine_of(self.asked.needed("recording")?, self.window("t")?)
    }

    fn engine_of(&self, name: &str, window: Option<(i64, i64)>) -> Result<Engine> {
        if !self.stop.is_wanted() {
            bail!("nobody waits for the answer any more");
        }
        let recordings = [self.library.recording(name)?];
        let mut engine = match window {
            Some(window) => Engine::open_within(&recordings, window)?,
            None => Engine::open(&recordings)?,
        };
        engine.stop_when(self.stop.clone());
        Ok(engine)
    }

    fn window(&self, name: &str) -> Result<Option<(i64, i64)>> {
        let is_asked = self.asked.text(name).is_some() || name == "t" && self.asked.text("at").is_some();
        if !is_asked {
            return Ok(None);
        }
        let span = self.span()?;
        match self.asked.text(name) {
            Some(_) => self.asked.window_from(name, self.zero_ns()?, span),
            // Start of the recording, in seconds since the Unix epoch.
            None => self.asked.window_from("at", 0, span),
        }
    }

    fn window_or_all(&self) -> Result<(i64, i64)> {
        Ok(self.window("t")?.unwrap_or(self.span()?))
    }

    /// The time from which seconds count: the start of the recording, or that of the asker's page, since the oldest rows of
    /// a growing recording may be deleted.
    fn zero_ns(&self) -> Result<i64> {
        match self.asked.text("zero") {
            Some(zero) => zero.parse().context("zero= takes nanoseconds since the Unix epoch"),
            None => Ok(self.span()?.0),
        }
    }

    /// The interval from the first recorded row to the last.
    fn span(&self) -> Result<(i64, i64)> {
        let name = self.asked.needed("recording")?;
        let known = || self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = self.library.closed(name);
        if let Some(span) = closed.as_ref().and_then(|identity| known().get(identity).copied()) {
            return Ok(span);
        }
        let span = self.engine_of(name, None)?.recorded_ns()?;
        if let Some(identity) = closed {
            known().insert(identity, span);
        }
        Ok(span)
    }

    fn options(&self) -> Result<Options> {
        let slow = self.asked.text("slow").map(str::parse::<SlowThreshold>).transpose()?;
        Ok(Options {
            threshold: slow.unwrap_or(Options::default().threshold),
            window: self.window("t")?,
            against: self.window("against")?,
            ..Options::default()
        })
    }

    fn filter(&self) -> TrafficFilter {
        let text = |name| self.asked.text(name).map(str::to_string);
        TrafficFilter {
            contains: text("contains"),
            client: text("client"),
            node: text("node"),
            ..TrafficFilter::default()
        }
    }

    /// Findings of a window, compared with a baseline window if there is one.
    fn findings(&self) -> Result<String> {
        let options = self.options()?;
        let engine = match (options.window, options.against) {
            (Some(asked), Some(good)) => {
                // Both windows, and the time between them.
                let both = (asked.0.min(good.0), asked.1.max(good.1));
                self.engine_of(self.asked.needed("recording")?, Some(both))?
            }
            (window, _) => self.engine_of(self.asked.needed("recording")?, window)?,
        };
        json(&window(&engine, &options, self.zero_ns()?)?)
    }

    fn flame(&self) -> Result<Flame> {
        let recording = self.asked.needed("recording")?;
        let event = |engine: &Engine| match self.asked.text("event") {
            Some(event) => Ok(event.to_string()),
            None => Flame::usual_event(engine),
        };
        let options = |engine: &Engine| {
            Ok::<_, anyhow::Error>(FlameOptions {
                event: event(engine)?,
                group: self.asked.text("group").map(str::to_string),
                reversed: self.asked.text("reversed").is_some(),
                ..FlameOptions::default()
            })
        };
        let flame = match self.asked.text("mode").unwrap_or("all") {
            "all" => {
                let engine = self.engine()?;
                Flame::build(&engine, &options(&engine)?)?
            }
            "slow" => {
                let engine = self.engine()?;
                Flame::of_slow(&engine, &options(&engine)?, &judge_requests(&engine, &self.options()?)?)?
            }
            "rest" => {
                let window = self.window("t")?.context("choose a window first; the rest is what lies outside of it")?;
                let engine = self.engine_of(recording, None)?;
                Flame::of_window(&engine, &options(&engine)?, window)?
            }
            "against" => {
                let other = self.window("against")?.context("choose a window to compare with first")?;
                let (engine, before) = (self.engine()?, self.engine_of(recording, Some(other))?);
                let flame = Flame::build(&engine, &options(&engine)?)?;
                flame.compare(
                    "the window",
                    Flame::build(&before, &options(&before)?)?,
                    "the window that it is compared with",
                )
            }
            other => bail!("there is no flame graph of `{other}`; there are all, slow, rest and against"),
        };
        if flame.is_empty() {
            bail!("no stacks were sampled in this time; record with --stacks cpu, or choose a longer window");
        }
        Ok(flame)
    }

    /// Compares the window with another one of the same or another recording.
    fn compared(&self) -> Result<String> {
        let own = self.asked.needed("recording")?;
        let with = self.asked.text("with").unwrap_or(own);
        let other = if with == own {
            Some(self.window("against")?.context("choose a window or another recording to compare with")?)
        } else {
            None
        };
        let (baseline, engine) = (self.engine_of(with, other)?, self.engine()?);
        let (of_baseline, of_own) = if with == own { ("the compared window", "this window") } else { (with, own) };
        json(&compare((of_baseline, &[baseline]), (of_own, &[engine]), &CompareOptions::default())?)
    }
}

fn json(answer: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(answer)?)
}
