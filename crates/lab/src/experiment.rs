//! An experiment file: the nodes, the load and the phases of an experiment.

use crate::variants::WARM_UP;
use crate::{Variants, wanted};
use helenus_cassandra::{Line, Version};
use helenus_load::Workload;
use helenus_load::schedule::{self, Load, Phase, Until};
use helenus_notation::{Count, Document, Section, given, quantity};
use helenus_observe::{Options, WrongOption};
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A placeholder for the peak, to check the phases before the peak is measured.
const SOME_PEAK_PER_S: f64 = 1000.0;

/// Why an experiment file can't be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read the experiment {}: {source}. The studies are in experiments/", path.display())]
    Read { path: PathBuf, source: std::io::Error },

    #[error(transparent)]
    File(#[from] helenus_notation::Error),

    #[error(transparent)]
    Load(#[from] helenus_load::Error),
}

/// An experiment, as described by its file.
#[derive(Debug, Clone)]
pub struct Experiment {
    pub title: String,
    /// The question of the study, in a sentence.
    pub question: String,
    pub node: Node,
    pub observe: Observe,
    /// A workload's name or path, as for `helenus load`; a path may be relative to the experiment's file.
    pub workload: String,
    /// Factor for the keys of the workload and the counts of the phases.
    pub scale: u64,
    pub calibrate: Option<Calibrate>,
    /// The variants to compare; None for an experiment without variants.
    pub variants: Option<Variants>,
    file: String,
    text: String,
}

/// The local cluster of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Node {
    pub version: String,
    #[serde(deserialize_with = "quantity::of_count")]
    pub nodes: usize,
    pub heap: String,
    pub jvm_options: Vec<String>,
    /// `key=value` for cassandra.yaml.
    pub settings: Vec<String>,
}

/// Recording options of the experiment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observe {
    /// The options of `helenus record`, with the same names.
    pub options: Options,
    /// Points that probes meter, by name or pattern.
    pub probes: Vec<String>,
}

/// Phases of one mix of the workload, and the preparation before them.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The mix after the `/` of a workload's name; None for the workload without a mix.
    pub mix: Option<String>,
    pub rest: Duration,
    pub before: Vec<Before>,
    pub phases: Vec<Phase>,
}

/// A step that can precede the phases of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Before {
    /// Drops the page cache of the whole machine, so that the next reads come from the disk.
    DropPageCache,
    /// Waits until the workload's tables have nothing left to compact.
    Compactions,
}

/// A closed loop before the phases that finds the peak rate of this machine, so that rates can be given as shares of
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibrate {
    #[serde(deserialize_with = "quantity::of_count")]
    pub in_flight: u32,
    /// The longest time; the search ends earlier when the throughput stops growing.
    #[serde(rename = "for", deserialize_with = "quantity::of_span")]
    pub lasts: Duration,
    /// The longest warm-up before it; the warm-up ends earlier when the nodes' JVMs have stopped compiling.
    #[serde(default = "default_warm_up", deserialize_with = "quantity::of_span")]
    pub warm_up: Duration,
}

fn default_warm_up() -> Duration {
    Duration::from_secs(60)
}

impl Experiment {
    pub fn read(path: &Path) -> Result<Experiment, Error> {
        let text = given::read_text(path, given::WRITTEN_AT_MOST)
            .map_err(|source| Error::Read { path: path.to_path_buf(), source })?;
        Experiment::parse(&path.display().to_string(), &text)
    }

    /// Whether code is woven into its nodes while they run.
    pub(crate) fn weaves(&self) -> bool {
        let variants = self.variants.iter().flat_map(|variants| &variants.list);
        !self.observe.probes.is_empty()
            || variants.into_iter().any(|variant| !variant.valves.is_empty() || !variant.executors.is_empty())
    }

