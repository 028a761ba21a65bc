//! The patterns of `matches`: compiled when a predicate is, and each text once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use regex::{Regex, RegexBuilder};

use super::error::{Flaw, PredicateError};
use super::guard::{MAX_PATTERN_BYTES, MAX_PATTERN_NESTING};

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    /// A limit that holds it, and half of which does not.
    bytes: usize,
}

/// The smallest size that is told apart.
const SMALLEST_BYTES: usize = 1024;
/// How often a byte of a text counts for every KiB of the pattern that it is searched for.
///
/// A pattern that is too much for the regex engine's automaton is simulated, and then each byte
/// costs up to 150 ns for every KiB of the pattern.
const WEIGHT_OF_A_KIB: usize = 2;

/// Every pattern in use, by its text.
static IN_USE: Mutex<Option<HashMap<Box<str>, Weak<Pattern>>>> = Mutex::new(None);

impl Pattern {
    /// Returns the compiled pattern of `text`, the same one as long as somebody holds it.
    pub(super) fn of(text: &str) -> Result<Arc<Self>, PredicateError> {
        if let Some(known) = Self::known(text) {
            return Ok(known);
        }
        // Compiled without holding the lock; whoever comes second uses what the first one left.
        let compiled = Arc::new(Self::compile(text)?);
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let in_use = in_use.get_or_insert_default();
        if let Some(known) = in_use.get(text).and_then(Weak::upgrade) {
            return Ok(known);
        }
        if in_use.len() == in_use.capacity() {
            in_use.retain(|_, pattern| pattern.strong_count() > 0);
        }
        in_use.insert(text.into(), Arc::downgrade(&compiled));
        Ok(compiled)
    }

    fn known(text: &str) -> Option<Arc<Self>> {
        let in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.as_ref()?.get(text)?.upgrade()
    }

    /// Compiles within the smallest limit that holds the pattern, as nothing else tells how large
    /// it is: the more states it has, the more work each byte of a text may be. Most are small; of
    /// the others those that are too large are found out first.
    fn compile(text: &str) -> Result<Self, PredicateError> {
        let too_small = match within(text, SMALLEST_BYTES)? {
            Some(regex) => return Ok(Self { regex, bytes: SMALLEST_BYTES }),
            None => SMALLEST_BYTES,
        };
        let regex = limited(text, MAX_PATTERN_BYTES).map_err(|error| refusal(&error))?;
        let (mut too_small, mut held) = (too_small, Self { regex, bytes: MAX_PATTERN_BYTES });
        while too_small * 2 < held.bytes {
            // Both are powers of two, and so is what lies in the middle.
            let steps = (held.bytes / too_small).ilog2();
            let bytes = too_small << (steps / 2);
            match within(text, bytes)? {
                Some(regex) => held = Self { regex, bytes },
                None => too_small = bytes,
            }
        }
        Ok(held)
    }

    /// Tells whether the pattern occurs in `text`.
    pub(super) fn occurs_in(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the limit of size that holds it: about what it takes.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns how many bytes a byte of a text counts as, when it is searched for this pattern.
    pub(super) const fn weight(&self) -> usize {
        self.bytes / 1024 * WEIGHT_OF_A_KIB
    }
}

/// Counts the classes of characters in a pattern that reach beyond ASCII: `\w` and its kin, what is
/// negated, and what ends beyond.
pub(super) fn wide_classes(text: &str) -> usize {
    let (mut count, mut last) = (0, ' ');
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let is_wide = match char {
            '\\' => {
                matches!(chars.next(), Some('p' | 'P' | 'w' | 'W' | 'D' | 'S' | 'x' | 'u' | 'U'))
            }
            '^' => matches!(last, '[' | ':'),
            char => last == '-' && !char.is_ascii(),
        };
        count += usize::from(is_wide);
        last = char;
    }
    count
}

/// Compiles, unless that takes more than `bytes`.
fn within(text: &str, bytes: usize) -> Result<Option<Regex>, PredicateError> {
    match limited(text, bytes) {
        Ok(regex) => Ok(Some(regex)),
        Err(regex::Error::CompiledTooBig(_)) => Ok(None),
        Err(error) => Err(refusal(&error)),
    }
}

fn limited(text: &str, size: usize) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(size).nest_limit(MAX_PATTERN_NESTING).build()
}

fn refusal(error: &regex::Error) -> PredicateError {
    match error {
        regex::Error::CompiledTooBig(_) => PredicateError::new(
            Flaw::PatternTooLarge,
            format!("the pattern needs more than {} KiB", MAX_PATTERN_BYTES / 1024),
        )
        .hint(Some("count fewer repetitions, or use `[a-zA-Z0-9_]` for `\\w`".to_owned())),
        error => {
            // The last line of the message says what is wrong; the others draw the pattern.
            let message = error.to_string();
            let cause = message.lines().last().unwrap_or_default();
            let cause = cause.trim_start_matches("error: ");
            let bare = cause.starts_with("repetition operator missing");
            let hint = "`*`, `+` and `?` repeat what stands before them; anything is `.*`";
            PredicateError::new(Flaw::BadPattern, format!("not a regular expression: {cause}"))
                .hint(bare.then(|| hint.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_patterns_are_compiled_once() {
        let one = Pattern::of("error: [A-Z]+[0-9]{3}").expect("a pattern");
        let two = Pattern::of("error: [A-Z]+[0-9]{3}").expect("a pattern");
        assert!(Arc::ptr_eq(&one, &two));
        assert!(one.occurs_in("error: E404"));
        assert_eq!(one.weight(), 2);
        assert_eq!(Pattern::of(r"\w\w").expect("a pattern").bytes(), 128 * 1024);
    }

    #[test]
    fn what_cannot_be_searched_for_cheaply_is_refused() {
        let flaw = |text: &str| Pattern::of(text).expect_err(text).flaw;
        assert_eq!(flaw(r"\w{500}"), Flaw::PatternTooLarge);
        assert_eq!(flaw(&"(".repeat(40)), Flaw::BadPattern);
        assert_eq!(flaw(&("(".repeat(40) + "a" + &")".repeat(40))), Flaw::BadPattern);
        assert_eq!(flaw("(?=a)"), Flaw::BadPattern);
        assert_eq!(flaw("["), Flaw::BadPattern);
    }

    #[test]
    fn patterns_nobody_holds_are_forgotten() {
        for number in 0..2_000 {
            Pattern::of(&format!("only once {number}")).expect("a pattern");
        }
        let in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(in_use.as_ref().map_or(0, HashMap::len) < 1_000);
    }
}
