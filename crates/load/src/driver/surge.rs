//! A surge: groups of clients that join one after the other, each a closed loop.

use super::job::{Job, Next};

/// The groups of one driver thread. Threads share no group, so each group has exactly its own number of requests in
/// flight and its own count.
#[derive(Debug)]
pub(super) struct Surge {
    phase: usize,
    start_ns: i64,
    every_ns: i64,
    in_flight: u32,
    count: u64,
    first_number: u64,
    populates: bool,
    groups: Vec<Group>,
    /// The group that joins next or is joining, and how many of its initial requests were started.
    joining: usize,
    started: u32,
}

#[derive(Debug)]
struct Group {
    /// The group's number among the groups of all threads; it joins at `start_ns + number · every_ns`.
    number: u64,
    sent: u64,
}

impl Surge {
    /// `each`: requests in flight and count of each group.
    pub fn new(
        phase: usize,
        start_ns: i64,
        every_ns: i64,
        each: (u32, u64),
        groups: impl Iterator<Item = u64>,
    ) -> Surge {
        Surge {
            phase,
            start_ns,
            every_ns,
            in_flight: each.0,
            count: each.1,
            first_number: 0,
            populates: false,
            groups: groups.map(|number| Group { number, sent: 0 }).collect(),
            joining: 0,
            started: 0,
        }
    }

    pub fn numbered(self, first_number: u64, populates: bool) -> Surge {
        Surge { first_number: if populates { 0 } else { first_number }, populates, ..self }
    }

    /// The first request for a further slot. Over when all groups have joined with all their requests in flight.
    pub fn next(&mut self, now_ns: i64) -> Next {
        while let Some(group) = self.groups.get(self.joining) {
            let joins_ns = self.start_ns.saturating_add(self.every_ns.saturating_mul(group.number as i64));
            if joins_ns > now_ns {
                return Next::At(joins_ns);
            }
            if self.started < self.in_flight && group.sent < self.count {
                self.started += 1;
                return Next::Job(self.send(self.joining, now_ns));
            }
            self.joining += 1;
            self.started = 0;
        }
        Next::Over
    }

    /// The next request of the same group. Over when no group has any left. When only this group has none, its slot
    /// stays idle.
    pub fn after(&mut self, ended: &Job, now_ns: i64) -> Next {
        let number = (ended.number - self.first_number) / self.count;
        match self.groups.iter().position(|group| group.number == number && group.sent < self.count) {
            Some(position) => Next::Job(self.send(position, now_ns)),
            None if self.groups.iter().all(|group| group.sent == self.count) => Next::Over,
            None => Next::At(i64::MAX),
        }
    }

    fn send(&mut self, position: usize, now_ns: i64) -> Job {
        let group = &mut self.groups[position];
        // Each group has its own range, so that its rows do not depend on the speed of the others.
        let place = group.number * self.count + group.sent;
        group.sent += 1;
        Job::closed(self.phase, self.first_number, place, self.populates, now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(next: Next) -> Option<u64> {
        match next {
            Next::Job(job) => Some(job.number),
            _ => None,
        }
    }

    #[test]
    fn groups_join_in_turn_and_do_their_own_count() {
        // This thread has groups 0 and 2, with 100 ns between groups, 2 requests in flight and 3 requests each.
        let mut surge = Surge::new(0, 1000, 100, (2, 3), [0, 2].into_iter()).numbered(50, false);
        let Next::Job(first) = surge.next(1000) else { panic!("none") };
        assert_eq!((first.number, number(surge.next(1000))), (50, Some(51)));
        assert!(matches!(surge.next(1000), Next::At(1200)));
        assert_eq!(number(surge.after(&first, 1010)), Some(52));
        // The first group has finished; its slots stay idle until the other joins.
        assert!(matches!(surge.after(&first, 1020), Next::At(i64::MAX)));
        let Next::Job(second) = surge.next(1200) else { panic!("none") };
        assert_eq!((second.number, number(surge.next(1200))), (56, Some(57)));
        assert!(matches!(surge.next(1200), Next::Over));
        assert_eq!(number(surge.after(&second, 1300)), Some(58));
        assert!(matches!(surge.after(&second, 1300), Next::Over));
    }

    #[test]
    fn a_group_with_less_to_do_than_it_may_have_in_flight_sends_what_it_has() {
        let mut surge = Surge::new(0, 0, 10, (5, 2), [0].into_iter());
        let numbers: Vec<u64> = std::iter::from_fn(|| number(surge.next(0))).collect();
        assert_eq!(numbers, [0, 1]);
        assert!(matches!(surge.next(0), Next::Over));
    }
}
