//! What a worker is told of its run at the start: the run spec.

use std::path::PathBuf;

use super::super::RunSpec;
use crate::canon::{Object, Value};
use crate::engine::Hooks;
use crate::model::ToolDescription;
use crate::object;
use crate::record::{ActorId, Namespace, ThreadId};

/// What a worker is told of its run: the goal, the grants, the budgets, the hooks as loaded at the
/// start, and where it works.
#[derive(Debug)]
pub(in super::super) struct Briefing {
    pub(in super::super) spec: RunSpec,
    pub(in super::super) tools: Vec<ToolDescription>,
    /// The hooks that the engine asks, for the worker to know; it asks none itself.
    pub(in super::super) hooks: Vec<Value>,
    /// Whether hooks speak that are written later, so that these are but those of the start.
    pub(in super::super) live_hooks: bool,
    pub(in super::super) workspace: PathBuf,
}

impl Briefing {
    /// Returns it as it crosses the socket.
    pub(super) fn to_object(&self) -> Object {
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        let described = |tool: &ToolDescription| {
            object! {
                "description": tool.description.as_str(),
                "name": tool.name.as_str(),
                "parameters": tool.parameters.clone(),
            }
        };
        object! {
            "actor": self.spec.actor.as_str(),
            "hooks": self.hooks.clone(),
            "live_hooks": self.live_hooks,
            "namespace": &self.spec.namespace,
            "object": "run_spec",
            "spec": self.spec.to_body(&names),
            "thread": self.spec.thread.as_str(),
            "tools": self.tools.iter().map(described).collect::<Vec<_>>(),
            "workspace": self.workspace.to_string_lossy().into_owned(),
        }
    }

    /// Reads it back.
    pub(super) fn of(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        if text("object") != Some("run_spec") {
            return None;
        }
        let thread = ThreadId::parse(text("thread")?).ok()?;
        let actor = ActorId::parse(text("actor")?).ok()?;
        let namespace = Namespace::parse(text("namespace")?).ok()?;
        let described = |tool: &Value| {
            let text = |key: &str| Some(tool.get(key)?.as_str()?.to_owned());
            Some(ToolDescription {
                name: text("name")?,
                description: text("description")?,
                parameters: tool.get("parameters")?.clone(),
            })
        };
        Some(Self {
            spec: RunSpec::of_body(value.get("spec")?.as_object()?, thread, actor, namespace)?,
            tools: value.get("tools")?.as_array()?.iter().map(described).collect::<Option<_>>()?,
            hooks: value.get("hooks")?.as_array()?.to_vec(),
            live_hooks: value.get("live_hooks")?.as_bool()?,
            workspace: text("workspace")?.into(),
        })
    }

    /// Returns what the hooks of a run are, for its briefing.
    pub(in super::super) fn hooks_of(hooks: &Hooks) -> Vec<Value> {
        let Hooks::Frozen(live) = hooks else { return Vec::new() };
        let row = |row: crate::config::HookRow| {
            let namespace = Namespace::parse(&row.namespace).ok()?;
            let in_force = live.config.hook(&namespace, &row.name)?;
            let hook = &in_force.hook;
            Some(Value::from(object! {
                "max_fires_per_run": hook.max_fires_per_run(),
                "name": row.name,
                "namespace": row.namespace,
                "record_id": in_force.record_id,
                "text": hook.text().source(),
                "when": hook.when().source(),
            }))
        };
        let loaded = live.config.rows().into_iter().filter(|row| row.loaded);
        loaded.filter_map(row).collect()
    }
}
