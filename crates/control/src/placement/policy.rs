//! Computes the CPUs that a strategy gives to a thread. It neither reads nor changes the machine.

use super::groups::Cpus;
use super::interrupts::Served;
use super::{CpuSet, Error, Group, Settings, Strategy, Thread, UsableCpus};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Assigns CPUs to existing and new threads.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    /// The only groups that are placed; None for all.
    only: Vec<Group>,
    rule: Rule,
}

#[derive(Debug, Clone)]
enum Rule {
    Stay,
    LastCpu { allowed: CpuSet },
    InTurn { cpus: Vec<u32>, seed: u64, next: HashMap<String, usize> },
    OfGroup(Vec<(Group, CpuSet)>),
    Same(CpuSet),
    Domains { domains: Vec<Domain>, of_group: HashMap<String, usize> },
}

/// CPUs that share a cache, and the CPU time that the threads given to them have used.
#[derive(Debug, Clone)]
struct Domain {
    cpus: CpuSet,
    used_ticks: u64,
}

impl Settings {
    /// Checks that the process has enough CPUs for the strategy. CPUs to avoid because of interrupts are not known yet
    /// and not checked.
    ///
    /// # Errors
    /// The same as those of [`super::Plan::new`].
    pub fn check_room(&self, pid: i32, room: &UsableCpus) -> Result<(), Error> {
        match self.strategy {
            Strategy::InterruptAware => self.check(),
            _ => Policy::new(pid, self, room, None).map(drop),
        }
    }
}

impl Policy {
    /// `served` is the measurement that [`Strategy::needs_interrupts`] requires.
    pub(super) fn new(
        pid: i32,
        settings: &Settings,
        room: &UsableCpus,
        served: Option<&Served>,
    ) -> Result<Policy, Error> {
        settings.check()?;
        let allowed = room.allowed.clone();
        let rule = match settings.strategy {
            Strategy::None => Rule::Stay,
            Strategy::FirstAssignment => Rule::LastCpu { allowed },
            Strategy::EqualSpread => {
                Rule::InTurn { cpus: allowed.iter().collect(), seed: settings.seed, next: HashMap::new() }
            }
            Strategy::Groups => Rule::OfGroup(cpus_of_groups(pid, &settings.groups, room)?),
            Strategy::InterruptAware => Rule::Same(quiet(settings, room, served)?),
            Strategy::CacheAware => {
                let domains = room.topology.domains(&allowed).into_iter();
                let domains: Vec<Domain> = domains.map(|cpus| Domain { cpus, used_ticks: 0 }).collect();
                if domains.len() < 2 {
                    return Err(Error::OneCache { allowed });
                }
                Rule::Domains { domains, of_group: HashMap::new() }
            }
        };
        let only = if settings.strategy == Strategy::Groups { Vec::new() } else { settings.groups.clone() };
        Ok(Policy { only, rule })
    }

    /// The CPUs of existing threads; None for a thread that is left unchanged.
    pub(super) fn place_all(&mut self, threads: &[Thread]) -> Vec<Option<CpuSet>> {
        self.balance(threads);
        threads.iter().map(|thread| self.place(thread)).collect()
    }

    /// The CPUs of a new thread; None if it is left unchanged.
    pub(super) fn place(&mut self, thread: &Thread) -> Option<CpuSet> {
        if !self.only.is_empty() && !self.only.iter().any(|group| group.has(thread)) {
            return None;
        }
        match &mut self.rule {
            Rule::Stay => None,
            Rule::LastCpu { allowed } => {
                let cpu = if allowed.contains(thread.last_cpu) { Some(thread.last_cpu) } else { allowed.iter().next() };
                Some(cpu.into_iter().collect())
            }
            Rule::InTurn { cpus, seed, next } => {
                let start = || start(*seed, thread.group(), cpus.len());
                let turn = next.entry(thread.group().to_string()).or_insert_with(start);
                let cpu = cpus.get(*turn % cpus.len().max(1)).copied();
                *turn += 1;
                Some(cpu.into_iter().collect())
            }
            Rule::OfGroup(groups) => groups.iter().find(|(group, _)| group.has(thread)).map(|(_, cpus)| cpus.clone()),
            Rule::Same(cpus) => Some(cpus.clone()),
            Rule::Domains { domains, of_group } => {
                let known = of_group.get(thread.group()).copied();
                let domain = known.unwrap_or_else(|| least_used(domains));
                of_group.insert(thread.group().to_string(), domain);
                domains.get(domain).map(|domain| domain.cpus.clone())
            }
        }
    }

