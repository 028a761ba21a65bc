//! Why there will be no answer (contract-polpo §11.8).

use std::fmt;

use crate::canon::Object;
use crate::object;

/// There will be no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateFailure {
    /// The code.
    pub code: GateCode,
    /// More about it, where the code is about several things.
    pub cause: Option<GateCause>,
}

impl GateFailure {
    /// Returns the failure of that code, which says all.
    pub const fn of(code: GateCode) -> Self {
        Self { code, cause: None }
    }

    /// Returns the failure of that code, for that cause.
    pub const fn because(code: GateCode, cause: GateCause) -> Self {
        Self { code, cause: Some(cause) }
    }

    /// Returns the body of the answer that says so.
    pub fn to_object(self) -> Object {
        let mut body = object! {
            "message": self.code.message(),
            "type": "runtime_error",
            "code": self.code.as_str(),
        };
        if let Some(cause) = self.cause {
            body.extend(object! { "cause": cause.as_str() });
        }
        body
    }
}

impl fmt::Display for GateFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.message())?;
        self.cause.map_or(Ok(()), |cause| write!(f, " ({})", cause.as_str()))
    }
}

impl std::error::Error for GateFailure {}

macro_rules! gate_codes {
    ($( $name:ident = $text:literal, $status:literal, $message:literal; )*) => {
        /// The stable code of a failure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum GateCode { $( #[doc = $message] $name, )* }

        impl GateCode {
            /// Every code.
            pub const ALL: &[Self] = &[ $( Self::$name, )* ];

            /// Returns the code as it is written.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$name => concat!("termination_gate_", $text), )* }
            }

            /// Returns the status of an answer over HTTP that has not begun.
            pub const fn status(self) -> u16 {
                match self { $( Self::$name => $status, )* }
            }

            /// Returns the sentence.
            pub const fn message(self) -> &'static str {
                match self { $( Self::$name => $message, )* }
            }

            /// Reads the code.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.as_str() == text)
            }
        }
    };
}

gate_codes! {
    CyclesExhausted = "cycles_exhausted", 422, "A repair was asked for after the last one allowed.";
    TurnsExhausted = "turns_exhausted", 422, "The agent has taken as many turns as it may.";
    TimeExhausted = "time_exhausted", 422, "The invocation has taken as long as it may.";
    TokensExhausted = "tokens_exhausted", 422, "The invocation has used as many tokens as it may.";
    UsageUnknown = "usage_unknown", 502,
        "The provider does not say how many tokens it used, so no limit can be kept.";
    CheckpointInvalid = "checkpoint_invalid", 409,
        "The stored state of the gate cannot be used, or could not be stored.";
    CheckpointTooLarge = "checkpoint_too_large", 413, "The state of the gate is too large to store.";
    EffectUnconfirmed = "effect_unconfirmed", 409,
        "It ended while a model or a tool was at work; somebody has to find out what came of that.";
    ParallelUnsupported = "parallel_unsupported", 400,
        "A gate of a durable run cannot stand in a parallel branch.";
    Rejected = "rejected", 422, "A validator did not accept the answer.";
    Unavailable = "unavailable", 503, "A gate is configured and switched off here.";
}

macro_rules! gate_causes {
    ($( $(#[$doc:meta])* $name:ident = $text:literal; )*) => {
        /// What a code that is about several things is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum GateCause { $( $(#[$doc])* $name, )* }

        impl GateCause {
            /// Every cause.
            pub const ALL: &[Self] = &[ $( Self::$name, )* ];

            /// Returns the word.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$name => $text, )* }
            }

            /// Reads the word.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|cause| cause.as_str() == text)
            }
        }
    };
}

gate_causes! {
    /// The validator denied.
    Denied = "denied";
    /// Its feedback is not what its decision needs.
    InvalidFeedback = "invalid_feedback";
    /// There is more feedback than is passed on.
    FeedbackTooLarge = "feedback_too_large";
    /// Its decision is none that is valid here.
    InvalidDecision = "invalid_decision";
    /// It wrote nothing.
    EmptyOutput = "empty_output";
    /// There is no decision in its answer.
    MissingDecision = "missing_decision";
    /// What it wrote is no answer.
    InvalidOutput = "invalid_output";
    /// It took longer than it may.
    Timeout = "timeout";
    /// It failed otherwise.
    HandlerFailed = "handler_failed";
    /// The answer is too large to be validated whole.
    PayloadTooLarge = "payload_too_large";
    /// A checkpoint could not be written.
    WriteFailed = "write_failed";
    /// A checkpoint is not one.
    Unreadable = "unreadable";
    /// A checkpoint was changed.
    Checksum = "checksum";
    /// A checkpoint is of another version.
    Version = "version";
    /// A checkpoint is of another invocation.
    Identity = "identity";
    /// What a checkpoint says does not go together.
    Inconsistent = "inconsistent";
    /// A gate of the checkpoint is no longer there.
    GateMissing = "gate_missing";
    /// A model was at work.
    Model = "model";
    /// A tool was at work.
    Tool = "tool";
    /// All hooks are switched off.
    KillSwitch = "kill_switch";
    /// Hooks or gates are not enforced here.
    Rollout = "rollout";
    /// The gate is switched off in its pack.
    Disabled = "disabled";
    /// Its kind of handler is switched off here, or is none for a gate.
    Handler = "handler";
    /// The agent may not use the tool that validates.
    ToolRefused = "tool_refused";
}