    /// Parses an experiment; `file` is its name in errors. The phases are checked as well.
    pub fn parse(file: &str, text: &str) -> Result<Experiment, Error> {
        let document = Document::parse(file, text)?;
        let mut root = document.root();
        let (node, line) = match root.section("node")? {
            Some(section) => Node::read(&section)?,
            None => (Node::default(), Node::LINE),
        };
        let experiment = Experiment {
            title: root.required("title")?,
            question: root.required("question")?,
            node,
            observe: match root.section("observe")? {
                Some(section) => Observe::read(section, line)?,
                None => Observe::of(Vec::new(), Vec::new()).map_err(|wrong| root.error(wrong.reason))?,
            },
            workload: beside(file, root.required("workload")?),
            scale: root.optional::<Count>("scale")?.map_or(1, |Count(scale)| scale),
            calibrate: root.section("calibrate")?.map(|section| section.whole()).transpose()?,
            variants: Variants::read(&mut root, line)?,
            file: file.to_string(),
            text: text.to_string(),
        };
        match (root.list("phase")?.is_empty(), root.list("part")?.is_empty()) {
            (true, true) => return Err(root.error("an experiment has at least one [[phase]]").into()),
            (false, false) => {
                return Err(root.error("an experiment has either [[phase]] or [[part]] with phases in them").into());
            }
            _ => {}
        }
        root.finish()?;
        if experiment.calibrate.is_none()
            && let Some((line, _)) = text.lines().enumerate().find(|(_, line)| is_relative(line))
        {
            let message = "a rate in percent is a share of the peak that [calibrate] finds, and there is none";
            return Err(helenus_notation::Error::at_line(file, line + 1, message).into());
        }
        experiment.parts(SOME_PEAK_PER_S)?;
        Ok(experiment)
    }

    /// How long the warm-up before measured phases is repeated at most while the nodes' JVMs compile.
    pub(crate) fn warm_up_at_most(&self) -> Duration {
        self.variants.as_ref().map_or(WARM_UP, |variants| variants.warm_up)
    }

    /// The parts of the load in order; rates in percent are replaced by shares of `peak_per_s`.
    pub fn parts(&self, peak_per_s: f64) -> Result<Vec<Part>, Error> {
        // Replaced line by line, so that the lines of errors stay correct.
        let lines: Vec<String> = self.text.lines().map(|line| absolute(line, peak_per_s)).collect();
        let text = lines.join("\n");
        let document = Document::parse(&self.file, &text)?;
        let mut root = document.root();
        let phases = root.list("phase")?;
        let mut parts: Vec<Part> = if phases.is_empty() {
            root.list("part")?.into_iter().map(Part::read).collect::<Result<_, _>>()?
        } else {
            let phases = schedule::from_toml(phases)?;
            vec![Part { mix: None, rest: Duration::ZERO, before: Vec::new(), phases }]
        };
        parts.iter_mut().flat_map(|part| &mut part.phases).for_each(|phase| scale(phase, self.scale));
        Ok(parts)
    }

    /// The workload with the scaled number of keys, and one of its mixes.
    pub fn open_workload(&self, mix: Option<&str>) -> Result<Workload, helenus_load::Error> {
        let mut workload = match mix {
            Some(mix) => Workload::open(&format!("{}/{mix}", self.workload))?,
            None => Workload::open(&self.workload)?,
        };
        if self.scale > 1 {
            workload.scale(self.scale)?;
        }
        Ok(workload)
    }
}

fn scale(phase: &mut Phase, times: u64) {
    if let Until::Count(count) = &mut phase.until {
        *count = count.saturating_mul(times);
    }
    if let Load::Surge { count, .. } = &mut phase.load {
        *count = count.saturating_mul(times);
    }
}

/// A path relative to the experiment's file is completed, with its mix; otherwise the text stays as it was given.
fn beside(file: &str, workload: String) -> String {
    let path = workload.rfind(".toml/").map_or(workload.as_str(), |end| &workload[..end + ".toml".len()]);
    match Path::new(file).parent() {
        Some(folder) if folder.join(path).is_file() => folder.join(&workload).display().to_string(),
        _ => workload,
    }
}

impl Observe {
    fn read(mut section: Section<'_>, line: Line) -> Result<Observe, helenus_notation::Error> {
        let mut given = Vec::new();
        for name in Options::names() {
            let Some(value) = section.optional::<Value>(name)? else { continue };
            let wrong = || section.error_at(name, format!("`{name}` of [observe] is no option's value"));
            given.push((name, word(&value).ok_or_else(wrong)?));
        }
        let probes: Vec<String> = section.optional("probes")?.unwrap_or_default();
        wanted::check_probes(&section, "probes", &probes, line)?;
        section.finish()?;
        Observe::of(given, probes).map_err(|wrong| match wrong.name {
            Some(name) => section.error_at(&name, format!("`{name}` of [observe] {}", wrong.reason)),
            None => section.error(wrong.reason),
        })
    }

