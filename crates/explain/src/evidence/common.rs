//! Values that the slow requests have in common: the statement, client, node or size that is among them more often than
//! among all.
//!
//! Slow requests come in bursts, so that requests at one time are not independent of each other. The test therefore
//! takes a fifth of a second as one observation: for each value, u is the number of its slow requests in the
//! observation beyond those that its share of all requests predicts, and z = Σu / √Σu². If only chance acts, each u
//! could as well have the other sign. So z is compared with the largest z that any value reaches when the signs are
//! drawn at random (a wild bootstrap over clusters: Cameron, Gelbach and Miller, Bootstrap-based improvements for
//! inference with clustered errors, 2008), which corrects for the number of values that are tried (Westfall and Young,
//! Resampling-based multiple testing, 1993).
//!
//! The random signs of six observations are all positive too often to tell. The exact binomial distribution tests a value
//! with so few slow requests: an observation counts if all of its slow requests have the value, and by chance it does so
//! with the value's share of all requests. The p-value is corrected for all values that occur (Bonferroni).

mod dimensions;

pub(crate) use dimensions::Dimension;

use super::cause::EXCESS_BOUND;
use crate::Error;
use crate::association::Judged;
use crate::engine::Engine;
use crate::percentiles::median;
use crate::query;
use crate::random::Random;
use crate::requests::{Request, Requests};
use crate::timeline::Interval;
use dimensions::{ByKey, Key, Lookup, like};
use serde::Serialize;
use std::collections::BTreeMap;

/// A value with a smaller p-value than this is significant.
const P_BOUND: f64 = 0.01;
/// A value with fewer slow requests than this is tested by the binomial distribution: the random signs of six are all
/// positive in one of 64 cases.
const FEW_SLOW: usize = 7;
/// A value with fewer slow requests than this is not tested: two or three of them may have come together.
const FEWEST_SLOW: usize = 4;
/// The most values that are tested; those with the most slow requests are taken.
const MOST_TESTED: usize = 100;
/// With fewer clusters than this a sign test cannot be significant.
const FEWEST_CLUSTERS: usize = 10;
const MOST_CLUSTERS: i64 = 500;
/// Length of an observation, in a recording that is neither very short nor very long.
const CLUSTER_NS: i64 = 200_000_000;
/// A value of a larger share of all requests says little about the slow ones, however sure it is.
const LARGEST_SHARE: f64 = 0.8;
/// A kind of work whose median is this many times that of all is slow by itself.
const SLOW_BY_ITSELF: f64 = 2.0;
/// The most values that are named. Each is found among the requests that have none of the values before it.
const MOST_NAMED: usize = 3;

/// A value that is more frequent among the slow requests than among all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Shared {
    pub(crate) dimension: Dimension,
    pub(crate) value: String,
    /// Share of the slow requests with this value.
    pub(crate) slow_share: f64,
    /// Share of all judged requests that have it, which is the share expected by chance.
    pub(crate) all_share: f64,
    /// Share of the slow requests' time above the median.
    pub(crate) time_share: f64,
    pub(crate) p_value: f64,
    /// Median response time of the slow requests with this value.
    pub(crate) median_ns: Option<i64>,
    /// Median response time of all requests with this value, slow or not.
    pub(crate) usual_ns: Option<i64>,
    /// Median response size, as a power of two, of slow requests with this value and of requests without it.
    pub(crate) response_bytes: Option<i64>,
    pub(crate) others_response_bytes: Option<i64>,
    /// The most frequent operation of its slow requests, with its share; None if the value is an operation.
    pub(crate) mostly: Option<(String, f64)>,
    /// For answers behind large ones: the operation with most of the large answers, and its share of them.
    pub(crate) large: Option<(String, f64)>,
    /// An SQL condition that finds the requests of this value in `all_requests`.
    pub(crate) condition: String,
    /// The token, if the value is a partition.
    pub(crate) token: Option<i64>,
    /// Whether the value is a kind of work that usually takes much longer than the others.
    #[serde(skip)]
    is_slow_by_itself: bool,
    #[serde(skip)]
    key: Key,
}

/// Values that the slow requests share, those that cover the most slow requests first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Common {
    pub(crate) shared: Vec<Shared>,
    /// Number of values that were tested.
    pub(crate) tested: usize,
    lookup: Lookup,
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    all: usize,
    slow: usize,
}

