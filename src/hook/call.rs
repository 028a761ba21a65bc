//! What hooks are asked about: a call that returned, and the run it belongs to.

use crate::canon::Object;
use crate::predicate::{System, Trust};
use crate::record::{ActorId, Clock, Namespace, RecordId, ThreadId};
use crate::time::Timestamp;

/// The most characters of an answer that a predicate sees.
pub const CONTENT_CHARS: usize = 4096;

/// One of the run's own tool calls, after it returned.
#[derive(Debug, Clone, Copy)]
pub struct ReturnedCall<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The arguments of the call, whole.
    pub args: &'a Object,
    /// How it ended: `ok`, `error`, or what the tool result says.
    pub status: &'a str,
    /// The answer as the actor is shown it. More than [`CONTENT_CHARS`] is not looked at.
    pub content: &'a str,
    /// What the permission rules know the tool by, such as `tool:bash`. Its own fact: nothing
    /// derives it from `tool` or the other way round (decision 16).
    pub resource: &'a str,
    /// The record of the call, if there is one.
    pub call: Option<RecordId>,
    /// The clock of the record of its result.
    pub clock: Clock,
}

/// The run that a call belongs to. What may have to be looked up is looked up when a predicate asks.
#[derive(Clone, Copy)]
pub struct RunFacts<'a> {
    /// The loop thread.
    pub thread: &'a ThreadId,
    /// Who runs.
    pub actor: &'a ActorId,
    /// Where it runs. Hooks of this namespace and of those above it speak.
    pub namespace: &'a Namespace,
    /// What the run's work is trusted under.
    pub domain: &'a str,
    /// The trust in the run's own actor in its own domain. It is asked about no other.
    pub trust: &'a dyn Trust,
    /// The time of day.
    pub now: Timestamp,
    /// The instance.
    pub system: &'a dyn System,
}

/// A hook learns the trust in the run's own actor and domain; of everybody else it learns nothing.
impl Trust for RunFacts<'_> {
    fn score(&self, actor: &str, domain: &str) -> f64 {
        if self.is_own(actor, domain) { self.trust.score(actor, domain) } else { 0.0 }
    }

    fn count(&self, actor: &str, domain: &str) -> i64 {
        if self.is_own(actor, domain) { self.trust.count(actor, domain) } else { 0 }
    }
}

impl RunFacts<'_> {
    fn is_own(&self, actor: &str, domain: &str) -> bool {
        actor == self.actor.as_str() && domain == self.domain
    }
}

/// Returns the part of an answer that a predicate sees: its first [`CONTENT_CHARS`] characters, cut
/// without a mark.
pub fn head(answer: &str) -> &str {
    first_chars(answer, CONTENT_CHARS)
}

/// Returns the first `count` characters of `text`.
fn first_chars(text: &str, count: usize) -> &str {
    if text.len() <= count {
        return text;
    }
    match text.get(..count) {
        // Characters of one byte each are what most answers are made of.
        Some(head) if head.is_ascii() => head,
        _ => text.get(..end_of_chars(text.as_bytes(), count)).unwrap_or(text),
    }
}

/// Returns where the first `count` characters end. Whole chunks are counted at once, which takes a
/// tenth of the time of going from character to character.
fn end_of_chars(text: &[u8], count: usize) -> usize {
    const CHUNK: usize = 64;
    let begins_char = |byte: &u8| byte & 0b1100_0000 != 0b1000_0000;
    let (mut end, mut left) = (0, count);
    for chunk in text.chunks(CHUNK) {
        // In a byte, which a chunk cannot fill: so many are counted by one instruction.
        let begun: u8 = chunk.iter().map(|byte| u8::from(begins_char(byte))).sum();
        let begun = usize::from(begun);
        if begun > left {
            let begins = chunk.iter().enumerate().filter(|(_, byte)| begins_char(byte));
            return end + begins.map(|(at, _)| at).nth(left).unwrap_or_default();
        }
        left -= begun;
        end += chunk.len();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_cut_by_characters() {
        let check =
            |text: &str, count: usize, want: &str| assert_eq!(first_chars(text, count), want);
        check("abc", 3, "abc");
        check("abcd", 3, "abc");
        check("äöü", 3, "äöü");
        check("äöüx", 3, "äöü");
        check("abü", 2, "ab");
        check("a😀b😀", 3, "a😀b");
        check("", 3, "");
        for unit in ["a", "ä", "€", "😀", "aä€😀"] {
            let text = unit.repeat(300);
            for count in [0, 1, 15, 16, 17, 63, 64, 65, 128, 299, 300, 1199, 1200, 1201] {
                check(&text, count, &text.chars().take(count).collect::<String>());
            }
        }
    }
}
