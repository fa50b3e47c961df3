//! The Weibull distribution, scaled to a range.

/// The Weibull distribution as cassandra-stress scales it to a range: one draw in the square root of the range lies
/// beyond the end. (With one in the whole range, most of the range would hardly be drawn.)
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weibull {
    scale: f64,
    shape: f64,
}

impl Weibull {
    pub fn over(range: f64, shape: f64) -> Weibull {
        // Solved for the scale: exp(-(range / scale)^shape) = 1 / √range. A range of 1 or less can't be scaled.
        let scale = if range > 1.0 { range / range.sqrt().ln().powf(1.0 / shape) } else { range };
        Weibull { scale, shape }
    }

    /// The quantile function: the number below which the given share of the draws lies, for shares from 0 to below 1.
    pub fn quantile(&self, share: f64) -> f64 {
        self.scale * (-(1.0 - share).ln()).powf(1.0 / self.shape)
    }
}
