use super::*;
use crate::requests::{Request, Requests};
use crate::timeline::merge;
use proptest::prelude::*;
use std::rc::Rc;

const MS: i64 = 1_000_000;
const S: i64 = 1000 * MS;

/// A server with one queue: requests come every `every` ns, need `need` ns each, and nothing is served during the
/// stops.
fn served(length: i64, every: i64, need: i64, stops: &[Interval]) -> Rc<Requests> {
    let mut rows = Vec::new();
    let mut free = 0;
    let mut due = 0;
    while due < length {
        let mut start = free.max(due);
        for stop in stops {
            if start < stop.end && stop.start < start + need {
                start = stop.end;
            }
        }
        free = start + need;
        rows.push(Request { intended_ns: due, start_ns: due, end_ns: free, ..Request::default() });
        due += every;
    }
    Rc::new(Requests {
        rows,
        nodes: vec!["127.0.0.1".into()],
        operations: vec![String::new()],
        outcomes: vec!["ok".into()],
        ..Requests::default()
    })
}

fn judged(requests: &Rc<Requests>, windows: &[Interval]) -> Judged {
    let mut times: Vec<i64> = requests.rows.iter().map(Request::response_ns).collect();
    times.sort_unstable();
    let at = |quantile| crate::percentiles::quantile_of_sorted(&times, quantile).unwrap();
    Judged::new(requests, windows, at(0.99), at(0.5))
}

fn whole(length: i64) -> [Interval; 1] {
    [Interval { start: 0, end: length }]
}

#[test]
fn one_pause_of_a_second_in_a_minute_is_found() {
    let pause = Interval::of_length(23 * S, S);
    let requests = served(60 * S, MS, MS / 5, &[pause]);
    let found = Association::test(&judged(&requests, &whole(60 * S)), &[pause], Nature::Stop, 2000, 1).unwrap();
    assert!(found.share > 0.99, "{found:?}");
    assert!(found.chance_share < 0.06, "{found:?}");
    assert!(found.p_value < 0.005, "{found:?}");
    // The request spent the rest of its time in the queue that the pause left.
    assert!(found.time_share > 0.9, "{found:?}");
    assert!(found.lift.unwrap() > 50.0, "{found:?}");
}

#[test]
fn a_pause_whose_backlog_drains_for_long_is_found() {
    // 90 % busy: the backlog of 100 ms takes most of a second to drain.
    let pauses: Vec<Interval> = [3, 17, 31, 44].iter().map(|at| Interval::of_length(at * S, 100 * MS)).collect();
    let requests = served(60 * S, MS, 9 * MS / 10, &pauses);
    let found = Association::test(&judged(&requests, &whole(60 * S)), &pauses, Nature::Stop, 2000, 1).unwrap();
    assert!(found.share > 0.95, "{found:?}");
    assert!(found.p_value < 0.005, "{found:?}");
    // A pause that comes while the backlog of another drains did not cause the slow requests.
    let later: Vec<Interval> = pauses.iter().map(|pause| Interval::of_length(pause.end + 50 * MS, 100 * MS)).collect();
    let innocent = Association::test(&judged(&requests, &whole(60 * S)), &later, Nature::Stop, 2000, 1).unwrap();
    assert!(innocent.time_share < found.time_share, "{found:?} {innocent:?}");
}

#[test]
fn a_cause_that_is_always_there_explains_nothing() {
    let pause = Interval::of_length(5 * S, S);
    let requests = served(20 * S, MS, MS / 5, &[pause]);
    let always =
        Association::test(&judged(&requests, &whole(20 * S)), &whole(20 * S), Nature::Condition, 1000, 1).unwrap();
    assert_eq!((always.p_value, always.share, always.chance_share), (1.0, 1.0, 1.0));
    assert_eq!((always.excess_share(), always.credit()), (0.0, 0.0));
}

#[test]
fn what_grows_with_the_load_is_no_cause_of_what_else_grows_with_it() {
    // In the second phase there are more slow requests and more pauses, but never at the same time.
    let windows = [Interval { start: 0, end: 30 * S }, Interval { start: 30 * S, end: 60 * S }];
    let slow: Vec<Interval> = (0..30).map(|index| Interval::of_length(30 * S + index * S, 30 * MS)).collect();
    let pauses: Vec<Interval> = (0..30).map(|index| Interval::of_length(30 * S + index * S + S / 2, 30 * MS)).collect();
    let requests = served(60 * S, MS, MS / 5, &slow);
    let found = Association::test(&judged(&requests, &windows), &pauses, Nature::Stop, 1000, 1).unwrap();
    assert!(found.p_value > 0.5, "{found:?}");
    let blind = Association::test(&judged(&requests, &whole(60 * S)), &pauses, Nature::Stop, 1000, 1).unwrap();
    assert!(blind.share <= found.share);
}