impl Common {
    pub(crate) fn find(judged: &Judged, statements: &BTreeMap<String, String>, draws: usize, seed: u64) -> Common {
        let requests = judged.all();
        let lookup = Lookup::of(requests, statements);
        let mut common = Common { lookup, ..Common::default() };
        while common.shared.len() < MOST_NAMED {
            let sample = Sample::draw(judged, &common);
            let Some((next, tested)) = sample.best(judged, &common, draws, seed) else { break };
            common.tested = common.tested.max(tested);
            common.shared.push(next);
        }
        common
    }

    /// Finds the tokens of the partitions that are shared.
    pub(crate) fn name_partitions(&mut self, engine: &Engine, judged: &Judged) -> Result<(), Error> {
        let of_partitions = self.shared.iter_mut().filter(|shared| shared.dimension == Dimension::Partition);
        for shared in of_partitions {
            let values = [
                ("condition", query::Value::Condition(shared.condition.as_str())),
                ("threshold_ns", query::Value::Integer(judged.threshold_ns)),
            ];
            let tokens = engine.sql(&query::TOKEN_OF_MOST.fill(&values))?;
            shared.token = tokens.integers_or_null("token")?.into_iter().flatten().next();
            if let Some(token) = shared.token {
                shared.condition = shared.condition.replace(&like(shared.key.1), &format!("token = {token}"));
            }
        }
        Ok(())
    }

    /// Names the operation with most of the large answers of the judged time. `recorded` are all requests.
    pub(crate) fn name_large_answers(&mut self, recorded: &Requests, judged: &Judged) {
        let Some(shared) = self.shared.iter_mut().find(|shared| shared.dimension == Dimension::BehindLarge) else {
            return;
        };
        let mut of_operation = vec![0_usize; recorded.operations.len()];
        let due = judged.stretches.iter().flat_map(|stretch| recorded.due_in(stretch.window));
        for request in due.filter(|request| request.has_large_answer()) {
            if let Some(count) = of_operation.get_mut(usize::from(request.operation)) {
                *count += 1;
            }
        }
        let all: usize = of_operation.iter().sum();
        let most = of_operation.iter().zip(&recorded.operations).max_by_key(|(count, _)| **count);
        shared.large =
            most.filter(|_| all > 0).map(|(count, operation)| (operation.clone(), *count as f64 / all as f64));
    }

    /// Share of the slow requests that have at least one of the shared values.
    pub(crate) fn slow_share(&self) -> f64 {
        self.shared.iter().map(|shared| shared.slow_share).sum()
    }

    /// The usual response time of a request's kind of work; None if that kind is not slow by itself.
    pub(crate) fn usual_ns(&self, request: &Request) -> Option<i64> {
        let of_kind = self.shared.iter().filter(|shared| shared.is_slow_by_itself);
        of_kind
            .filter(|shared| self.lookup.key(shared.key.0, request) == Some(shared.key.1))
            .filter_map(|shared| shared.usual_ns)
            .max()
    }

    /// Whether a request has any of the shared values.
    pub(crate) fn has(&self, request: &Request) -> bool {
        self.shared.iter().any(|shared| self.lookup.key(shared.key.0, request) == Some(shared.key.1))
    }
}

/// How often at least so many of `of` observations have a property of this share by chance (binomial distribution).
fn at_least(least: usize, of: usize, share: f64) -> f64 {
    let ln_factorial = |n: usize| (1..=n).map(|factor| (factor as f64).ln()).sum::<f64>();
    let exactly = |count: usize| {
        let ways = ln_factorial(of) - ln_factorial(count) - ln_factorial(of - count);
        (ways + count as f64 * share.ln() + (of - count) as f64 * (1.0 - share).ln()).exp()
    };
    (least..=of).map(exactly).sum::<f64>().min(1.0)
}

/// Counts of the judged requests that have none of the values found so far.
struct Sample {
    all: usize,
    slow: usize,
    tallies: ByKey<Tally>,
    first_ns: i64,
    cluster_ns: i64,
    clusters: usize,
}

impl Sample {
    fn draw(judged: &Judged, before: &Common) -> Sample {
        let hull = judged.hull().unwrap_or(Interval { start: 0, end: 1 });
        let longest = hull.length() / MOST_CLUSTERS;
        let shortest = (hull.length() / (3 * FEWEST_CLUSTERS as i64)).max(1);
        let cluster_ns = CLUSTER_NS.min(shortest).max(longest).max(1);
        let clusters = usize::try_from(hull.length() / cluster_ns + 1).unwrap_or(1);
        let mut sample =
            Sample { all: 0, slow: 0, tallies: ByKey::default(), first_ns: hull.start, cluster_ns, clusters };
        for (request, is_slow) in judged.timed().filter(|(request, _)| !before.has(request)) {
            sample.all += 1;
            sample.slow += usize::from(is_slow);
            for key in before.lookup.keys(request) {
                let tally = sample.tallies.entry(key);
                tally.all += 1;
                tally.slow += usize::from(is_slow);
            }
        }
        sample
    }

