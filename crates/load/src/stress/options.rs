//! The options after the command, such as `-rate`, `-pop` and `-node`.

use super::words::{Words, number};
use crate::rows::{Distribution, range};
use crate::{Access, Compression, Error, Login, Protocol};
use helenus_notation::given;
use std::path::PathBuf;
use std::time::Duration;

/// Target load: fixed concurrency, or rising concurrency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rate {
    /// This many requests in flight; if a rate is given, at most this many.
    Threads { threads: u32, per_s: Option<f64> },
    /// Rising concurrency; with `until_saturated` it stops when more requests in flight bring no gain.
    Rising { from: u32, to: u32, until_saturated: bool },
}

impl Rate {
    pub fn read(words: &mut Words, notes: &mut Vec<String>) -> Result<Option<Rate>, Error> {
        if words.is_empty() {
            return Ok(None);
        }
        let threads = |text: &str| match number(text) {
            Ok(threads @ 1..=1_000_000) => Ok(threads as u32),
            Ok(_) => Err("is at least 1 and at most 1,000,000".to_string()),
            Err(message) => Err(message),
        };
        let (least, most) = (words.parsed("threads>=", threads)?, words.parsed("threads<=", threads)?);
        let exactly = words.parsed("threads=", threads)?;
        let auto = words.flag("auto");
        let throttle = words.parsed("throttle=", per_s)?;
        let (fixed, limit) = (words.parsed("fixed=", per_s)?, words.parsed("limit=", per_s)?);
        words.finish()?;
        if throttle.is_some() && fixed.is_some() {
            return Err(words.wrong("throttle=", "and fixed= exclude each other; leave one of them"));
        }
        if throttle.is_some() {
            notes.push(
                "-rate throttle= is a schedule here, as fixed= is: times count from the intended start of a request"
                    .to_string(),
            );
        }
        let per_s = fixed.or(throttle).or(limit).filter(|per_s| *per_s > 0.0);
        match exactly {
            Some(_) if auto || least.is_some() || most.is_some() => {
                Err(words.wrong("threads=", "is one number; leave out auto, threads>= and threads<=, or it"))
            }
            Some(threads) => Ok(Some(Rate::Threads { threads, per_s })),
            None if per_s.is_some() => {
                Err(words.wrong("threads=", "is missing: with a rate, how many requests may be in flight at most"))
            }
            None => {
                let (from, to) = (least.unwrap_or(4), most.unwrap_or(1000));
                match from <= to {
                    true => Ok(Some(Rate::Rising { from, to, until_saturated: auto })),
                    false => Err(words.wrong("threads>=", &format!("{from} is more than threads<={to}"))),
                }
            }
        }
    }
}

fn per_s(text: &str) -> Result<f64, String> {
    let rate = text.strip_suffix("/s").and_then(|digits| digits.parse::<u32>().ok());
    rate.map(f64::from).ok_or_else(|| format!("`{text}` is not a rate such as 1000/s"))
}

/// The option `-pop`: which keys are used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Keys {
    /// Numbers in sequence. After the last one, the sequence repeats or ends.
    Sequence {
        from: i64,
        to: i64,
        wraps: bool,
    },
    Drawn(Distribution),
}

impl Keys {
    pub fn read(words: &mut Words, notes: &mut Vec<String>) -> Result<Option<Keys>, Error> {
        let sequence = words.parsed("seq=", range)?;
        let drawn = words.parsed("dist=", Distribution::parse)?;
        let wraps = !words.flag("no-wrap");
        if words.value("contents=")?.is_some() {
            notes.push("-pop contents= changes nothing: rows are written in the order of their clustering".to_string());
        }
        words.refuse(&[("read-lookback=", "reads do not follow the writes; read with dist= over what was written")])?;
        words.finish()?;
        match (sequence, drawn) {
            (Some(_), Some(_)) => Err(words.wrong("seq=", "and dist= exclude each other; leave one of them")),
            (Some((from, to)), None) => Ok(Some(Keys::Sequence { from, to, wraps })),
            (None, drawn) => Ok(drawn.map(Keys::Drawn)),
        }
    }
}