    /// The CPUs of a thread that was renamed and has the CPUs `before`.
    pub(super) fn place_renamed(&mut self, thread: &Thread, before: Option<&CpuSet>) -> Option<CpuSet> {
        let is_of_name = matches!(self.rule, Rule::OfGroup(_) | Rule::Domains { .. });
        match (self.place_depends_on_name(), before) {
            (false, before) => before.cloned(),
            // Keep the CPU within a group: moving costs, and gains nothing.
            (true, Some(before)) if !is_of_name && self.only.iter().any(|group| group.has(thread)) => {
                Some(before.clone())
            }
            (true, _) => self.place(thread),
        }
    }

    /// Whether a renamed thread must be placed again.
    pub(super) fn place_depends_on_name(&self) -> bool {
        !self.only.is_empty() || matches!(self.rule, Rule::OfGroup(_) | Rule::Domains { .. })
    }

    /// Assigns groups to the domains. The groups that used the most CPU time come first, each in the domain that is
    /// used least.
    fn balance(&mut self, threads: &[Thread]) {
        let only = &self.only;
        let Rule::Domains { domains, of_group } = &mut self.rule else { return };
        let mut used: HashMap<&str, u64> = HashMap::new();
        for thread in threads.iter().filter(|thread| only.is_empty() || only.iter().any(|group| group.has(thread))) {
            *used.entry(thread.group()).or_default() += thread.cpu_ticks;
        }
        let mut used: Vec<(&str, u64)> = used.into_iter().collect();
        used.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(right.0)));
        for (group, ticks) in used {
            let domain = least_used(domains);
            of_group.insert(group.to_string(), domain);
            // Count at least one tick for a group; otherwise all unused groups would be in one domain.
            domains[domain].used_ticks += ticks.max(1);
        }
    }
}

/// The domain with the least used CPU time per CPU.
fn least_used(domains: &[Domain]) -> usize {
    let used = |domain: &Domain| domain.used_ticks as f64 / domain.cpus.len() as f64;
    let positions = 0..domains.len();
    positions.min_by(|left, right| used(&domains[*left]).total_cmp(&used(&domains[*right]))).unwrap_or(0)
}

/// The first CPU of a group, which differs between groups, so that groups of one thread are not all on CPU 0.
fn start(seed: u64, group: &str, cpus: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    (seed, group).hash(&mut hasher);
    (hasher.finish() % cpus.max(1) as u64) as usize
}

fn cpus_of_groups(pid: i32, groups: &[Group], room: &UsableCpus) -> Result<Vec<(Group, CpuSet)>, Error> {
    let given = groups.iter().filter_map(|group| match &group.cpus {
        Some(Cpus::These(cpus)) => Some(cpus),
        _ => None,
    });
    let given: CpuSet = given.flat_map(CpuSet::iter).collect();
    room.check(pid, &given)?;
    let rest = room.allowed.without(&given);
    let cpus = |group: &Group| match &group.cpus {
        Some(Cpus::These(cpus)) => Ok((group.clone(), cpus.clone())),
        _ if rest.is_empty() => Err(Error::NoRest { allowed: room.allowed.clone() }),
        _ => Ok((group.clone(), rest.clone())),
    };
    groups.iter().map(cpus).collect()
}

/// The CPUs that remain without those that serve the busiest interrupts.
fn quiet(settings: &Settings, room: &UsableCpus, served: Option<&Served>) -> Result<CpuSet, Error> {
    let busy = match (&settings.move_interrupts, served) {
        (_, Some(served)) if served.per_s() < settings.idle_below_per_s => {
            return Err(Error::NothingBusy { per_s: served.per_s(), seconds: served.seconds });
        }
        (Some(cpus), _) => cpus.clone(),
        (None, Some(served)) => served.busy_cpus(settings.busy_share),
        (None, None) => CpuSet::default(),
    };
    let quiet = room.allowed.without(&busy);
    if quiet.is_empty() { Err(Error::AllBusy { busy, allowed: room.allowed.clone() }) } else { Ok(quiet) }
}

#[cfg(test)]
mod tests {
    use super::super::interrupts::{Interrupt, Rate};
    use super::super::{Limits, Strategy, Topology};
    use super::*;
    use proptest::prelude::*;

