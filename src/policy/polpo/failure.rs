//! What it means that a handler has failed (contract-polpo §7).

use std::fmt;

/// A handler that gave no answer, or one that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong.
    pub cause: Cause,
    /// More about it, for whoever reads the trace: `exit status 1`. Secrets are replaced.
    pub detail: String,
}

impl Failure {
    /// Returns the failure of that cause.
    pub fn new(cause: Cause, detail: &str) -> Self {
        Self { cause, detail: super::redact(detail).into_owned() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.cause.as_str())?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

macro_rules! causes {
    ($( $(#[$doc:meta])* $name:ident = $text:literal, $code:ident; )*) => {
        /// What went wrong with a handler.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Cause { $( $(#[$doc])* $name, )* }

        impl Cause {
            /// Every cause.
            pub const ALL: &[Self] = &[ $( Self::$name, )* ];

            /// Returns the stable word in traces.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$name => $text, )* }
            }

            /// Returns the code under which it is told.
            pub const fn code(self) -> RunCode {
                match self { $( Self::$name => RunCode::$code, )* }
            }

            /// Reads the word.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|cause| cause.as_str() == word)
            }
        }
    };
}

causes! {
    /// It could not be started.
    NotStarted = "not_started", Failed;
    /// The command ended with something else than 0.
    ExitStatus = "exit_status", Failed;
    /// A signal ended the command.
    Signal = "signal", Failed;
    /// It took longer than it may.
    Timeout = "timeout", Timeout;
    /// It wrote more than is read.
    OutputTooLarge = "output_too_large", OutputTooLarge;
    /// What it wrote is not one JSON object.
    InvalidOutput = "invalid_output", Failed;
    /// It had to answer, and wrote nothing.
    EmptyOutput = "empty_output", Failed;
    /// There is no decision in the answer.
    MissingDecision = "missing_decision", InvalidDecision;
    /// The decision is none that is known, or not valid where it was made.
    InvalidDecision = "invalid_decision", InvalidDecision;
    /// The feedback is not what the decision needs.
    InvalidFeedback = "invalid_feedback", InvalidDecision;
    /// There is more feedback than is passed on.
    FeedbackTooLarge = "feedback_too_large", InvalidDecision;
    /// The server answered with something else than 2xx.
    HttpStatus = "http_status", Failed;
    /// The server sent elsewhere.
    Redirect = "redirect", Failed;
    /// The address is none that may be connected to.
    BlockedHost = "blocked_host", Failed;
    /// The credentials of the connection could not be had.
    Connection = "connection", Failed;
    /// The tool failed.
    ToolError = "tool_error", Failed;
    /// The tool is not one that the agent may use.
    ToolRefused = "tool_refused", Failed;
    /// A place that its input is bound to is not there.
    Binding = "binding", Failed;
    /// Handlers would have caused handlers once too often.
    DepthExceeded = "depth_exceeded", DepthExceeded;
    /// As many hooks as may have asked a model.
    PromptLimit = "prompt_limit", PromptLimit;
    /// As many hooks as may have asked an agent, or it took as many turns as it may.
    VerifierLimit = "verifier_limit", VerifierLimit;
    /// What it would have to read is too large.
    PayloadTooLarge = "payload_too_large", PayloadTooLarge;
}

/// A stable code of what hooks did to a run (contract-polpo §16).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunCode {
    /// A hook denied it.
    Denied,
    /// A hook failed, and nothing happens without it.
    Failed,
    /// A handler took longer than it may.
    Timeout,
    /// An answer that is none.
    InvalidDecision,
    /// A handler wrote more than is read.
    OutputTooLarge,
    /// What a handler would have to read is too large.
    PayloadTooLarge,
    /// Handlers would have caused handlers once too often.
    DepthExceeded,
    /// A hook wants approval, and nobody gave it.
    ApprovalRequired,
    /// As many hooks as may have asked a model.
    PromptLimit,
    /// As many hooks as may have asked an agent.
    VerifierLimit,
}

impl RunCode {
    /// Returns the code as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "hook_denied",
            Self::Failed => "hook_failed",
            Self::Timeout => "hook_timeout",
            Self::InvalidDecision => "hook_invalid_decision",
            Self::OutputTooLarge => "hook_output_too_large",
            Self::PayloadTooLarge => "hook_payload_too_large",
            Self::DepthExceeded => "hook_depth_exceeded",
            Self::ApprovalRequired => "hook_approval_required",
            Self::PromptLimit => "hook_prompt_limit",
            Self::VerifierLimit => "hook_verifier_limit",
        }
    }
}

impl fmt::Display for RunCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