    /// Requests on the wire are recorded unless the file switches it off, because their latency is judged.
    fn of(mut given: Vec<(&'static str, String)>, probes: Vec<String>) -> Result<Observe, WrongOption> {
        if given.iter().all(|(name, _)| *name != "requests") {
            given.push(("requests", "wire".to_string()));
        }
        Ok(Observe { options: Options::from_named(&given)?, probes })
    }
}

/// The value of an option, formatted as on the command line.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Array(texts) => texts.iter().map(Value::as_str).collect::<Option<Vec<_>>>().map(|texts| texts.join(",")),
        Value::Null | Value::Object(_) => None,
    }
}

impl Part {
    fn read(mut section: Section<'_>) -> Result<Part, helenus_load::Error> {
        let part = Part {
            mix: section.optional("mix")?,
            rest: section.duration("rest")?.unwrap_or_default(),
            before: section.optional("before")?.unwrap_or_default(),
            phases: schedule::from_toml(section.list("phase")?)?,
        };
        if part.phases.is_empty() {
            return Err(section.error("a part has at least one [[part.phase]]").into());
        }
        section.finish()?;
        Ok(part)
    }
}

impl Default for Node {
    fn default() -> Node {
        Node {
            version: Node::LINE.to_string(),
            nodes: 1,
            heap: "1g".into(),
            jvm_options: Vec::new(),
            settings: Vec::new(),
        }
    }
}

impl Node {
    const LINE: Line = Line::V5_0;

    /// Reads the node's settings; also returns the release line.
    fn read(section: &Section<'_>) -> Result<(Node, Line), helenus_notation::Error> {
        let node: Node = section.whole()?;
        let version = node.version.parse::<Version>();
        let line = version.map_err(|error| section.error_at("version", error.to_string()))?.line();
        Ok((node, line))
    }
}

/// Whether a line of an experiment gives a rate in percent.
fn is_relative(line: &str) -> bool {
    let key = line.split('=').next().unwrap_or_default().trim();
    ["rate", "steps", "ramp"].contains(&key) && line.contains('%')
}

