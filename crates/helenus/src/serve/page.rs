//! The questions of a page that read recordings, and their answers: the part of the workbench that runs in a process of its own.

use super::asked::Asked;
use super::question::Question;
use super::save;
use crate::apart::Reply;
use crate::report;
use anyhow::{Context, Result, bail};
use helenus_explain::{
    CompareOptions, Engine, Flame, FlameOptions, Io, Options, Report, SlowThreshold, TrafficFilter, client_traffic,
    compare, explain, gc, happened, judge_requests, query, schema, shared_values, slowest_requests, statement_detail,
    statement_traffic, tables, window, window_changes,
};
use helenus_recording::Recording;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The number of rows of a query that a page shows.
const QUERIED_ROWS: usize = 2000;
const SLOWEST: u32 = 100;
/// The number of intervals in the table of collections.
const GC_INTERVALS: i64 = 60;
const SHORTEST_GC_INTERVAL_NS: i64 = 1_000_000_000;

/// A question with all that its answer needs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PageQuestion {
    question: Question,
    parameters: String,
    /// Names and paths of the recordings that the parameters name. A path need not be UTF-8.
    recordings: Vec<(String, Vec<u8>)>,
    /// The interval of the recording, if it is known.
    span: Option<(i64, i64)>,
    /// Where a window is saved.
    save: Option<save::Order>,
}

impl PageQuestion {
    pub(super) fn new(question: Question, parameters: &str, span: Option<(i64, i64)>) -> PageQuestion {
        PageQuestion { question, parameters: parameters.to_string(), recordings: Vec::new(), span, save: None }
    }

    pub(super) fn about(mut self, name: &str, path: &Path) -> PageQuestion {
        self.recordings.push((name.to_string(), path.as_os_str().as_bytes().to_vec()));
        self
    }

    pub(super) fn saving(self, order: save::Order) -> PageQuestion {
        PageQuestion { save: Some(order), ..self }
    }

    /// A query of one recording.
    #[cfg(test)]
    pub(crate) fn sql(parameters: &str, name: &str, path: &Path) -> PageQuestion {
        PageQuestion::new(Question::Sql, parameters, None).about(name, path)
    }

    /// Answers it, in the child.
    pub(crate) fn answer(&self) -> Result<Reply> {
        let subject = Subject { page: self, asked: Asked::of(&self.parameters), span: Cell::new(self.span) };
        let body = subject.answer()?;
        Ok(Reply { body, span: subject.span.get() })
    }
}

/// The recording and window of a question, with access to the data.
struct Subject<'a> {
    page: &'a PageQuestion,
    asked: Asked,
    span: Cell<Option<(i64, i64)>>,
}

impl Subject<'_> {
    fn answer(&self) -> Result<String> {
        match self.page.question {
            Question::Report => {
                let engine = self.engine()?;
                json(&Report::build(&engine, &judge_requests(&engine, &self.options()?)?)?)
            }
            Question::ReportPage => {
                let engine = self.engine()?;
                json(&report::html(&Report::build(&engine, &explain(&engine, &self.options()?)?)?)?)
            }
            Question::Answer => self.findings(),
            Question::Statements => json(&statement_traffic(&self.engine()?, &self.filter()?)?),
            Question::Statement => {
                json(&statement_detail(&self.engine()?, self.asked.needed("operation")?, &self.filter()?)?)
            }
            Question::Clients => json(&client_traffic(&self.engine()?, &self.filter()?)?),
            Question::Slowest => json(&slowest_requests(&self.engine()?, &self.filter()?, SLOWEST)?),
            Question::Shared => json(&shared_values(&self.engine()?, &self.filter()?)?),
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
            Question::Changes => self.changes(),
            Question::Save => {
                let order = self.page.save.as_ref().context("there is no place to save it in")?;
                json(&order.write(&self.path(self.asked.needed("recording")?)?, self.window_or_all()?)?)
            }
            other => bail!("{other:?} is no question about a recording"),
        }
    }

    /// An engine with the recording, limited to the window if there is one.
    fn engine(&self) -> Result<Engine> {
        self.engine_of(self.asked.needed("recording")?, self.window("t")?)
    }

    fn engine_of(&self, name: &str, window: Option<(i64, i64)>) -> Result<Engine> {
        let recordings = [Recording::open(&self.path(name)?)?];
        Ok(match window {
            Some(window) => Engine::open_within(&recordings, window)?,
            None => Engine::open(&recordings)?,
        })
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
        if let Some(span) = self.span.get() {
            return Ok(span);
        }
        let span = self.engine_of(self.asked.needed("recording")?, None)?.recorded_ns()?;
        self.span.set(Some(span));
        Ok(span)
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        let found = self.page.recordings.iter().find(|(known, _)| known == name);
        let (_, path) = found.with_context(|| format!("there is no recording {name} in the opened folder"))?;
        Ok(PathBuf::from(OsString::from_vec(path.clone())))
    }

    fn options(&self) -> Result<Options> {
        let slow = self.asked.text("slow").map(str::parse::<SlowThreshold>).transpose()?;
        let took = self.took()?;
        // The requests of a range of response times are the slow ones, and slower ones are not judged.
        let threshold = slow.or(took.map(|(from_ns, _)| SlowThreshold::Time(from_ns.max(1))));
        Ok(Options {
            threshold: threshold.unwrap_or(Options::default().threshold),
            only: TrafficFilter { below_ns: took.and_then(|(_, below_ns)| below_ns), ..TrafficFilter::default() },
            window: self.window("t")?,
            against: self.window("against")?,
            ..Options::default()
        })
    }

    fn filter(&self) -> Result<TrafficFilter> {
        let text = |name| self.asked.text(name).map(str::to_string);
        let took = self.took()?;
        Ok(TrafficFilter {
            contains: text("contains"),
            client: text("client"),
            node: text("node"),
            table: text("table"),
            operation: text("operation"),
            at_least_ns: took.map(|(from_ns, _)| from_ns),
            below_ns: took.and_then(|(_, below_ns)| below_ns),
        })
    }

    /// The range of response times in ns: the lower bound, and the upper one if there is one. None for all.
    fn took(&self) -> Result<Option<(i64, Option<i64>)>> {
        self.asked.text("took").map(super::asked::response_times).transpose()
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

    /// Lists the changes from the compared window to this one.
    fn changes(&self) -> Result<String> {
        let other = self.window("against")?.context("choose a window to compare with first")?;
        let now = self.window_or_all()?;
        let recording = self.asked.needed("recording")?;
        let (before, engine) = (self.engine_of(recording, Some(other))?, self.engine_of(recording, Some(now))?);
        json(&window_changes((&before, other), (&engine, now))?)
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
