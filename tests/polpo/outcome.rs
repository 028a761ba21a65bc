//! What a handler is made to do in a case.

use serde::Deserialize;
use serde_json::Value;
use spl::policy::polpo::{Cause, Failure, Outcome, Site, read_decision};

use crate::cases::whole;

/// How a handler ends, and what it wrote.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ends {
    /// What it wrote: a string is its text, anything else its value.
    pub(crate) output: Option<Value>,
    /// How much is added to that.
    #[serde(default)]
    pub(crate) filler_bytes: usize,
    /// What it ends with.
    #[serde(default)]
    pub(crate) exit: i32,
    /// Why there is no answer, if its command did not end by itself.
    pub(crate) failed: Option<String>,
}

impl Ends {
    /// Returns what comes of it, as whoever asks handlers has it.
    pub(crate) fn outcome(&self, site: Site) -> Outcome {
        let failed = |cause| Outcome::Failed(Failure::new(cause, ""));
        if let Some(cause) = &self.failed {
            return failed(Cause::parse(cause).expect(cause));
        }
        if self.exit != 0 {
            return failed(Cause::ExitStatus);
        }
        let mut output = match self.output.as_ref().map(whole) {
            None => String::new(),
            Some(Value::String(text)) => text,
            Some(value) => value.to_string(),
        };
        output.push_str(&" ".repeat(self.filler_bytes));
        read_decision(output.as_bytes(), site)
    }
}
