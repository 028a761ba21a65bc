//! The lower bound of what a proportion may be, given how little was seen.

/// The normal quantile of a two-sided confidence of 95 %.
const Z: f64 = 1.96;

/// Returns the lower bound of the Wilson score interval for `accepted` of `count`, at 95 %.
///
/// Both may be fractions, since verdicts age. Nothing seen is 0.
pub fn wilson_lower_bound(accepted: f64, count: f64) -> f64 {
    if count <= 0.0 {
        return 0.0;
    }
    let share = accepted / count;
    let z2 = Z * Z;
    let centre = share + z2 / (2.0 * count);
    let spread = share * (1.0 - share) / count + z2 / (4.0 * count * count);
    let bound = (centre - Z * spread.max(0.0).sqrt()) / (1.0 + z2 / count);
    // Weights so small that their squares vanish leave nothing that could be a number.
    if bound.is_finite() { bound.clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_seen_is_no_trust() {
        assert_eq!(wilson_lower_bound(0.0, 0.0).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn only_refusals_are_no_trust() {
        for count in [1.0, 2.0, 7.0, 1e6] {
            assert!(wilson_lower_bound(0.0, count) < 1e-12, "{count}");
        }
    }

    #[test]
    fn weights_that_have_all_but_vanished_are_no_trust() {
        for count in [1e-300, f64::MIN_POSITIVE, 5e-324] {
            assert!(wilson_lower_bound(count, count) < 1e-12, "{count}");
        }
    }
}
