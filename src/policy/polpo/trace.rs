//! What there is to tell of hooks (contract-polpo §18). No input and no result stands in it.

use super::{Cause, Event, ExecutionId, HandlerKind, HookName, Mode, OnFailure, Scope, Word};
use crate::canon::Object;
use crate::object;

/// One thing to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    /// A handler is asked.
    Started(Execution),
    /// A handler has answered.
    Completed {
        /// Which.
        execution: Execution,
        /// What.
        decision: Word,
        /// How long that took.
        duration_ms: u64,
        /// Whether it counted.
        applied: bool,
        /// Whether it changed what those behind it were asked about.
        changed: bool,
        /// Keys of the answer that had no meaning.
        ignored: Vec<String>,
    },
    /// A handler has failed.
    Failed {
        /// Which.
        execution: Execution,
        /// Why.
        cause: Cause,
        /// What its failure counts as.
        on_failure: OnFailure,
        /// Whether it counted.
        applied: bool,
    },
    /// A hook was not asked.
    Skipped {
        /// Which.
        execution: Execution,
        /// Why not.
        reason: SkipReason,
    },
    /// A gate is in another state.
    Gate(GateTrace),
}

/// An execution of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// Its id.
    pub id: ExecutionId,
    /// The hook.
    pub hook: HookName,
    /// Where it is asked.
    pub event: Event,
    /// Where it comes from.
    pub scope: Scope,
    /// Whether it decides.
    pub mode: Mode,
    /// The kind of its handler.
    pub handler: HandlerKind,
}

/// Why a hook was not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// It is switched off in its pack.
    Disabled,
    /// All hooks are switched off.
    KillSwitch,
    /// Hooks are not rolled out here.
    Rollout,
    /// The call is made at the provider.
    ProviderNative,
    /// It would be asked about what it does itself.
    Itself,
    /// A hook before it has ended the matter.
    NotReached,
}

impl SkipReason {
    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::KillSwitch => "kill_switch",
            Self::Rollout => "rollout",
            Self::ProviderNative => "provider_native",
            Self::Itself => "self",
            Self::NotReached => "not_reached",
        }
    }
}

/// Where a gate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateStage {
    /// An answer is with the validators.
    Validating,
    /// Work goes on, with what they said in mind.
    Continuing,
    /// All of them have accepted an answer.
    Accepted,
    /// There will be no answer.
    Failed,
}

impl GateStage {
    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Validating => "validating",
            Self::Continuing => "continuing",
            Self::Accepted => "accepted",
            Self::Failed => "failed",
        }
    }
}

/// A gate is in another state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateTrace {
    /// Which.
    pub stage: GateStage,
    /// How many answers there have been.
    pub attempt: u64,
    /// How many repairs have begun.
    pub cycle: u64,
    /// The executions of its validators for this answer.
    pub executions: Vec<ExecutionId>,
    /// What is left.
    pub remaining: Remaining,
    /// Why there will be no answer.
    pub code: Option<&'static str>,
    /// Whether it is told again, of what was stored.
    pub replayed: bool,
}

/// What is left of the budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Remaining {
    /// Repairs.
    pub cycles: u64,
    /// Milliseconds.
    pub ms: u64,
    /// Tokens.
    pub tokens: u64,
    /// Turns.
    pub turns: u64,
}

impl Trace {
    /// Returns what kind of thing it is.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Started(_) => "hook.started",
            Self::Completed { .. } => "hook.completed",
            Self::Failed { .. } => "hook.failed",
            Self::Skipped { .. } => "hook.skipped",
            Self::Gate(_) => "termination_gate",
        }
    }

    /// Returns what there is to say of it.
    pub fn data(&self) -> Object {
        match self {
            Self::Started(execution) => execution.data(),
            Self::Completed { execution, decision, duration_ms, applied, changed, ignored } => {
                let mut data = execution.data();
                data.extend(object! {
                    "decision": decision.as_str(),
                    "durationMs": *duration_ms,
                    "applied": *applied,
                    "changed": *changed,
                });
                if !ignored.is_empty() {
                    data.extend(object! { "ignored": ignored.clone() });
                }
                data
            }
            Self::Failed { execution, cause, on_failure, applied } => {
                let mut data = execution.data();
                data.extend(object! {
                    "code": cause.code().as_str(),
                    "cause": cause.as_str(),
                    "onFailure": on_failure.as_str(),
                    "applied": *applied,
                });
                data
            }
            Self::Skipped { execution, reason } => {
                let mut data = execution.data();
                data.extend(object! { "reason": reason.as_str() });
                data
            }
            Self::Gate(trace) => trace.data(),
        }
    }
}