    fn shares(&self, tally: Tally) -> (f64, f64) {
        (tally.slow as f64 / self.slow as f64, tally.all as f64 / self.all as f64)
    }

    /// The value that covers the most slow requests beyond chance, and the number of values tested.
    fn best(&self, judged: &Judged, common: &Common, draws: usize, seed: u64) -> Option<(Shared, usize)> {
        let total = judged.slow_requests();
        if (self.slow as f64) < EXCESS_BOUND * total as f64 {
            return None;
        }
        let mut tested: Vec<(Key, Tally)> = self
            .tallies
            .iter()
            .map(|(key, tally)| (key, *tally))
            .filter(|(_, tally)| tally.slow >= FEWEST_SLOW && tally.all < self.all)
            .collect();
        tested.sort_by_key(|(key, tally)| (std::cmp::Reverse(tally.slow), *key));
        tested.truncate(MOST_TESTED);
        let excess = |tally: Tally| {
            let (slow, all) = self.shares(tally);
            // Share of all slow requests that the value covers beyond chance.
            (slow - all) * self.slow as f64 / total as f64
        };
        let tells = |tally: Tally| {
            let (_, all) = self.shares(tally);
            excess(tally) >= EXCESS_BOUND && all <= LARGEST_SHARE
        };
        if !tested.iter().any(|(_, tally)| tells(*tally)) {
            return None;
        }
        let p_values = self.p_values(judged, common, &tested, draws, seed);
        let count = tested.len();
        let (key, tally, p_value) = tested
            .into_iter()
            .zip(p_values)
            .map(|((key, tally), p_value)| (key, tally, p_value))
            .filter(|(_, tally, p_value)| *p_value < P_BOUND && tells(*tally))
            // Of values that select the same requests, take the first dimension.
            .max_by(|(a, one, _), (b, other, _)| excess(*one).total_cmp(&excess(*other)).then(b.cmp(a)))?;
        Some((self.describe(judged, common, (key, tally, p_value)), count))
    }

    /// The p-value of each value, against the maximum over all values under random shuffles.
    fn p_values(&self, judged: &Judged, common: &Common, tested: &[(Key, Tally)], draws: usize, seed: u64) -> Vec<f64> {
        let mut places: ByKey<usize> = ByKey::default();
        for (place, (key, _)) in tested.iter().enumerate() {
            *places.entry(*key) = place;
        }
        let mean = self.slow as f64 / self.all as f64;
        let shares: Vec<f64> = tested.iter().map(|(_, tally)| tally.all as f64 / self.all as f64).collect();
        let is_few: Vec<bool> = tested.iter().map(|(_, tally)| tally.slow < FEW_SLOW).collect();
        // Per cluster, the sum of (has the value − share of the value) · (is slow − mean).
        let mut sums = vec![vec![0.0; tested.len()]; self.clusters];
        let mut of_all = vec![0.0; self.clusters];
        // Slow requests of each cluster, and how many of them have the value.
        let mut slow = vec![(0, vec![0; tested.len()]); self.clusters];
        for (request, is_slow) in judged.timed().filter(|(request, _)| !common.has(request)) {
            let cluster = usize::try_from((request.intended_ns - self.first_ns) / self.cluster_ns).unwrap_or(0);
            let cluster = cluster.min(self.clusters - 1);
            let beyond = f64::from(u8::from(is_slow)) - mean;
            of_all[cluster] += beyond;
            slow[cluster].0 += usize::from(is_slow);
            for place in common.lookup.keys(request).filter_map(|key| places.get(key)) {
                sums[cluster][*place] += beyond;
                slow[cluster].1[*place] += usize::from(is_slow);
            }
        }
        slow.retain(|(all, _)| *all > 0);
        let exact = |place: usize| {
            let alone = slow.iter().filter(|(all, with)| with[place] == *all).count();
            (at_least(alone, slow.len(), shares[place]) * self.tallies.iter().count() as f64).min(1.0)
        };
        let mut p_values: Vec<f64> =
            (0..tested.len()).map(|place| if is_few[place] { exact(place) } else { 1.0 }).collect();
        for (sums, of_all) in sums.iter_mut().zip(&of_all) {
            for (sum, share) in sums.iter_mut().zip(&shares) {
                *sum -= share * of_all;
            }
        }
        // Clusters without any request are no observations.
        sums.retain(|sums| sums.iter().any(|sum| *sum != 0.0));
        if sums.len() < FEWEST_CLUSTERS || is_few.iter().all(|is_few| *is_few) {
            return p_values;
        }
        let scales: Vec<f64> = (0..tested.len())
            .map(|place| sums.iter().map(|sums| sums[place] * sums[place]).sum::<f64>().sqrt())
            .collect();
        let statistics = |sign: &mut dyn FnMut() -> f64| {
            let mut totals = vec![0.0; tested.len()];
            for sums in &sums {
                let sign = sign();
                for (total, sum) in totals.iter_mut().zip(sums) {
                    *total += sign * sum;
                }
            }
            for (total, scale) in totals.iter_mut().zip(&scales) {
                *total = if *scale > 0.0 { *total / scale } else { 0.0 };
            }
            totals
        };
        let observed = statistics(&mut || 1.0);
        let mut random = Random::new(seed);
        let mut reached = vec![0usize; tested.len()];
        for _ in 0..draws {
            let drawn = statistics(&mut || if random.below(2) == 0 { 1.0 } else { -1.0 });
            let of_many = drawn.into_iter().zip(&is_few).filter(|(_, is_few)| !**is_few).map(|(drawn, _)| drawn);
            let largest = of_many.fold(f64::MIN, f64::max);
            for (reached, observed) in reached.iter_mut().zip(&observed) {
                *reached += usize::from(largest >= *observed);
            }
        }
        let by_signs = reached.into_iter().map(|reached| (reached + 1) as f64 / (draws + 1) as f64);
        for ((p_value, by_signs), is_few) in p_values.iter_mut().zip(by_signs).zip(is_few) {
            *p_value = if is_few { *p_value } else { by_signs };
        }
        p_values
    }