/// The option `-node` and its like: the nodes, and how to connect to them.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub nodes: Vec<String>,
    pub access: Access,
    pub connections_per_node: usize,
}

impl Target {
    pub fn read(
        node: &mut Words,
        port: &mut Words,
        mode: &mut Words,
        notes: &mut Vec<String>,
    ) -> Result<Target, Error> {
        let native =
            port.parsed("native=", |text| text.parse::<u16>().map_err(|_| format!("`{text}` is not a port")))?;
        if port.value("jmx=")?.is_some() {
            notes.push(
                "-port jmx= changes nothing: helenus does not ask JMX, so the columns about GC are 0".to_string(),
            );
        }
        port.refuse(&[("thrift=", "Thrift is gone from Cassandra; leave it out")])?;
        port.finish()?;
        let mut access = Access { only_given_nodes: node.flag("whitelist"), ..Access::default() };
        access.datacenter = node.value("datacenter=")?;
        let mut nodes = match node.value("file=")? {
            None => Vec::new(),
            Some(path) => {
                let path = PathBuf::from(path);
                let text = given::read_text(&path, given::WRITTEN_AT_MOST).map_err(|source| {
                    node.wrong("file=", &format!("cannot read {}: {source}; it has one node a line", path.display()))
                })?;
                text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_string).collect()
            }
        };
        if let Some(list) = node.plain() {
            nodes.extend(list.split(',').filter(|node| !node.is_empty()).map(str::to_string));
        }
        node.finish()?;
        if nodes.is_empty() {
            nodes.push("127.0.0.1".to_string());
        }
        if let Some(native) = native {
            nodes.iter_mut().for_each(|node| *node = with_port(node, native));
        }
        let connections_per_node = read_mode(mode, &mut access, notes)?;
        Ok(Target { nodes, access, connections_per_node })
    }
}

/// Adds the port to nodes without a port.
fn with_port(node: &str, port: u16) -> String {
    match node.parse::<std::net::IpAddr>() {
        Ok(address) => std::net::SocketAddr::new(address, port).to_string(),
        Err(_) if node.contains(':') => node.to_string(),
        Err(_) => format!("{node}:{port}"),
    }
}

/// Returns the number of connections to each node.
fn read_mode(mode: &mut Words, access: &mut Access, notes: &mut Vec<String>) -> Result<usize, Error> {
    for taken in ["native", "cql3", "prepared"] {
        mode.flag(taken);
    }
    mode.refuse(&[
        ("thrift", "Thrift is gone from Cassandra; leave it out"),
        ("simplenative", "there is one driver here; write native cql3"),
        ("unprepared", "statements are always prepared; write prepared, or leave it out"),
        ("auth-provider=", "there is password authentication alone: user= and password="),
        ("cql2", "CQL 2 is gone from Cassandra; write cql3"),
    ])?;
    let compression = |text: &str| match text.to_ascii_lowercase().as_str() {
        "none" => Ok(None),
        "lz4" => Ok(Some(Compression::Lz4)),
        "snappy" => Ok(Some(Compression::Snappy)),
        _ => Err(format!("`{text}` is none of none, lz4 and snappy")),
    };
    access.compression = mode.parsed("compression=", compression)?.flatten();
    access.login = match (mode.value("user=")?, mode.value("password=")?) {
        (Some(user), Some(password)) => Some(Login { user, password }),
        (None, None) => None,
        _ => return Err(mode.wrong("user=", "and password= belong together; give both")),
    };
    match mode.value("protocolVersion=")?.as_deref() {
        None | Some("4" | "NEWEST_SUPPORTED") => {}
        Some("5") => access.protocol = Protocol::V5,
        Some(_) => notes.push("-mode protocolVersion= changes nothing: the protocol is version 4 or 5".to_string()),
    }
    if mode.value("maxPending=")?.is_some() {
        notes.push("-mode maxPending= changes nothing: what is in flight is bounded by the threads".to_string());
    }
    let connections = mode.parsed("connectionsPerHost=", number)?.unwrap_or(1) as usize;
    mode.finish()?;
    Ok(connections)
}