impl Execution {
    fn data(&self) -> Object {
        object! {
            "executionId": self.id.to_string(),
            "pack": self.hook.pack.as_str(),
            "hook": self.hook.hook.as_str(),
            "event": self.event.as_str(),
            "scope": self.scope.as_str(),
            "mode": self.mode.as_str(),
            "handler": self.handler.as_str(),
        }
    }
}

impl GateTrace {
    fn data(&self) -> Object {
        let Remaining { cycles, ms, tokens, turns } = self.remaining;
        let executions: Vec<String> = self.executions.iter().map(ToString::to_string).collect();
        let mut data = object! {
            "state": self.stage.as_str(),
            "attempt": self.attempt,
            "cycle": self.cycle,
            "executionIds": executions,
            "remaining": object! {
                "cycles": cycles, "ms": ms, "tokens": tokens, "turns": turns,
            },
            "replayed": self.replayed,
        };
        if let Some(code) = self.code {
            data.extend(object! { "code": code });
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::super::combine::Heard;
    use super::super::{Failure, Identity, Occurrence};
    use super::*;
    use crate::canon::Value;

    fn execution() -> Execution {
        let hook = HookName { pack: "quality".to_owned(), hook: "no-rm".to_owned() };
        let identity = Identity {
            invocation: "run_1",
            step_invocation: None,
            agent: "coder",
            hook: &hook,
            event: Event::ToolBefore,
            occurrence: Occurrence::Tool { turn: 1, call_id: "call_1" },
        };
        Execution {
            id: identity.key().execution_id(),
            hook: hook.clone(),
            event: Event::ToolBefore,
            scope: Scope::Agent,
            mode: Mode::Control,
            handler: HandlerKind::Command,
        }
    }

    /// Holds a trace against what every one has, and `more`.
    #[track_caller]
    fn tells(trace: &Trace, kind: &str, more: Object) {
        let mut want = object! {
            "executionId": "hx1_803e556fe5028296e3f30f99922ba308",
            "pack": "quality",
            "hook": "no-rm",
            "event": "tool:before",
            "scope": "agent",
            "mode": "control",
            "handler": "command",
        };
        want.extend(more);
        assert_eq!((trace.kind(), trace.data()), (kind, want));
    }

    fn heard(said: Result<Word, Failure>, ignored: &[&str]) -> Heard {
        let ignored = ignored.iter().map(|&key| key.to_owned()).collect();
        Heard { hook: execution().hook, said, applied: true, changed: false, ignored }
    }

    #[test]
    fn each_kind_has_its_fields() {
        tells(&Trace::Started(execution()), "hook.started", Object::new());
        let completed = heard(Ok(Word::Deny), &[]).trace(execution(), 7, OnFailure::Fail);
        let more = object! {
            "applied": true, "changed": false, "decision": "deny", "durationMs": 7,
        };
        tells(&completed, "hook.completed", more.clone());
        let warned = heard(Ok(Word::Deny), &["why"]).trace(execution(), 7, OnFailure::Fail);
        let ignored = object! { "ignored": vec!["why"] };
        tells(&warned, "hook.completed", more.into_iter().chain(ignored).collect());
        let failure = Failure::new(Cause::Timeout, "5000 ms");
        let failed = heard(Err(failure), &[]).trace(execution(), 7, OnFailure::Continue);
        let more = object! {
            "applied": true, "cause": "timeout", "code": "hook_timeout", "onFailure": "continue",
        };
        tells(&failed, "hook.failed", more);
        let reason = SkipReason::NotReached;
        let skipped = Trace::Skipped { execution: execution(), reason };
        tells(&skipped, "hook.skipped", object! { "reason": "not_reached" });
    }

    #[test]
    fn a_gate_says_what_is_left() {
        let trace = Trace::Gate(GateTrace {
            stage: GateStage::Failed,
            attempt: 2,
            cycle: 1,
            executions: vec![execution().id],
            remaining: Remaining { cycles: 0, ms: 5, tokens: 6, turns: 7 },
            code: Some("termination_gate_rejected"),
            replayed: false,
        });
        assert_eq!(
            Value::from(trace.data()).to_string(),
            concat!(
                r#"{"attempt":2,"code":"termination_gate_rejected","cycle":1,"#,
                r#""executionIds":["hx1_803e556fe5028296e3f30f99922ba308"],"#,
                r#""remaining":{"cycles":0,"ms":5,"tokens":6,"turns":7},"#,
                r#""replayed":false,"state":"failed"}"#,
            )
        );
    }
}
