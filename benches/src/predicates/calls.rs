//! The calls that hooks are asked about.

use spl::canon::Object;
use spl::object;
use spl::predicate::{BodyFacts, Facts, RecordFacts, SystemFacts, Trust};

use super::dice::Dice;
use super::hooks::{needles, tool, tools, word_of};

/// How many calls every engine is asked about.
pub const CALLS: usize = 64;

/// How long the content of a call is, in characters: as much as a predicate sees.
pub const CHARACTERS: usize = 4_096;

/// A hook holds for one call in so many.
const RARE: usize = 1_000;

pub const ACTOR: &str = "did:sync:agent:clerk";

static NOTHING: SystemFacts<'static> =
    SystemFacts { uptime_secs: 0, records_total: 0, threads_total: 0, daemon_version: "" };

/// A call that has returned.
#[derive(Debug, Clone)]
pub struct Call {
    pub tool: String,
    pub resource: String,
    pub path: String,
    pub args: Object,
    pub status: &'static str,
    pub content: String,
    pub trust: f64,
}

impl Call {
    /// Returns a call; for one that is `bad` hooks for its tool hold.
    fn new(number: usize, tool: String, bad: bool, tail: &str) -> Self {
        let mut dice = Dice::new(1_000 + number as u64);
        let word = word_of(&tool);
        let tail = if bad { format!("{tail} {word} error: ABC123") } else { tail.to_owned() };
        let path = if bad { "/etc/hosts" } else { "/home/clerk/notes" }.to_owned();
        Self {
            resource: format!("tool:{tool}"),
            tool,
            args: object! { "command": "make -j2 all", "path": path.as_str() },
            path,
            status: if bad { "error" } else { "ok" },
            content: dice.text(CHARACTERS, &tail),
            trust: if bad { 0.25 } else { 0.75 },
        }
    }

    /// Returns what a predicate is asked about.
    pub fn facts(&self) -> Facts<'_> {
        Facts {
            record: RecordFacts {
                act: "CALL",
                actor: ACTOR,
                thread: "th_run",
                data_type: "SCALAR",
                clock: 7,
                parents: &[],
                body: BodyFacts::Call {
                    tool: &self.tool,
                    args: &self.args,
                    status: self.status,
                    content: &self.content,
                },
            },
            resource: &self.resource,
            actor: ACTOR,
            namespace: "default",
            trust: self,
            now_secs: 1_796_000_000,
            system: &NOTHING,
        }
    }
}

impl Trust for Call {
    fn score(&self, _: &str, _: &str) -> f64 {
        self.trust
    }

    fn count(&self, _: &str, _: &str) -> i64 {
        4
    }
}

/// Returns calls for so many hooks, each to a tool that has some: they hold in one case of a
/// thousand, words for any tool included.
pub fn calls(hooks: usize) -> Vec<Call> {
    let tools = tools(hooks);
    let every = (RARE / hooks).max(1);
    let words = needles(hooks / 100);
    let call = |number: usize| {
        let word = match words.len() {
            0 => "",
            // Each call has one word at most, so few words are in few calls.
            count if number.is_multiple_of((RARE / count).max(1)) => &words[number % count].word,
            _ => "",
        };
        Call::new(number, tool(number * 151 % tools), number.is_multiple_of(every), word)
    };
    (0..CALLS).map(call).collect()
}

/// Returns calls to a tool that no hook is for.
pub fn unheard() -> Vec<Call> {
    (0..CALLS).map(|number| Call::new(number, "unheard".to_owned(), true, "")).collect()
}

/// Returns calls of which one in ten has one of a hundred words.
pub fn with_words() -> Vec<Call> {
    let words = needles(100);
    let call = |number: usize| {
        let word = if number.is_multiple_of(10) { words[number].word.as_str() } else { "" };
        Call::new(number, "unheard".to_owned(), false, word)
    };
    (0..CALLS).map(call).collect()
}

/// Returns the call that every shape holds for, and looks through all of the content.
pub fn worst() -> Call {
    Call::new(0, tool(0), true, "")
}