    fn set(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    fn room(cpus: &str, caches: &[&str]) -> UsableCpus {
        let caches = caches.iter().map(|cache| set(cache)).collect();
        UsableCpus::new(Topology { online: set(cpus), caches, nodes: Vec::new() }, Limits::default(), set("0-63"))
    }

    fn thread(tid: i32, name: &str, last_cpu: u32, cpu_ticks: u64) -> Thread {
        Thread { tid, start_ticks: 1, name: name.into(), last_cpu, cpu_ticks, mask: set("0-63") }
    }

    fn settings(strategy: Strategy, groups: &[&str]) -> Settings {
        Settings { groups: groups.iter().map(|group| group.parse().unwrap()).collect(), ..Settings::new(strategy) }
    }

    fn placed(settings: &Settings, room: &UsableCpus, served: Option<&Served>, threads: &[Thread]) -> Vec<String> {
        let places = Policy::new(1, settings, room, served).unwrap().place_all(threads);
        places.into_iter().map(|cpus| cpus.map_or("-".to_string(), |cpus| cpus.to_string())).collect()
    }

    fn busy_on(cpus: &[(u32, f64)]) -> Served {
        let served = cpus.iter().map(|(cpu, per_s)| Rate { cpu: *cpu, per_s: *per_s }).collect();
        Served { seconds: 1.0, interrupts: vec![Interrupt { irq: 9, device: "disk".into(), served }] }
    }

    #[test]
    fn groups_have_their_cpus_and_others_are_left() {
        let threads = [thread(1, "Reads-1", 0, 0), thread(2, "Writes-7", 0, 0), thread(3, "GC Thread#0", 0, 0)];
        let given = settings(Strategy::Groups, &["Reads=0-1", "Writes=rest"]);
        assert_eq!(placed(&given, &room("0-3", &[]), None, &threads), ["0-1", "2-3", "-"]);
        let all = settings(Strategy::Groups, &["Reads=0", "*=rest"]);
        assert_eq!(placed(&all, &room("0-3", &[]), None, &threads), ["0", "1-3", "1-3"]);
        let beyond = Policy::new(1, &settings(Strategy::Groups, &["Reads=3-4"]), &room("0-3", &[]), None);
        assert!(matches!(beyond, Err(Error::Offline { .. })));
        let none = Policy::new(1, &settings(Strategy::Groups, &["Reads=0-3", "*=rest"]), &room("0-3", &[]), None);
        assert!(matches!(none, Err(Error::NoRest { .. })));
    }

    #[test]
    fn threads_stay_on_the_cpu_that_they_have() {
        let threads = [thread(1, "a", 2, 0), thread(2, "b", 0, 0), thread(3, "c", 7, 0)];
        let stay = settings(Strategy::FirstAssignment, &[]);
        assert_eq!(placed(&stay, &room("1-3", &[]), None, &threads), ["2", "1", "1"]);
        let some = settings(Strategy::FirstAssignment, &["b"]);
        assert_eq!(placed(&some, &room("0-3", &[]), None, &threads), ["-", "0", "-"]);
        assert_eq!(placed(&settings(Strategy::None, &[]), &room("0-3", &[]), None, &threads), ["-", "-", "-"]);
    }

    #[test]
    fn threads_keep_off_cpus_that_serve_interrupts() {
        let aware = settings(Strategy::InterruptAware, &[]);
        let threads = [thread(1, "a", 1, 0)];
        let busy = busy_on(&[(0, 30.0), (1, 900.0)]);
        assert_eq!(placed(&aware, &room("0-3", &[]), Some(&busy), &threads), ["0,2-3"]);
        let all = Policy::new(1, &aware, &room("0-1", &[]), Some(&busy_on(&[(0, 100.0), (1, 100.0)])));
        assert!(matches!(all, Err(Error::AllBusy { .. })));
        let idle = Policy::new(1, &aware, &room("0-1", &[]), Some(&busy_on(&[(0, 1.0)])));
        assert!(matches!(idle, Err(Error::NothingBusy { .. })));
        let moved = Settings { move_interrupts: Some(set("3")), ..aware };
        assert_eq!(placed(&moved, &room("0-3", &[]), Some(&busy), &threads), ["0-2"]);
    }

    #[test]
    fn groups_share_caches_by_the_time_that_they_use() {
        let threads = [
            thread(1, "Loop-1", 0, 50),
            thread(2, "Loop-2", 0, 50),
            thread(3, "Reads-1", 0, 60),
            thread(4, "Compaction-1", 0, 30),
        ];
        let two = room("0-3", &["0-1", "2-3"]);
        let mut policy = Policy::new(1, &settings(Strategy::CacheAware, &[]), &two, None).unwrap();
        let places: Vec<String> =
            policy.place_all(&threads).into_iter().flatten().map(|cpus| cpus.to_string()).collect();
        assert_eq!(places, ["0-1", "0-1", "2-3", "2-3"]);
        assert_eq!(policy.place(&thread(5, "Loop-3", 0, 0)), Some(set("0-1")));
        assert_eq!(policy.place(&thread(6, "New-1", 0, 0)), Some(set("2-3")));
        let one = Policy::new(1, &settings(Strategy::CacheAware, &[]), &room("0-1", &["0-1"]), None);
        assert!(matches!(one, Err(Error::OneCache { .. })));
    }

    #[test]
    fn a_thread_with_another_name_goes_where_that_belongs() {
        let mut groups = Policy::new(1, &settings(Strategy::Groups, &["a=0", "b=1"]), &room("0-3", &[]), None).unwrap();
        assert_eq!(groups.place_renamed(&thread(1, "b-1", 0, 0), Some(&set("0"))), Some(set("1")));
        assert_eq!(groups.place_renamed(&thread(1, "c-1", 0, 0), Some(&set("0"))), None);
        let spread = settings(Strategy::EqualSpread, &["a", "b"]);
        let mut spread = Policy::new(1, &spread, &room("0-3", &[]), None).unwrap();
        assert_eq!(spread.place_renamed(&thread(1, "b-1", 0, 0), Some(&set("2"))), Some(set("2")));
        assert_eq!(spread.place_renamed(&thread(1, "c-1", 0, 0), Some(&set("2"))), None);
        let mut all = Policy::new(1, &settings(Strategy::EqualSpread, &[]), &room("0-3", &[]), None).unwrap();
        assert!(!all.place_depends_on_name());
        assert_eq!(all.place_renamed(&thread(1, "c-1", 0, 0), Some(&set("2"))), Some(set("2")));
    }

    proptest! {
        #[test]
        fn an_equal_spread_is_equal_within_each_group(
            groups in proptest::collection::vec(0_usize..4, 1..200),
            cpus in 1_u32..33,
            seed: u64,
        ) {
            let names = ["Reads", "Writes", "Loop", "GC"];
            let threads: Vec<Thread> = groups
                .iter()
                .zip(1..)
                .map(|(group, tid)| thread(tid, &format!("{}-{tid}", names[*group]), 0, 0))
                .collect();
            let room = room(&format!("0-{}", cpus - 1), &[]);
            let spread = Settings { seed, ..Settings::new(Strategy::EqualSpread) };
            let places = Policy::new(1, &spread, &room, None).unwrap().place_all(&threads);
            for name in names {
                let mut on = vec![0; cpus as usize];
                for (thread, place) in threads.iter().zip(&places).filter(|(thread, _)| thread.group() == name) {
                    let place = place.as_ref().unwrap();
                    prop_assert!(place.len() == 1 && place.is_subset(&room.allowed), "{thread:?} {place}");
                    on[place.iter().next().unwrap() as usize] += 1;
                }
                let (least, most) = (on.iter().min().unwrap(), on.iter().max().unwrap());
                prop_assert!(most - least <= 1, "{name}: {on:?}");
            }
        }

        #[test]
        fn no_strategy_gives_a_cpu_that_is_not_allowed(
            strategy in proptest::sample::select(Strategy::ALL.to_vec()),
            allowed in proptest::collection::btree_set(0_u32..16, 1..16),
            last in proptest::collection::vec(0_u32..16, 1..50),
            busy in proptest::collection::vec((0_u32..16, 30.0..1e4_f64), 1..8),
        ) {
            let allowed: CpuSet = allowed.into_iter().collect();
            let topology = Topology { online: allowed.clone(), caches: vec![set("0-7"), set("8-15")], nodes: Vec::new() };
            let room = UsableCpus::new(topology, Limits::default(), set("0-15"));
            let groups = if strategy == Strategy::Groups { &["*=rest"][..] } else { &[] };
            let threads: Vec<Thread> =
                last.iter().zip(1..).map(|(cpu, tid)| thread(tid, &format!("t{}-{tid}", tid % 5), *cpu, 7)).collect();
            let Ok(mut policy) = Policy::new(1, &settings(strategy, groups), &room, Some(&busy_on(&busy))) else {
                // If no CPU remains, it is an error.
                return Ok(());
            };
            let places = policy.place_all(&threads);
            prop_assert_eq!(places.len(), threads.len());
            for place in places {
                match place {
                    Some(cpus) => prop_assert!(!cpus.is_empty() && cpus.is_subset(&allowed)),
                    None => prop_assert_eq!(strategy, Strategy::None),
                }
            }
        }
    }
}
