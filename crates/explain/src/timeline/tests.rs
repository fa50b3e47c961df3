use super::*;
use proptest::prelude::*;

const WINDOW: Interval = Interval { start: 1000, end: 2000 };

fn intervals() -> impl Strategy<Value = Vec<Interval>> {
    prop::collection::vec((1000i64..2000, 0i64..120), 0..20).prop_map(|pairs| {
        pairs.into_iter().map(|(start, length)| Interval::of_length(start, length).clip(WINDOW)).collect()
    })
}

fn covers(set: &[Interval], time: i64) -> bool {
    set.iter().any(|interval| interval.contains(time))
}

proptest! {
    #[test]
    fn a_merged_set_covers_the_same_and_has_no_overlap(set in intervals()) {
        let merged = merge(set.clone());
        prop_assert!(merged.windows(2).all(|pair| pair[0].end < pair[1].start));
        for time in 990..2010 {
            prop_assert_eq!(covers(&merged, time), covers(&set, time));
        }
    }

    #[test]
    fn subtracting_leaves_what_the_other_does_not_cover(set in intervals(), taken in intervals()) {
        let (set, taken) = (merge(set), merge(taken));
        let left = subtract(&set, &taken);
        for time in 990..2010 {
            prop_assert_eq!(covers(&left, time), covers(&set, time) && !covers(&taken, time));
        }
    }

    #[test]
    fn coverage_is_counted_right(set in intervals(), start in 900i64..2100, length in 0i64..500) {
        let window = Interval::of_length(start, length);
        let set = merge(set);
        let counted = (window.start..window.end).filter(|time| covers(&set, *time)).count() as i64;
        prop_assert_eq!(covered_ns(&set, window), counted);
        prop_assert_eq!(total_ns(&within(&set, window)), counted);
    }

    #[test]
    fn turning_moves_every_instant_and_keeps_the_order(set in intervals(), by in -3000i64..3000) {
        let set = merge(set);
        let shifted = shift_circularly(&set, WINDOW, by);
        prop_assert!(shifted.windows(2).all(|pair| pair[0].end <= pair[1].start));
        prop_assert!(shifted.iter().all(|interval| interval.length() > 0));
        for time in WINDOW.start..WINDOW.end {
            let from = WINDOW.start + (time - WINDOW.start - by).rem_euclid(WINDOW.length());
            prop_assert_eq!(covers(&shifted, time), covers(&set, from));
        }
    }
}
