//! "Did you mean": the nearest name to one that does not exist.

use strsim::osa_distance;

/// Returns the nearest of `known` to `name`, if one is near enough to be meant.
pub(in crate::predicate) fn nearest<'k>(
    name: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<&'k str> {
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    let lower = name.to_ascii_lowercase();
    // A swap of two letters is one slip; a letter of the other case is none.
    let distance = |candidate: &str| osa_distance(&lower, &candidate.to_ascii_lowercase());
    known
        .into_iter()
        .filter(|candidate| *candidate != name)
        .map(|candidate| (distance(candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let fields = ["tool", "args", "status", "content"];
        assert_eq!(nearest("tol", fields), Some("tool"));
        assert_eq!(nearest("sttaus", fields), Some("status"));
        assert_eq!(nearest("Content", fields), Some("content"));
        assert_eq!(nearest("arguments", fields), None);
        assert_eq!(nearest("x", fields), None);
        assert_eq!(nearest("starts_with", ["startsWith"]), Some("startsWith"));
    }
}
