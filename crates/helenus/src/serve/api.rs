//! Paths below /api/ and the queries that they stand for. All answers are JSON of the types in `web/src/model.ts`.

use super::asked::Asked;
use super::control::{Control, Wanted, WantedPlacement, WantedSetting, WantedSource, WantedValve};
use super::library::{Identity, Library};
use super::live::{Followed, Follower, Part};
use super::page::PageQuestion;
use super::question::Question;
use super::save::{Place, Saves};
use super::work::{Busy, Lane, Work};
use super::{Answer, Asker};
use crate::apart::{Limits, Task, ask};
use anyhow::{Context, Result, bail};
use helenus_explain::LiveBy;
use hyper::{Method, StatusCode};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The priority of a question: the node comes first, and so does what the live page shows.
const NICE: i32 = 10;
/// A window is copied within this time.
const SAVED_WITHIN: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(super) struct Api {
    library: Arc<Library>,
    work: Work,
    followed: Arc<Followed>,
    saves: Arc<Saves>,
    control: Arc<Control>,
    /// The time span of each closed recording that was requested.
    spans: Mutex<HashMap<Identity, (i64, i64)>>,
    /// Makes the limits of a question, which depend on the available memory.
    pub(super) limits: fn() -> Limits,
}

impl Api {
    pub(super) fn new(library: Library, control: Arc<Control>) -> Api {
        Api {
            library: Arc::new(library),
            work: Work::new(),
            followed: Arc::default(),
            saves: Arc::default(),
            control,
            spans: Mutex::default(),
            limits: || Limits::beside_a_node(NICE),
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
        let answered = match question {
            Question::Save => self.saved(asked, parameters).await,
            question if question.reads() => self.read(question, asked, parameters).await,
            question => self.known(question, asked, asker.who).await,
        };
        match answered {
            Ok(body) => Answer::json(body.to_string()),
            Err(error) if error.is::<Busy>() => Answer::error(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
            Err(error) => Answer::error(StatusCode::UNPROCESSABLE_ENTITY, &format!("{error:#}")),
        }
    }

    /// Has a child answer a question that reads recordings.
    async fn read(&self, question: Question, asked: Asked, parameters: &str) -> Result<Arc<str>> {
        let (page, closed) = self.page(question, asked, parameters).await?;
        // The answers about a growing recording change, so they are not cached.
        let key = closed.as_ref().filter(|_| question.is_kept());
        let key = key.map(|identity| format!("{question:?}?{parameters} {identity:?}"));
        let child = async {
            let reply = ask(&Task::Page(page), &(self.limits)()).await?;
            if let (Some(identity), Some(span)) = (closed, reply.span) {
                self.spans().insert(identity, span);
            }
            Ok(reply.body)
        };
        self.work.answer(key, child).await
    }

    /// A question with the recordings that it names, and what tells the closed recording from others.
    async fn page(
        &self,
        question: Question,
        asked: Asked,
        parameters: &str,
    ) -> Result<(PageQuestion, Option<Identity>)> {
        let library = Arc::clone(&self.library);
        let found = self.work.beside(Lane::Figures, move || {
            let name = asked.needed("recording")?;
            let mut recordings = vec![(name.to_string(), library.path(name)?)];
            if let Some(with) = asked.text("with").filter(|with| *with != name) {
                recordings.push((with.to_string(), library.path(with)?));
            }
            Ok((recordings, library.closed(name)))
        });
        let (recordings, closed) = found.await?;
        let span = closed.as_ref().and_then(|identity| self.spans().get(identity).copied());
        let page = PageQuestion::new(question, parameters, span);
        let page = recordings.iter().fold(page, |page, (name, path)| page.about(name, path));
        Ok((page, closed))
    }

    fn spans(&self) -> MutexGuard<'_, HashMap<Identity, (i64, i64)>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a child copy a window into a recording of its own. The copy is completed even if the browser goes away.
    async fn saved(&self, asked: Asked, parameters: &str) -> Result<Arc<str>> {
        let (library, saves) = (Arc::clone(&self.library), Arc::clone(&self.saves));
        let names = Asked::of(parameters);
        let place = self.work.beside(Lane::Changes, move || {
            let (recording, name) = (names.needed("recording")?, names.needed("name")?);
            Place::of(&library, &saves, recording, name)
        });
        let place = place.await?;
        let (page, _) = self.page(Question::Save, asked, parameters).await?;
        let library = Arc::clone(&self.library);
        let limits = Limits { within: Some(SAVED_WITHIN), cpu: None, file_bytes: None, ..(self.limits)() };
        let copied = tokio::spawn(async move {
            let reply = ask(&Task::Page(page.saving(place.order())), &limits).await?;
            place.keep(&library)?;
            Ok::<Arc<str>, anyhow::Error>(reply.body.into())
        });
        copied.await?
    }

    /// Answers a question about what this process has: figures of growing recordings, and changes.
    async fn known(&self, question: Question, asked: Asked, who: String) -> Result<Arc<str>> {
        let (library, followed, control) =
            (Arc::clone(&self.library), Arc::clone(&self.followed), Arc::clone(&self.control));
        let lane = if question.controls() { Lane::Changes } else { Lane::Figures };
        let answered = self.work.beside(lane, move || {
            Known { library: &library, followed: &followed, control: &control, who: &who, asked }.answer(question)
        });
        Ok(answered.await?.into())
    }
}

/// Answers from this process's own state, without reading a recording's rows.
struct Known<'a> {
    library: &'a Library,
    followed: &'a Followed,
    control: &'a Control,
    /// The browser that asks.
    who: &'a str,
    asked: Asked,
}

impl Known<'_> {
    fn answer(&self, question: Question) -> Result<String> {
        match question {
            Question::Ping => json(&true),
            Question::Recordings => json(&self.library.listed()),
            Question::Live => json(&self.followed()?.view(&self.part()?)?),
            Question::LiveTable => self.followed()?.table(self.asked.needed("of")?, &self.part()?),
            Question::LiveFindings => json(&self.followed()?.findings()?),
            Question::Controls => json(&self.control.shown(self.library, self.asked.needed("recording")?)?),
            Question::SettingNow => {
                let recording = (self.library, self.asked.needed("recording")?);
                let setting = (self.asked.needed("name")?, self.asked.text("table"));
                json(&self.control.setting(recording, self.asked.needed("node")?, setting)?)
            }
            Question::AddValve => self.change(&WantedValve::of(&self.asked)?),
            Question::Set => self.change(&WantedSetting::of(&self.asked)?),
            Question::Place => self.change(&WantedPlacement::of(&self.asked)?),
            Question::Switch => self.change(&WantedSource::of(&self.asked, self.control.sources()?)?),
            Question::Undo => {
                let number = self.asked.needed("number")?.parse().context("number= takes the number of a change")?;
                self.control.undo(number, self.who)?;
                json(&self.control.shown(self.library, self.asked.needed("recording")?)?)
            }
            other => bail!("{other:?} reads a recording"),
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
        let named = |by, name| Some((by, self.asked.text(name)?));
        let of = named(LiveBy::Statement, "statement").or_else(|| named(LiveBy::Client, "client"));
        Ok(Part { seconds: seconds.unwrap_or(60), until_s, node: self.asked.text("node"), of })
    }
}

fn json(answer: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(answer)?)
}
