//! Which operations are run, and how often.

use super::Workload;
use crate::Error;
use helenus_notation::did_you_mean;

/// Weights of operations.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    /// Index of each operation, with the cumulative weight up to and including its own, scaled to end at 1.
    cumulative: Vec<(usize, f64)>,
}

impl Mix {
    /// Returns None if no weight is above 0, or if one is not a number.
    pub(super) fn new(weights: &[(usize, f64)]) -> Option<Mix> {
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        if !(total.is_finite() && total > 0.0) || weights.iter().any(|(_, weight)| *weight < 0.0) {
            return None;
        }
        let mut sum = 0.0;
        let chosen = weights.iter().filter(|(_, weight)| *weight > 0.0);
        let cumulative = chosen
            .map(|(operation, weight)| {
                sum += weight;
                (*operation, sum / total)
            })
            .collect();
        Some(Mix { cumulative })
    }

    pub(crate) fn only(operation: usize) -> Mix {
        Mix { cumulative: vec![(operation, 1.0)] }
    }

    /// The operation for a number drawn uniformly from [0, 1).
    pub(crate) fn pick(&self, drawn: f64) -> usize {
        let found = self.cumulative.iter().find(|(_, upto)| drawn < *upto);
        // Rounding may leave the last sum a little under 1.
        found.or(self.cumulative.last()).map_or(0, |(operation, _)| *operation)
    }

    /// Indices of the mix's operations, with their shares.
    pub fn shares(&self) -> impl Iterator<Item = (usize, f64)> {
        let before = std::iter::once(0.0).chain(self.cumulative.iter().map(|(_, upto)| *upto));
        self.cumulative.iter().zip(before).map(|((operation, upto), before)| (*operation, upto - before))
    }
}

/// A mix of the workload file, a single operation, or weights such as `write=3,read=1`.
pub(super) fn choose(workload: &Workload, given: &str) -> Result<Mix, Error> {
    let position = |name: &str| workload.operations.iter().position(|operation| operation.name == name);
    let unknown = |name: &str, known: Vec<&str>| Error::NoMix {
        workload: workload.name.clone(),
        name: name.to_string(),
        suggestion: did_you_mean(name, known.iter().copied()),
        known: known.join(", "),
    };
    if given.contains('=') {
        let wrong = |message: &str| Error::Argument { argument: given.to_string(), message: message.to_string() };
        let mut weights = Vec::new();
        for part in given.split(',') {
            let (name, weight) = part.split_once('=').ok_or_else(|| wrong("write weights like write=3,read=1"))?;
            let names = || workload.operations.iter().map(|operation| operation.name.as_str()).collect();
            let operation = position(name.trim()).ok_or_else(|| unknown(name.trim(), names()))?;
            let weight = weight.trim().parse().map_err(|_| wrong("a weight is a number, as in write=3,read=1"))?;
            weights.push((operation, weight));
        }
        return Mix::new(&weights).ok_or_else(|| wrong("weights are 0 or more, and at least one of them is more"));
    }
    if let Some((_, mix)) = workload.mixes.iter().find(|(name, _)| name == given) {
        return Ok(mix.clone());
    }
    position(given).map(Mix::only).ok_or_else(|| unknown(given, workload.mix_names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_follow_the_weights() {
        let mix = Mix::new(&[(0, 3.0), (1, 0.0), (2, 1.0)]).unwrap();
        let picked: Vec<usize> = (0..8).map(|eighth| mix.pick(f64::from(eighth) / 8.0)).collect();
        assert_eq!(picked, [0, 0, 0, 0, 0, 0, 2, 2]);
        assert_eq!(mix.shares().collect::<Vec<_>>(), [(0, 0.75), (2, 0.25)]);
        assert_eq!(mix.pick(1.0), 2);
    }

    #[test]
    fn weights_without_any_are_none() {
        assert_eq!(Mix::new(&[(0, 0.0)]), None);
        assert_eq!(Mix::new(&[(0, 1.0), (1, -1.0)]), None);
        assert_eq!(Mix::new(&[(0, f64::NAN)]), None);
    }
}