#[test]
fn no_slow_request_or_no_cause_is_no_association() {
    let requests = served(S, MS, MS / 5, &[]);
    let windows = whole(S);
    assert!(Association::test(&judged(&requests, &windows), &[], Nature::Stop, 10, 1).is_none());
    let even = Judged::new(&requests, &windows, 10 * MS, MS);
    assert!(Association::test(&even, &windows, Nature::Stop, 10, 1).is_none());
    let none = Rc::new(Requests::default());
    assert!(Association::test(&Judged::new(&none, &windows, 0, 0), &windows, Nature::Stop, 10, 1).is_none());
}

/// Independent pauses at random places: the p-value must be below x in at most about x of the cases.
#[test]
fn without_an_association_p_is_spread_evenly() {
    let mut random = Random::new(7);
    let mut scatter = |count: usize, length: i64| {
        merge((0..count).map(|_| Interval::of_length(random.below(20 * S), length)).collect::<Vec<_>>())
    };
    let p_values: Vec<f64> = (0..300)
        .map(|index| {
            let requests = served(20 * S, 4 * MS, MS / 5, &scatter(25, 20 * MS));
            let unrelated = scatter(40, 30 * MS);
            let nature = if index % 2 == 0 { Nature::Stop } else { Nature::Condition };
            Association::test(&judged(&requests, &whole(20 * S)), &unrelated, nature, 199, index).unwrap().p_value
        })
        .collect();
    // Below one half, where decisions are made, p-values are uniform. Above it, p = 1 stands for all timelines that
    // overlap no slow request, which is conservative. 0.09 is three standard deviations.
    for bound in [0.05, 0.1, 0.25, 0.5] {
        let below = p_values.iter().filter(|p| **p <= bound).count() as f64 / p_values.len() as f64;
        assert!((below - bound).abs() < 0.09, "{below} instead of {bound}: {p_values:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn planted_pauses_are_found(
        places in prop::collection::vec(0i64..19_000, 3..12),
        length in 20i64..200,
        every in 1i64..5,
        seed in any::<u64>(),
    ) {
        let pauses = merge(places.iter().map(|at| Interval::of_length(at * MS, length * MS)).collect());
        let requests = served(20 * S, every * MS, MS / 4, &pauses);
        let found = Association::test(&judged(&requests, &whole(20 * S)), &pauses, Nature::Stop, 500, seed).unwrap();
        prop_assert!(found.p_value < 0.01, "{:?}", found);
        // At most the last two requests of a drain are too short to count as slow because of the stop.
        prop_assert!(found.share > 0.8, "{:?}", found);
        prop_assert!(found.excess_share() > 0.2, "{:?}", found);
    }

    #[test]
    fn shares_are_shares(
        places in prop::collection::vec((0i64..20_000, 1i64..3000), 1..30),
        stops in prop::collection::vec(0i64..19_000, 1..5),
        seed in any::<u64>(),
    ) {
        let stops = merge(stops.iter().map(|at| Interval::of_length(at * MS, 50 * MS)).collect());
        let cause = merge(places.iter().map(|(at, length)| Interval::of_length(at * MS, length * MS)).collect());
        let requests = served(20 * S, 10 * MS, MS, &stops);
        if let Some(found) =
            Association::test(&judged(&requests, &whole(20 * S)), &cause, Nature::Stop, 50, seed)
        {
            for share in [found.share, found.overlap_share, found.chance_share, found.time_share, found.chance_time_share, found.others_share] {
                prop_assert!((0.0..=1.0).contains(&share), "{:?}", found);
            }
            prop_assert!(found.p_value > 0.0 && found.p_value <= 1.0);
        }
    }
}

/// Many slow requests are thinned out for the shifts. The shares are of all of them.
#[test]
fn shares_are_exact_however_many_are_slow() {
    let pauses: Vec<Interval> = (0..40).map(|pause| Interval::of_length(pause * 3 * S + S, 300 * MS)).collect();
    let requests = served(120 * S, MS / 10, MS / 50, &pauses);
    let judged = judged(&requests, &whole(120 * S));
    assert!(judged.slow_requests() > 2 * MOST_SHIFTED, "{}", judged.slow_requests());
    let found = Association::test(&judged, &pauses, Nature::Stop, 500, 1).unwrap();
    let met = judged.met(&judged.stretches[0], &pauses, Nature::Stop);
    assert!((found.share - met.slow as f64 / judged.slow_requests() as f64).abs() < 1e-9, "{found:?}");
    assert!(found.p_value < 0.01, "{found:?}");
    // A request meets one of the pauses by chance about as often as they and their drains cover the time.
    assert!((0.05..0.35).contains(&found.chance_share), "{found:?}");
}
