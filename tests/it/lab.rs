//! A home, a workspace, and runs that play a script in them.

use spl::cancel::Cancel;
use spl::canon::{Object, Value};
use spl::engine::{Caller, Engine, EngineOptions, Home, Hooks};
use spl::model::{Message, Scripted, TurnRequest};
use spl::policy::Policy;
use spl::record::{ActorId, ThreadId};
use spl::run::{
    Auto, Decider, Hands, Limits, Moment, Nobody, Report, RunError, RunSpec, drive, resume,
};
use spl::store::{Stored, ThreadRange};
use spl::tool::{RecordSeat, Toolbox, Workspace, record_tools};

use crate::overheard::Overheard;

/// A home, a workspace, and an engine on them.
pub(crate) struct Lab {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) engine: Engine,
}

/// What came of a run.
pub(crate) struct Played {
    pub(crate) report: Report,
    /// What the model was told, turn by turn.
    pub(crate) told: Vec<TurnRequest>,
    pub(crate) records: Vec<Stored>,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("workspace")).expect("a workspace");
        let home = Home::at(dir.path().join("home"));
        home.initialise("vera").expect("a home");
        let engine = Engine::open(&home, EngineOptions::default()).expect("an engine");
        Self { dir, engine }
    }

    /// A second engine on the same home: what another process would have.
    pub(crate) fn another(&self) -> Engine {
        let home = Home::at(self.dir.path().join("home"));
        Engine::open(&home, EngineOptions::default()).expect("an engine")
    }

    pub(crate) fn play(&self, script: &str) -> Played {
        self.play_with(script, spec(), &Cancel::new(), &mut |_| {})
    }

    pub(crate) fn play_with(
        &self,
        script: &str,
        spec: RunSpec,
        cancel: &Cancel,
        watch: &mut dyn FnMut(Moment<'_>),
    ) -> Played {
        let thread = spec.thread.clone();
        let mut nobody = Nobody;
        let hand = Hand { cancel, watch, decider: &mut nobody };
        self.played(script, &thread, hand, |hands| drive(spec, hands)).expect("a run")
    }

    /// Takes up a run, with a model that goes on in the script.
    pub(crate) fn resume(&self, script: &str, thread: &ThreadId) -> Result<Played, RunError> {
        let mut nobody = Nobody;
        let cancel = Cancel::new();
        let hand = Hand { cancel: &cancel, watch: &mut |_| {}, decider: &mut nobody };
        self.played(script, thread, hand, |hands| resume(thread, hands))
    }

    pub(crate) fn played(
        &self,
        script: &str,
        thread: &ThreadId,
        hand: Hand<'_>,
        driven: impl FnOnce(Hands<'_>) -> Result<Report, RunError>,
    ) -> Result<Played, RunError> {
        let Hand { cancel, watch, decider } = hand;
        let workspace = Workspace::open(self.workspace()).expect("a workspace");
        let script = Scripted::parse(script.as_bytes(), workspace.path()).expect("a script");
        let mut model = Overheard { script, told: Vec::new() };
        let tools = self.tools(&workspace, thread);
        let report = driven(Hands {
            engine: &self.engine,
            model: &mut model,
            tools: &tools,
            decider,
            approver: &mut Auto,
            policy: &Policy::none(),
            hooks: Hooks::Live,
            cancel,
            watch,
        })?;
        Ok(Played { report, told: model.told, records: self.records(thread) })
    }

    fn tools(&self, workspace: &Workspace, thread: &ThreadId) -> Toolbox {
        let path = std::env::var("PATH").expect("a path");
        let mut tools = Toolbox::of_workspace(workspace, vec![("PATH".to_owned(), path)]);
        let spec = spec();
        let seat = RecordSeat {
            engine: self.engine.clone(),
            thread: thread.clone(),
            actor: spec.actor,
            namespace: spec.namespace,
        };
        for tool in record_tools(&seat) {
            tools.add(tool).expect("a tool of its own name");
        }
        tools
    }

    pub(crate) fn workspace(&self) -> std::path::PathBuf {
        self.dir.path().join("workspace")
    }

    pub(crate) fn records(&self, thread: &ThreadId) -> Vec<Stored> {
        let range = ThreadRange::default();
        self.engine.store().read(|reader| reader.thread(thread, range, usize::MAX)).expect("read")
    }

    pub(crate) fn row(&self, name: &str) -> Object {
        let rows = self.engine.hook_rows().expect("rows");
        let named = |row: &&Object| row.get("name").and_then(Value::as_str) == Some(name);
        rows.iter().find(named).expect("a row").clone()
    }
}

/// What a run is driven with beside its model and its tools.
pub(crate) struct Hand<'a> {
    pub(crate) cancel: &'a Cancel,
    pub(crate) watch: &'a mut dyn FnMut(Moment<'_>),
    pub(crate) decider: &'a mut dyn Decider,
}

pub(crate) fn spec() -> RunSpec {
    let thread = ThreadId::parse("th_run").expect("a thread");
    let actor = ActorId::parse("did:sync:agent:clerk").expect("an actor");
    let spec = RunSpec::new(thread, actor, "get it done", "scripted");
    RunSpec { domain: "ops".into(), ..spec }
}

/// The spec of a run within these limits.
pub(crate) fn within(limits: Limits) -> RunSpec {
    RunSpec { limits, ..spec() }
}

/// Writes a hook on its own clock.
pub(crate) fn teach(engine: &Engine, clock: i64, body: &str) {
    let envelope = format!(
        r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","clock":{clock},
            "body":{{"kind":"core.hook.v1","topic":"hook",{body}}}}}"#
    );
    engine.ingest(&Caller::operator(), envelope.as_bytes()).expect("a hook");
}

pub(crate) const SHELL_FAILED: &str = r#""name":"shell-failed","text":"${tool} ended with ${status}; read stderr first.",
    "when":"record.body.tool == \"bash\" && record.body.status != \"ok\"""#;

pub(crate) fn bash(command: &str) -> String {
    format!(r#"{{"name":"bash","args":{{"command":"{command}"}}}}"#)
}

pub(crate) fn turns(calls: &[String]) -> String {
    let turns: Vec<String> =
        calls.iter().map(|call| format!(r#"{{"tool_calls":[{call}]}}"#)).collect();
    format!(r#"{{"turns":[{},{{"text":"done"}}]}}"#, turns.join(","))
}

/// The messages of a request, in short.
pub(crate) fn said(request: &TurnRequest) -> Vec<String> {
    let short = |message: &Message| match message {
        Message::User { .. } => "goal".to_owned(),
        Message::Assistant { calls, .. } => format!("assistant {}", calls.len()),
        Message::ToolResult { tool, failed, .. } => format!("{tool} failed {failed}"),
        Message::Observation { rule, text } => format!("{rule}: {text}"),
        Message::Notice { text } => format!("notice: {text}"),
    };
    request.messages.iter().map(short).collect()
}

pub(crate) fn bodies<'a>(played: &'a Played, kind: &str) -> Vec<&'a Object> {
    let of_kind = |stored: &&Stored| stored.record.kind() == Some(kind);
    played.records.iter().filter(of_kind).map(|stored| &stored.record.draft().body).collect()
}

pub(crate) fn observations(played: &Played) -> Vec<&str> {
    bodies(played, "core.work.observation.v1")
        .iter()
        .filter_map(|body| body.get("text")?.as_str())
        .collect()
}
