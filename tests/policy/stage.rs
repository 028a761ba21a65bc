//! Whole runs: real settings files, real shells, a model that plays a script.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use spl::cancel::Cancel;
use spl::canon::{Object, Value};
use spl::engine::{Engine, EngineOptions, Home, Hooks};
use spl::model::{Message, Scripted, TurnRequest};
use spl::record::{ActorId, ThreadId};
use spl::run::{Approver, Auto, Hands, Moment, Nobody, Report, RunError, RunSpec, drive};
use spl::store::{Stored, ThreadRange};
use spl::tool::{Toolbox, Workspace};

use crate::desk::Desk;
use crate::overheard::Overheard;

/// A user's home folder, a workspace, and an instance.
pub(crate) struct Stage {
    pub(crate) desk: Desk,
    pub(crate) engine: Engine,
    /// The switches of the environment.
    pub(crate) variables: BTreeMap<String, String>,
}

/// What came of a run.
pub(crate) struct Played {
    pub(crate) outcome: Result<Report, RunError>,
    /// What the model was told, turn by turn, tasks included.
    pub(crate) told: Vec<TurnRequest>,
    /// What a person would have been shown of policy hooks, in order.
    pub(crate) shown: Vec<String>,
    /// How many tasks were begun.
    pub(crate) tasks: usize,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let desk = Desk::new(false);
        let home = Home::at(desk.home.join("instance"));
        home.initialise("vera").expect("a home");
        let engine = Engine::open(&home, EngineOptions::default()).expect("an engine");
        Self { desk, engine, variables: BTreeMap::new() }
    }

    /// Writes the settings of the user.
    pub(crate) fn set_up(&self, settings: &str) {
        let settings = serde_json::from_str(settings).expect("JSON");
        Desk::set(&self.desk.home, Some(&settings));
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.desk.work.clone()
    }

    pub(crate) fn play(&self, script: &str) -> Played {
        self.play_goal("hi", script, &mut Auto)
    }

    pub(crate) fn play_goal(
        &self,
        goal: &str,
        script: &str,
        approver: &mut dyn Approver,
    ) -> Played {
        let workspace = Workspace::open(self.workspace()).expect("a workspace");
        let script = Scripted::parse(script.as_bytes(), workspace.path()).expect("a script");
        let mut model = Overheard { script, told: Vec::new() };
        let path = std::env::var("PATH").expect("a path");
        let tools = Toolbox::of_workspace(&workspace, vec![("PATH".to_owned(), path)]);
        let actor = ActorId::parse("did:sync:agent:clerk").expect("an actor");
        let shown = RefCell::new((Vec::new(), 0));
        let policy = self.desk.load(&self.variables).expect("settings");
        let policy = self.desk.policy(policy, &BTreeMap::new());
        let outcome = drive(
            RunSpec::new(thread(), actor, goal, "scripted"),
            Hands {
                engine: &self.engine,
                model: &mut model,
                tools: &tools,
                decider: &mut Nobody,
                approver,
                policy: &policy,
                hooks: Hooks::Live,
                cancel: &Cancel::new(),
                watch: &mut |moment| note(&shown, &moment),
            },
        );
        let (shown, tasks) = shown.into_inner();
        Played { outcome, told: model.told, shown, tasks }
    }

    pub(crate) fn records(&self, thread: &ThreadId) -> Vec<Stored> {
        let range = ThreadRange::default();
        self.engine.store().read(|reader| reader.thread(thread, range, usize::MAX)).expect("read")
    }

    /// The bodies of the records of blocks.
    pub(crate) fn blocks(&self) -> Vec<Object> {
        let records = self.records(&ThreadId::security());
        let blocks = records.iter().filter(|it| it.record.kind() == Some("core.audit.policy.v1"));
        blocks.map(|stored| stored.record.draft().body.clone()).collect()
    }

    pub(crate) fn results(&self) -> Vec<Object> {
        let records = self.records(&thread());
        let results =
            records.iter().filter(|it| it.record.kind() == Some("core.work.tool_result.v1"));
        results.map(|stored| stored.record.draft().body.clone()).collect()
    }
}

fn note(shown: &RefCell<(Vec<String>, usize)>, moment: &Moment<'_>) {
    match moment {
        Moment::Warned(warning) => shown.borrow_mut().0.push(warning.to_string()),
        Moment::Blocked { request, block } => {
            let line = format!("{} {}: {}", request.name, block.event, block.reason);
            shown.borrow_mut().0.push(line);
        }
        Moment::Within { moment: Moment::Opened(_), .. } => shown.borrow_mut().1 += 1,
        Moment::Within { moment, .. } => note(shown, moment),
        _ => {}
    }
}

impl Played {
    /// What the model read last, joined.
    pub(crate) fn heard(&self) -> String {
        let text = |message: &Message| match message {
            Message::User { text } | Message::ToolResult { text, .. } => Some(text.clone()),
            _ => None,
        };
        let last = self.told.last().map(|request| request.messages.as_slice());
        last.unwrap_or_default().iter().filter_map(text).collect::<Vec<_>>().join("\n---\n")
    }
}

pub(crate) fn thread() -> ThreadId {
    ThreadId::parse("th_run").expect("a thread")
}

pub(crate) fn text<'a>(body: &'a Object, name: &str) -> &'a str {
    body.get(name).and_then(Value::as_str).unwrap_or_default()
}