    fn describe(&self, judged: &Judged, common: &Common, (key, tally, p_value): (Key, Tally, f64)) -> Shared {
        let (mut responses, mut sizes, mut others, mut of_all) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut of_operation = vec![0_usize; judged.all().operations.len()];
        let (mut excess_ns, mut all_excess_ns) = (0.0, 0.0);
        for (request, is_slow) in judged.timed().filter(|(request, _)| !common.has(request)) {
            let has = common.lookup.key(key.0, request) == Some(key.1);
            let size = || request.response_size.least_bytes();
            if has {
                of_all.push(request.response_ns());
            }
            if is_slow {
                let excess = (request.response_ns() - judged.median_ns).max(0) as f64;
                all_excess_ns += excess;
                if has {
                    excess_ns += excess;
                    responses.push(request.response_ns());
                    sizes.extend(size());
                    if let Some(count) = of_operation.get_mut(usize::from(request.operation)) {
                        *count += 1;
                    }
                }
            } else if !has {
                others.extend(size());
            }
        }
        let (value, condition) = common.lookup.words(key, judged.all());
        let usual_ns = median(&mut of_all);
        let is_slow = usual_ns.is_some_and(|usual| usual as f64 >= SLOW_BY_ITSELF * judged.median_ns as f64);
        let most = of_operation.iter().zip(&judged.all().operations).max_by_key(|(count, _)| **count);
        let mostly = most.filter(|_| key.0 != Dimension::Operation && tally.slow > 0);
        let total = judged.slow_requests() as f64;
        Shared {
            dimension: key.0,
            value,
            slow_share: tally.slow as f64 / total,
            all_share: tally.all as f64 / judged.requests() as f64,
            time_share: if all_excess_ns > 0.0 { excess_ns / all_excess_ns } else { 0.0 },
            p_value,
            median_ns: median(&mut responses),
            usual_ns,
            is_slow_by_itself: is_slow && key.0.is_of_work(),
            response_bytes: median(&mut sizes),
            others_response_bytes: median(&mut others),
            mostly: mostly.map(|(count, name)| (name.clone(), *count as f64 / tally.slow as f64)),
            large: None,
            condition,
            token: None,
            key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::at_least;

    #[test]
    fn few_observations_are_weighed_by_the_binomial_distribution() {
        let is = |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-9, "{value} and not {wanted}");
        is(at_least(6, 7, 0.5), 8.0 / 128.0);
        is(at_least(0, 7, 0.3), 1.0);
        is(at_least(1, 2, 0.1), 0.19);
        is(at_least(7, 7, 0.1), 1e-7);
    }
}
