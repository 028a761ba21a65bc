//! What a run's calls add up to, as far as the built-in hooks look.

use std::collections::BTreeMap;

use crate::canon::{Canonical, Digest, Object, Value, hash_of};

/// The arguments that say what a look-up is about, most telling first.
const TARGET_ARGUMENTS: [&str; 7] =
    ["thread", "path", "id", "query", "pattern", "file_path", "url"];

/// What the calls of one run add up to: how each was answered, and which look-ups keep coming back
/// empty. The default is a run without calls.
///
/// A pure fold over the run's returned calls, this one included: note a call, then ask the hooks
/// about it. A resumed run notes the calls it finds in its records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The latest answer to each call, by tool and arguments.
    answers: BTreeMap<Digest, Digest>,
    /// How often in a row each target came back empty.
    empties: BTreeMap<Digest, u32>,
    latest: Latest,
}

/// What the call noted last has to do with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Latest {
    repeated: bool,
    empties: u32,
}

/// A returned call, as a history notes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The hash of the canonical arguments.
    pub args_hash: Digest,
    /// The hash of the status and of the whole answer, not of its head alone: two long answers may
    /// begin alike.
    pub answer_hash: Digest,
    /// Whether it found nothing.
    pub empty: bool,
    /// What it looked up, such as `path=src/lib.rs`; `None` for what is no look-up.
    pub target: Option<String>,
}

impl<'a> Trace<'a> {
    /// Returns the trace of a call whose tool is not known any better: it looked up its first
    /// argument of `thread`, `path`, `id`, `query`, `pattern`, `file_path` and `url` that is not
    /// blank, and it found nothing if its answer is blank, `[]`, `{}` or `null`.
    pub fn of(tool: &'a str, args: &Object, status: &str, answer: &str) -> Self {
        Self {
            tool,
            args_hash: Canonical::of_object(args).sha256(),
            // A status has no NUL in it, so the two cannot be taken for one another.
            answer_hash: hash_of(&[status.as_bytes(), &[0], answer.as_bytes()]),
            empty: matches!(answer.trim(), "" | "[]" | "{}" | "null"),
            target: TARGET_ARGUMENTS.iter().find_map(|name| target(name, args.get(*name)?)),
        }
    }
}

fn target(name: &str, value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(format!("{name}={text}")),
        other => Some(format!("{name}={other}")),
    }
}

impl History {
    /// Returns a history of which only this is known: whether the call noted last repeats an earlier
    /// one, and how often in a row its target came back empty. For whoever keeps it elsewhere.
    pub fn latest(repeated: bool, empties: u32) -> Self {
        Self { latest: Latest { repeated, empties }, ..Self::default() }
    }

    /// Adds a call that returned.
    pub fn note(&mut self, trace: &Trace<'_>) {
        let call = hash_of(&[&trace.args_hash, trace.tool.as_bytes()]);
        let before = self.answers.insert(call, trace.answer_hash);
        self.latest = Latest {
            repeated: before == Some(trace.answer_hash),
            empties: self.count_empty(trace),
        };
    }

    /// Counts an empty answer; any other starts the count of its target again.
    fn count_empty(&mut self, trace: &Trace<'_>) -> u32 {
        let Some(target) = &trace.target else { return 0 };
        let target = hash_of(&[target.as_bytes()]);
        if !trace.empty {
            self.empties.remove(&target);
            return 0;
        }
        let count = self.empties.entry(target).or_default();
        *count = count.saturating_add(1);
        *count
    }

    /// Returns whether the call noted last was made before, with the same arguments, and was then
    /// answered the same.
    pub(super) const fn repeats(&self) -> bool {
        self.latest.repeated
    }

    /// Returns how often in a row the target of the call noted last came back empty, that call
    /// included; 0 if it found something or is no look-up.
    pub(super) const fn empties_in_a_row(&self) -> u32 {
        self.latest.empties
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    /// Notes calls of `read` and returns, for each, whether it repeats and how often in a row its
    /// target came back empty.
    fn noted(calls: &[(&str, &str)]) -> Vec<(bool, u32)> {
        let mut history = History::default();
        let mut note = |(path, answer): &(&str, &str)| {
            history.note(&Trace::of("read", &object! { "path": *path }, "ok", answer));
            (history.repeats(), history.empties_in_a_row())
        };
        calls.iter().map(&mut note).collect()
    }

    #[test]
    fn a_repeat_is_an_earlier_call_with_its_latest_answer() {
        let repeats: Vec<bool> =
            noted(&[("a", "1"), ("a", "1"), ("b", "1"), ("a", "2"), ("a", "1"), ("a", "1")])
                .into_iter()
                .map(|(repeats, _)| repeats)
                .collect();
        assert_eq!(repeats, [false, true, false, false, false, true]);
    }

    #[test]
    fn a_find_ends_the_row() {
        let empties: Vec<u32> =
            noted(&[("a", ""), ("b", "[]"), ("a", " null\n"), ("a", "x"), ("a", "{}"), ("b", "")])
                .into_iter()
                .map(|(_, empties)| empties)
                .collect();
        assert_eq!(empties, [1, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn a_target_is_the_most_telling_argument_that_says_something() {
        let of = |args: &Object| Trace::of("t", args, "ok", "").target;
        assert_eq!(of(&object! { "url": "u", "path": "p" }).as_deref(), Some("path=p"));
        assert_eq!(of(&object! { "path": " ", "pattern": "x" }).as_deref(), Some("pattern=x"));
        assert_eq!(of(&object! { "id": 7 }).as_deref(), Some("id=7"));
        assert_eq!(of(&object! { "command": "ls", "path": Value::Null }), None);
    }

    #[test]
    fn a_status_is_part_of_the_answer() {
        let trace = |status: &str| Trace::of("t", &Object::new(), status, "x").answer_hash;
        assert_ne!(trace("ok"), trace("error"));
    }
}