/// The line, with each percentage replaced by a rate.
fn absolute(line: &str, peak_per_s: f64) -> String {
    if !is_relative(line) {
        return line.to_string();
    }
    // For a large peak, a percent is a whole number of requests per second, so that even steps stay even.
    let percent = if peak_per_s >= 1000.0 { (peak_per_s / 100.0).round() } else { peak_per_s / 100.0 };
    let mut out = String::new();
    let mut rest = line;
    while let Some(end) = rest.find('%') {
        let start = rest[..end].rfind(|c: char| !c.is_ascii_digit() && c != '.').map_or(0, |last| last + 1);
        // In `20%..140%`, the dots belong to neither number.
        let digits = rest[start..end].trim_start_matches('.');
        let start = end - digits.len();
        out.push_str(&rest[..start]);
        match digits.parse::<f64>() {
            Ok(share) => out.push_str(&(percent * share).max(1.0).to_string()),
            Err(_) => out.push_str(&rest[start..=end]),
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use helenus_observe::{RequestsFrom, Switch, SyscallsMode};

    #[test]
    fn shares_become_rates() {
        assert_eq!(absolute("steps = \"20%..140%/20%\"", 5000.0), "steps = \"1000..7000/1000\"");
        assert_eq!(absolute("steps = \"25%..150%/25%\"", 23803.0), "steps = \"5950..35700/5950\"");
        assert_eq!(absolute("rate = \"12.5%\" # of the peak", 800.0), "rate = \"100\" # of the peak");
        assert_eq!(absolute("title = \"20 % more\"", 800.0), "title = \"20 % more\"");
    }

    #[test]
    fn mistakes_are_found_before_anything_runs() {
        let error = |text: &str| Experiment::parse("x.toml", text).unwrap_err().to_string();
        let head = "title = \"t\"\nquestion = \"q\"\nworkload = \"keyvalue\"\n";
        let phase = "[[phase]]\nrate = \"50%\"\nfor = \"5s\"\n";
        assert!(error(&format!("{head}{phase}")).starts_with("x.toml:5: a rate in percent"));
        assert!(error(head).contains("at least one [[phase]]"));
        let misspelt = error(&format!("{head}[nod]\nheap = \"1g\"\n[[phase]]\nrate = 5\nfor = \"5s\"\n"));
        assert!(misspelt.starts_with("x.toml:4:") && misspelt.contains("did you mean `node`"), "{misspelt}");
        let calibrated = format!("{head}[calibrate]\nin_flight = 8\nfor = \"1s\"\n{phase}");
        let phases = Experiment::parse("x.toml", &calibrated).unwrap().parts(400.0).unwrap().remove(0).phases;
        assert_eq!(phases[0].rates_per_s(), Some((200.0, 200.0)));
    }

    #[test]
    fn the_scale_is_of_counts_and_keys() {
        let text = "title = \"t\"\nquestion = \"q\"\nworkload = \"keyvalue\"\nscale = 3\n[[phase]]\nin_flight = 1\ncount = 5\n";
        let experiment = Experiment::parse("x.toml", text).unwrap();
        assert_eq!(experiment.parts(1.0).unwrap()[0].phases[0].until, Until::Count(15));
        let rows = |workload: &Workload| workload.populate.unwrap().count;
        assert_eq!(rows(&experiment.open_workload(None).unwrap()), 3 * rows(&Workload::open("keyvalue").unwrap()));
    }

    #[test]
    fn parts_have_a_mix_and_phases_of_their_own() {
        let head = "title = \"t\"\nquestion = \"q\"\nworkload = \"keyvalue\"\n[observe]\nsyscalls = \"full\"\nprobes = [\"lwt\"]\nmax-size = \"2GiB\"\n";
        let part = "[[part]]\nmix = \"read\"\nrest = \"2s\"\nbefore = [\"drop-page-cache\"]\n";
        let phase = "[[part.phase]]\nrate = 5\nfor = \"5s\"\n";
        let experiment = Experiment::parse("x.toml", &format!("{head}{part}{phase}[[part]]\n{phase}")).unwrap();
        let Observe { options, probes } = &experiment.observe;
        assert_eq!((options.syscalls.syscalls, options.max_size), (SyscallsMode::Full, Some(2 << 30)));
        assert_eq!(
            (options.stacks.stacks.cpu, options.wire.requests, probes.as_slice()),
            (true, RequestsFrom::Wire, &["lwt".to_string()][..])
        );
        let parts = experiment.parts(1.0).unwrap();
        assert_eq!((parts.len(), parts[0].phases.len()), (2, 1));
        assert_eq!((parts[0].mix.as_deref(), parts[1].mix.as_deref()), (Some("read"), None));
        assert_eq!((parts[0].rest, parts[0].before.as_slice()), (Duration::from_secs(2), &[Before::DropPageCache][..]));
        let error = |text: &str| Experiment::parse("x.toml", text).unwrap_err().to_string();
        assert!(error(&format!("{head}{part}")).contains("at least one [[part.phase]]"));
        let unknown = error(&format!("{head}[[part]]\nbefore = [\"reboot\"]\n{phase}"));
        assert!(unknown.contains("expected `drop-page-cache` or `compactions`"), "{unknown}");
        let both = error(&format!("{head}{part}{phase}[[phase]]\nrate = 5\nfor = \"5s\"\n"));
        assert!(both.contains("either [[phase]] or [[part]]"), "{both}");
    }

    #[test]
    fn an_experiment_takes_the_options_of_a_recording() {
        let head = "title = \"t\"\nquestion = \"q\"\nworkload = \"keyvalue\"\n[observe]\n";
        let phase = "[[phase]]\nrate = 5\nfor = \"5s\"\n";
        let read = |observe: &str| Experiment::parse("x.toml", &format!("{head}{observe}{phase}"));
        let observe = "sched = \"on\"\noff-cpu-above = \"5ms\"\noff-cpu-stacks = true\nrequests = \"off\"\nstacks = [\"cpu\", \"wall\"]\n";
        let options = read(observe).unwrap().observe.options;
        assert_eq!((options.sched.sched, options.wire.requests), (Switch::On, RequestsFrom::Off));
        assert_eq!(options.sched.off_cpu_above, Some(Duration::from_millis(5)));
        assert!(options.sched.off_cpu_stacks && options.stacks.stacks.wall);
        let error = |observe: &str| read(observe).unwrap_err().to_string();
        let misspelt = error("sced = \"on\"\n");
        assert!(misspelt.starts_with("x.toml:5:") && misspelt.contains("did you mean `sched`"), "{misspelt}");
        let wrong = error("sched = \"on\"\nsyscalls = \"ful\"\n");
        assert!(wrong.starts_with("x.toml:6:") && wrong.contains("did you mean `full`"), "{wrong}");
        let alone = error("max-events-per-s = 100\n");
        assert!(alone.starts_with("x.toml:4:") && alone.contains("limits the rows of syscalls full"), "{alone}");
    }

    #[test]
    fn the_studies_that_come_with_helenus_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let mut read = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let experiment = Experiment::read(&path).unwrap();
                helenus_load::Workload::open(&experiment.workload).unwrap();
                read += 1;
            }
        }
        assert!(read > 2);
    }
}
