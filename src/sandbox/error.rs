//! Why there is no sandbox.

use std::io;

use super::Way;
use crate::code::{Code, Coded};

/// A step on the way into a place that did not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{step}: {why}")]
pub struct Refusal {
    /// What was tried: `new namespaces`, `mount /proc`.
    pub step: String,
    /// What the system said.
    pub why: String,
}

impl Refusal {
    pub(super) fn new(step: impl Into<String>, why: impl Into<String>) -> Self {
        Self { step: step.into(), why: why.into() }
    }
}

/// Names the step that an error came from.
pub(super) trait Step<T> {
    /// Says that this was `step`.
    fn step(self, step: impl Into<String>) -> Result<T, Refusal>;
}

impl<T, E: Into<io::Error>> Step<T> for Result<T, E> {
    fn step(self, step: impl Into<String>) -> Result<T, Refusal> {
        self.map_err(|error| {
            let error: io::Error = error.into();
            Refusal::new(step, error.to_string())
        })
    }
}

/// A way that was tried, and what it failed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// The way.
    pub way: Way,
    /// What it failed on.
    pub refusal: Refusal,
}

/// Why no worker was started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// No way into a place works on this machine.
    #[error("there is no sandbox on this machine: {}", in_words(.tried))]
    Unavailable {
        /// The ways that were tried, in order.
        tried: Vec<Tried>,
    },
    /// The processes of the start could not be made.
    #[error("the worker could not be started")]
    Start(#[source] io::Error),
}

impl Coded for SandboxError {
    fn code(&self) -> Code {
        match self {
            Self::Unavailable { .. } => Code::SandboxUnavailable,
            Self::Start(_) => Code::Internal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Unavailable { .. } => Some(advice()),
            Self::Start(_) => None,
        }
    }
}

fn in_words(tried: &[Tried]) -> String {
    let one = |tried: &Tried| format!("{} ({})", tried.way, tried.refusal);
    if tried.is_empty() {
        return "it needs Linux".to_owned();
    }
    tried.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What a system may be set to so that namespaces are refused, and what to do about it.
const SWITCHES: &[(&str, &str, &str)] = &[
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces=10000"),
    ("/proc/sys/user/max_net_namespaces", "0", "user.max_net_namespaces=10000"),
];

fn advice() -> String {
    let is_set = |(path, value, _): &&(&str, &str, &str)| {
        std::fs::read_to_string(path).is_ok_and(|text| text.trim() == *value)
    };
    match SWITCHES.iter().find(is_set) {
        Some((_, _, setting)) => {
            format!("Install bubblewrap, or allow namespaces: `sysctl -w {setting}`.")
        }
        None => "Install bubblewrap, or allow user, network and mount namespaces here.".to_owned(),
    }
}