/// The options for output: intervals and files.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Log {
    pub interval: Duration,
    pub file: Option<PathBuf>,
    pub hdr_file: Option<PathBuf>,
    pub summary: bool,
    /// The HTML file of `-graph`.
    pub report: Option<PathBuf>,
}

impl Log {
    pub fn read(log: &mut Words, graph: &mut Words, reporting: &mut Words) -> Result<Log, Error> {
        let interval = match log.parsed("interval=", interval)? {
            Some(interval) => Some(interval),
            None => reporting.parsed("output-frequency=", interval)?,
        };
        reporting.refuse(&[("header-frequency=", "the header is printed once; leave it out")])?;
        reporting.finish()?;
        let (file, hdr_file) = (log.value("file=")?.map(PathBuf::from), log.value("hdrfile=")?.map(PathBuf::from));
        log.value("level=")?;
        let summary = !log.flag("no-summary");
        log.flag("no-settings");
        log.finish()?;
        let report = graph.value("file=")?.map(PathBuf::from);
        if report.is_none() && !graph.is_empty() {
            return Err(graph.wrong("file=", "is missing: the HTML file to write"));
        }
        graph.refuse(&[
            ("revision=", "a report is of one run; compare recordings with `helenus sql`, or leave it out"),
            ("op=", "the report has all operations; leave it out"),
        ])?;
        graph.value("title=")?;
        graph.finish()?;
        let interval = interval.unwrap_or(Duration::from_secs(1));
        Ok(Log { interval, file, hdr_file, summary, report })
    }
}

/// `10`, `10s` or `500ms`.
fn interval(text: &str) -> Result<Duration, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, ms) = match lower.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (lower.strip_suffix('s').unwrap_or(&lower), 1000),
    };
    match digits.parse::<u32>() {
        Ok(length @ 1..) => Ok(Duration::from_millis(u64::from(length) * ms)),
        _ => Err(format!("`{text}` is not an interval such as 1s, 10 or 500ms")),
    }
}

/// The option `-errors`: how failures are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failures {
    /// Failures don't make the run fail.
    pub ignored: bool,
    /// A read that finds no row counts as a failure.
    pub empty_reads_fail: bool,
}

impl Failures {
    pub fn read(words: &mut Words, notes: &mut Vec<String>) -> Result<Failures, Error> {
        if words.parsed("retries=", number)?.is_some_and(|retries| retries > 0) {
            notes
                .push("-errors retries= changes nothing: requests are not retried, and each failure is counted".into());
        }
        let (ignored, skip) = (words.flag("ignore"), words.flag("skip-read-validation"));
        words.finish()?;
        Ok(Failures { ignored, empty_reads_fail: !skip })
    }
}

/// The option `-tokenrange`: the number of parts into which each range of tokens is split.
pub(super) fn split(words: &mut Words) -> Result<u64, Error> {
    let split = words.parsed("split-factor=", number)?.unwrap_or(1);
    // Without it, cassandra-stress ends after the last range; here n= or duration= always ends the run.
    words.flag("wrap");
    words.finish()?;
    match split {
        1..=1_000_000 => Ok(split),
        _ => Err(words.wrong("split-factor=", "is from 1 to 1000000")),
    }
}

/// Options that are not supported, each with a replacement.
pub(super) const REFUSED: [(&str, &str); 8] = [
    ("-transport", "a Java keystore is not read; before the command, give --tls-ca FILE and its kin, which take PEM"),
    ("-sendto", "there is no daemon; run `helenus stress` on that machine"),
    ("-sample", "every request is recorded, none is sampled; leave it out"),
    ("-jmx", "helenus does not ask JMX; `helenus record` measures pauses through its agent"),
    ("-credentials-file", "write -mode user=… password=…"),
    ("-key", "is from before Cassandra 2.1; write -pop"),
    ("-send-to", "there is no daemon; run `helenus stress` on that machine"),
    ("-legacy", "write the arguments of Cassandra 2.1 and later"),
];
