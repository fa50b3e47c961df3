use super::{target, unpin};
use crate::{interrupt, settings, terminal};
use anyhow::Result;
use clap::Args;
use helenus_cassandra::{Cancel, Places};
use helenus_control::placement::{
    self, CpuSet, Error, FollowSummary, Group, InterruptCounts, Journals, Pin, Plan, Planned, Saved, Served, Settings,
    Strategy,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Place the threads of a running process on CPUs, until Ctrl-C
///
/// Threads that start later are placed, too.
///
/// The process is not restarted and needs no agent. The masks that were before are written down first: they are put back at the
/// end, when the lease ends, and when this command was killed, by a process that it leaves running.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  helenus pin --node 127.0.0.1 --strategy equal-spread --dry-run
  helenus pin --node 127.0.0.1 --strategy interrupt-aware
  helenus pin --node 127.0.0.1 --strategy interrupt-aware --move-interrupts 0
  helenus pin 4711 --strategy groups --group CompactionExecutor=0-1 --group '*=rest'
  helenus pin 4711 --strategy cache-aware --keep && helenus unpin 4711
  helenus pin 4711 --strategy cache-aware --keep --lease 2h
  helenus pin 4711 --renew --lease 24h
  helenus pin --list")]
pub struct Arguments {
    /// The process
    #[arg(required_unless_present_any = ["node", "list"], conflicts_with = "node")]
    pid: Option<i32>,
    /// A node on this machine, by its CQL address
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    node: Option<String>,
    /// How its threads are placed
    #[arg(long, value_name = "STRATEGY", required_unless_present_any = ["list", "renew"], value_enum)]
    strategy: Option<Strategy>,
    /// With the strategy groups: thread groups, by name or `*`, and their CPUs, such as 0-3,8 or `rest`. With the others: the
    /// only groups to place, without CPUs (may be given again)
    #[arg(long = "group", value_name = "NAME[,NAME…][=CPUS]")]
    groups: Vec<Group>,
    /// Seed of the first CPU for equal-spread [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How long interrupts are counted for interrupt-aware, which should be under load
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = super::duration)]
    window: Duration,
    /// With interrupt-aware: keep off the fewest CPUs that serve so much of all interrupts
    #[arg(long, value_name = "SHARE", default_value_t = Settings::BUSY_SHARE)]
    busy_share: f64,
    /// With interrupt-aware: gather the busy interrupts on these CPUs, and keep off them
    #[arg(long, value_name = "CPUS")]
    move_interrupts: Option<CpuSet>,
    /// Restore everything after this time
    #[arg(long = "for", value_name = "DURATION", value_parser = super::duration)]
    lasts: Option<Duration>,
    /// Restore everything after this time, even if helenus is gone [default: stays until it is undone]
    #[arg(long, value_name = "DURATION", value_parser = super::duration, conflicts_with_all = ["list", "dry_run"])]
    lease: Option<Duration>,
    /// Restart the lease of a pinned process: it lasts for --lease from now on
    #[arg(long, requires = "lease", conflicts_with_all = ["strategy", "groups", "keep", "dry_run", "lasts", "list"])]
    renew: bool,
    /// Place the existing threads, exit, and leave them so until `helenus unpin` or the end of the lease
    #[arg(long, conflicts_with_all = ["lasts", "dry_run"])]
    keep: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Show what is pinned
    #[arg(long, conflicts_with_all = ["pid", "node", "strategy", "groups", "keep", "dry_run", "lasts"])]
    list: bool,
    /// Print JSON: a line for the plan and, at the end, a line for the restored threads
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let journals = Journals::within(&Places::of_user()?.state);
    if arguments.list {
        return list(&journals, arguments.json);
    }
    if let (true, Some(lease)) = (arguments.renew, arguments.lease) {
        return renew(&journals, arguments, lease);
    }
    let wanted = arguments.settings();
    wanted.check()?;
    let target = target::find(arguments.node.as_deref(), arguments.pid)?;
    let cancel = interrupt::cancel_on_signals()?;
    let served = match wanted.strategy.needs_interrupts() {
        true => count_interrupts(arguments.window, &cancel)?,
        false => None,
    };
    if cancel.is_cancelled() {
        return Ok(ExitCode::SUCCESS);
    }
    let plan = Plan::new(target.pid, target.start_ticks, &wanted, served)?;
    let name = format!("{} (pid {})", target.command, target.pid);
    for remark in &plan.remarks {
        terminal::talk(terminal::dim(remark));
    }
    if arguments.dry_run || plan.is_empty() {
        show(&plan, arguments.json)?;
        terminal::talk(terminal::dim(format_args!("nothing of {name} was changed")));
        return Ok(ExitCode::SUCCESS);
    }
    let pin = plan.clone().apply(&journals)?;
    show(&plan, arguments.json)?;
    let took = terminal::nanos(i64::try_from(pin.took.as_nanos()).unwrap_or(i64::MAX));
    let (threads, strategy) = (pin.threads(), wanted.strategy.name());
    terminal::done(format_args!("{threads} threads of {name} are placed by {strategy}, in {took}"));
    if arguments.keep {
        pin.keep()?;
        let until = match arguments.lease {
            Some(lease) => format!("for {}, or until `helenus unpin {}`", settings::length(lease), target.pid),
            None => format!("until `helenus unpin {}`", target.pid),
        };
        terminal::talk(terminal::dim(format_args!(
            "they stay so {until}; a new thread gets the CPUs of the one that makes it"
        )));
        return Ok(ExitCode::SUCCESS);
    }
    follow(pin, arguments, &cancel)
}

