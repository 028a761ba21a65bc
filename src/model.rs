//! Models: a turn goes in, a reply comes out.
//!
//! Comes in: what has been said so far, as a [`TurnRequest`]. Goes out: a [`Reply`], which calls
//! tools or ends the run. Two models are here that need no provider: [`Echo`], which says what it
//! was told, and [`Scripted`], which says what a file has for it, so that a run can be played from
//! the first record to the last without a network. Those of `Providers` are asked over the network,
//! in the wire formats of Anthropic, `OpenAI` and Gemini.
//!
//! **Invariant:** a model calls nothing and records nothing; it is asked, and it answers.

mod echo;
mod error;
mod price;
#[cfg(feature = "model")]
mod provider;
mod script;
mod scripted;

pub use echo::Echo;
pub use error::ModelError;
pub use price::{Price, PriceError, Prices};
#[cfg(feature = "model")]
pub use provider::{KeySource, Keys, Pace, ProviderRow, Providers};
pub use script::ScriptError;
pub use scripted::Scripted;

use crate::cancel::Cancel;
use crate::canon::{Object, Value};

/// Something that can take a turn.
pub trait Model: Send {
    /// Takes the next turn. Ends soon after `cancel` is raised, with an error if it was not done.
    ///
    /// `said` hears the words as they come, before the reply is whole; together they are its text.
    /// What was said before a failure belongs to no reply.
    fn turn(
        &mut self,
        request: &TurnRequest,
        cancel: &Cancel,
        said: &mut dyn FnMut(&str),
    ) -> Result<Reply, ModelError>;

    /// Returns the name that records have for it.
    fn name(&self) -> &str;
}

/// All that a model is told for one turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnRequest {
    /// What holds for the whole run.
    pub system: String,
    /// What has been said so far, in order.
    pub messages: Vec<Message>,
    /// What may be called.
    pub tools: Vec<ToolDescription>,
}

/// A tool in the words a model is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDescription {
    /// The name to call it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The arguments it takes, as a JSON Schema of an object.
    pub parameters: Value,
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// By who wants something.
    User {
        /// The words.
        text: String,
    },
    /// By the model, in an earlier turn.
    Assistant {
        /// The words.
        text: String,
        /// The calls it asked for.
        calls: Vec<CallRequest>,
    },
    /// By a tool that was called.
    ToolResult {
        /// The call that it answers.
        call_id: String,
        /// The name of the tool.
        tool: String,
        /// What is shown of its answer.
        text: String,
        /// Whether it did not do what it was asked for.
        failed: bool,
    },
    /// By a hook, beside the result it is about.
    Observation {
        /// The name of the hook.
        rule: String,
        /// The words.
        text: String,
    },
    /// By the loop itself: what is left of a budget.
    Notice {
        /// The words.
        text: String,
    },
}

/// A call that a model asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRequest {
    /// What its result will refer to, as the model has it: it may stand twice.
    pub id: String,
    /// The name of the tool, as the model has it: there may be no such tool.
    pub name: String,
    /// The arguments, as the model has them.
    pub args: Object,
    /// Why the arguments could not be read, if they could not; then `args` is empty.
    pub malformed: Option<String>,
}

/// What a model says in one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The words.
    pub text: String,
    /// The calls it asks for, in order. Without any, the run is over.
    pub calls: Vec<CallRequest>,
    /// What the turn has cost.
    pub usage: Usage,
    /// Why it stopped there.
    pub stop: StopReason,
}

/// What a turn costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Whether the provider counted nothing and the numbers are a guess from the lengths of texts.
    pub estimated: bool,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It had nothing more to say.
    EndTurn,
    /// It waits for the results of its calls.
    ToolUse,
    /// It was cut off: the arguments of its last call may be, too.
    OutputLimit,
}

impl StopReason {
    /// Returns the word in the record of a turn.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::OutputLimit => "output_limit",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::EndTurn, Self::ToolUse, Self::OutputLimit];
        all.into_iter().find(|stop| stop.as_str() == word)
    }
}
