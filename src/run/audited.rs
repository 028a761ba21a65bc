//! What happens in a run, as its audit file and the store are to remember it.

use std::sync::Arc;

use super::{RunSpec, Spent};
use crate::engine::{Engine, EngineError};
use crate::model::{CallRequest, Reply};
use crate::policy::audit::{Audit, Blocked, Entry};
use crate::policy::{Policy, Verdict};
use crate::tool::{Answer, Status};

/// The audit of a run. A task writes into the file of the run that it is a part of.
#[derive(Clone)]
pub(super) struct Audited {
    engine: Engine,
    file: Arc<Audit>,
    spec: RunSpec,
}

impl Audited {
    /// Opens the audit file of a run, if the settings ask for one.
    pub(super) fn open(engine: &Engine, policy: &Policy, spec: &RunSpec) -> Self {
        let now = engine.store().now();
        let file = Audit::open(policy.audit(), spec.thread.as_str(), &spec.model, now);
        Self { engine: engine.clone(), file: Arc::new(file), spec: spec.clone() }
    }

    /// Returns the same file for a task.
    pub(super) fn of_task(&self, spec: &RunSpec) -> Self {
        Self { spec: spec.clone(), ..self.clone() }
    }

    pub(super) fn turn(&self, spent: &Spent) {
        self.write(&Entry::TurnStart { turn: spent.turns.saturating_add(1) });
    }

    pub(super) fn reply(&self, reply: &Reply) {
        let (input_tokens, output_tokens) = (reply.usage.input_tokens, reply.usage.output_tokens);
        self.write(&Entry::Usage { input_tokens, output_tokens });
        for call in &reply.calls {
            if let Some(reason) = &call.malformed {
                self.write(&Entry::ToolParseError { tool: &call.name, reason });
            }
        }
    }

    /// A call was proposed, and this was decided about it before any policy hook was asked.
    pub(super) fn ruling(&self, request: &CallRequest, refused: Option<&str>) {
        let tool = &request.name;
        self.write(&Entry::ToolCall { tool, args: &request.args });
        let allowed = refused.is_none();
        self.write(&Entry::PermissionDecision { tool, allowed, reason: refused });
    }

    /// A tool has answered, before policy hooks were asked about that.
    pub(super) fn answer(&self, request: &CallRequest, answer: &Answer, policy: &Policy) {
        if self.file.is_on() {
            let labels = policy.redaction().kinds_in(&answer.shown);
            if !labels.is_empty() {
                self.write(&Entry::ContentFindings { tool: &request.name, labels: &labels });
            }
        }
    }

    pub(super) fn result(&self, request: &CallRequest, answer: &Answer) {
        let failed = answer.status == Status::Error;
        self.write(&Entry::ToolResult { tool: &request.name, text: &answer.shown, failed });
    }

    pub(super) fn stop(&self, reason: &str) {
        self.write(&Entry::AgentStop { reason });
    }

    /// Remembers a block, if the verdict on a call or on the goal is one.
    pub(super) fn block(
        &self,
        verdict: &Verdict,
        request: Option<&CallRequest>,
    ) -> Result<(), EngineError> {
        let Self { engine, spec, .. } = self;
        let prompt = Blocked::prompt(verdict, &spec.thread, &spec.actor, &spec.namespace);
        let Some(mut blocked) = prompt else { return Ok(()) };
        if let Some(request) = request {
            blocked = blocked.of_call(&request.name, &request.id);
        }
        self.write(&Entry::HookBlocked(&blocked));
        let draft = blocked.to_draft();
        engine.author(move |author| Ok(author.write(draft)?.id())).map(drop)
    }

    fn write(&self, entry: &Entry<'_>) {
        if self.file.is_on() {
            self.file.write(entry, self.engine.store().now());
        }
    }
}
