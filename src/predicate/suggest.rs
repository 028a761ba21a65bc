//! "Did you mean": the nearest name to one that does not exist.

/// Returns the nearest of `known` to `name`, if one is near enough to be meant.
pub(super) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .filter(|candidate| *candidate != name)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the number of characters to add, drop, change or swap, without regard to case.
fn distance(from: &str, to: &str) -> usize {
    let letters = |text: &str| text.chars().map(|c| c.to_ascii_lowercase()).collect::<Vec<_>>();
    let (from, to) = (letters(from), letters(to));
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let at =
                |line: &[usize], column: usize| line.get(column).copied().unwrap_or(usize::MAX / 2);
            let change = at(&above, column) + usize::from(letter != other);
            let mut least = change.min(at(&above, column + 1) + 1).min(at(&current, column) + 1);
            let swapped = column > 0
                && row > 0
                && from.get(row - 1) == Some(other)
                && to.get(column - 1) == Some(letter);
            if swapped {
                least = least.min(at(&before, column - 1) + 1);
            }
            current.push(least);
        }
        before = std::mem::replace(&mut above, current);
    }
    above.last().copied().unwrap_or(0)
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