impl Arguments {
    fn settings(&self) -> Settings {
        let strategy = self.strategy.unwrap_or(Strategy::None);
        Settings {
            groups: self.groups.clone(),
            seed: self.seed.unwrap_or_else(|| rand::random_range(0..1_000_000)),
            busy_share: self.busy_share,
            move_interrupts: self.move_interrupts.clone(),
            lease: self.lease,
            ..Settings::new(strategy)
        }
    }
}

fn renew(journals: &Journals, arguments: &Arguments, lease: Duration) -> Result<ExitCode> {
    let pid = target::find(arguments.node.as_deref(), arguments.pid)?.pid;
    let saved = journals.list()?.into_iter().find(|saved| saved.pid == pid && saved.is_alive());
    let saved = placement::renew(journals, &saved.ok_or(Error::NotPinned { pid })?, lease)?;
    let lease = settings::length(lease);
    terminal::done(format_args!("the threads of {} (pid {pid}) are put back in {lease}", saved.command));
    if arguments.json {
        terminal::json_line(&json!({ "renewed": shown(&saved) }))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// An entry of the journal as JSON.
fn shown(saved: &Saved) -> serde_json::Value {
    json!({
        "pid": saved.pid, "command": saved.command, "strategy": saved.strategy, "since_s": saved.since_s,
        "threads": saved.threads(), "interrupts": saved.interrupts(), "alive": saved.is_alive(),
        "follower": saved.follower(), "lease_left_s": saved.lease_left().map(|left| left.as_secs()),
    })
}

/// Returns None if it was cancelled.
fn count_interrupts(window: Duration, cancel: &Cancel) -> Result<Option<Served>> {
    let mut steps = terminal::Steps::new();
    steps.step(format_args!("counting interrupts for {window:?}"));
    let before = InterruptCounts::now()?;
    wait(Some(window), cancel, || false);
    Ok(Some(before.until(&InterruptCounts::now()?)).filter(|_| !cancel.is_cancelled()))
}

fn follow(pin: Pin, arguments: &Arguments, cancel: &Cancel) -> Result<ExitCode> {
    let following = pin.follow()?;
    terminal::talk(terminal::dim("new threads are placed as well; Ctrl-C puts everything back"));
    wait(arguments.lasts, cancel, || following.is_over());
    let by_itself = following.is_over();
    let followed = following.progress();
    let restored = following.unpin()?;
    if by_itself && !restored.process_ended {
        let why = if arguments.lease.is_some() { "the lease is over, or another" } else { "another" };
        terminal::talk(format_args!("{why} helenus asked for everything to be put back"));
    }
    say_followed(followed);
    unpin::say(&restored);
    if arguments.json {
        terminal::json_line(&json!({ "unpinned": restored }))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn wait(lasts: Option<Duration>, cancel: &Cancel, is_over: impl Fn() -> bool) {
    let started = Instant::now();
    while !cancel.is_cancelled() && !is_over() && lasts.is_none_or(|lasts| started.elapsed() < lasts) {
        let left = lasts.map_or(super::POLL_EVERY, |lasts| lasts.saturating_sub(started.elapsed()));
        std::thread::sleep(super::POLL_EVERY.min(left));
    }
}

fn say_followed(followed: FollowSummary) {
    let FollowSummary { lasted, placed, failed, cpu_share } = followed;
    let (lasted, share) = (lasted.as_secs_f64(), cpu_share * 100.0);
    terminal::talk(terminal::dim(format_args!(
        "{placed} new threads were placed in {lasted:.1} s, by {share:.2} % of a CPU"
    )));
    if failed > 0 {
        terminal::warn(format_args!("{failed} times a new thread could not be placed: its cpuset has changed, maybe"));
    }
}

fn show(plan: &Plan, json: bool) -> Result<()> {
    if json {
        terminal::json_line(&json!({ "plan": plan }))?;
        return Ok(());
    }
    let mut groups: BTreeMap<&str, Vec<&Planned>> = BTreeMap::new();
    for planned in &plan.threads {
        groups.entry(&planned.group).or_default().push(planned);
    }
    let rows = groups.into_iter().map(|(group, threads)| {
        let before = threads.iter().map(|planned| Some(&planned.thread.mask));
        let after = threads.iter().map(|planned| planned.cpus.as_ref());
        vec![group.to_string(), cpus(before), cpus(after), threads.len().to_string()]
    });
    terminal::print(terminal::table(&["thread group", "CPUs", "planned", "threads"], rows, 3));
    if plan.strategy == Strategy::EqualSpread {
        terminal::talk(terminal::dim(format_args!("the same again with --seed {}", plan.seed)));
    }
    if !plan.moves.is_empty() {
        let rows = plan.moves.iter().map(|to_move| {
            let irq = format!("{} {}", to_move.irq, to_move.device);
            vec![irq, to_move.from.to_string(), to_move.to.to_string(), format!("{:.0}", to_move.per_s)]
        });
        terminal::print(format_args!("\n{}", terminal::table(&["interrupt", "CPUs", "planned", "times/s"], rows, 3)));
    }
    Ok(())
}

/// The CPUs of some threads, in short form.
fn cpus<'p>(threads: impl Iterator<Item = Option<&'p CpuSet>> + Clone) -> String {
    let sets: Vec<Option<&CpuSet>> = threads.collect();
    let Some(first) = sets.first() else { return String::new() };
    match first {
        Some(cpus) if sets.iter().all(|set| set == first) => cpus.to_string(),
        None if sets.iter().all(Option::is_none) => "as they are".to_string(),
        _ => {
            let all: CpuSet = sets.iter().flatten().flat_map(|set| set.iter()).collect();
            let single = sets.iter().all(|set| set.is_some_and(|set| set.len() == 1));
            format!("{} {all}", if single { "one of" } else { "some of" })
        }
    }
}

fn list(journals: &Journals, json: bool) -> Result<ExitCode> {
    let pinned = journals.list()?;
    let state = |saved: &Saved| {
        let state = match (saved.is_alive(), saved.follower()) {
            (false, _) => "the process has ended".to_string(),
            (true, Some(pid)) => format!("followed by helenus (pid {pid})"),
            (true, None) => "kept".to_string(),
        };
        let left = saved.lease_left().filter(|_| saved.is_alive());
        left.map_or(state.clone(), |left| format!("{state}, for {} more", settings::length(left)))
    };
    if json {
        terminal::json(&pinned.iter().map(shown).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    if pinned.is_empty() {
        terminal::talk("nothing is pinned");
        return Ok(ExitCode::SUCCESS);
    }
    let rows = pinned.iter().map(|saved| {
        let since = chrono::DateTime::from_timestamp(saved.since_s.cast_signed(), 0)
            .map_or(String::new(), |since| since.with_timezone(&chrono::Local).format("%F %T").to_string());
        let numbers = [saved.threads().to_string(), saved.interrupts().to_string()];
        [
            vec![saved.pid.to_string(), saved.command.clone(), saved.strategy.clone(), since, state(saved)],
            numbers.into(),
        ]
        .concat()
    });
    let header = ["pid", "process", "strategy", "since", "state", "threads", "interrupts"];
    terminal::print(terminal::table(&header, rows, 5));
    Ok(ExitCode::SUCCESS)
}
