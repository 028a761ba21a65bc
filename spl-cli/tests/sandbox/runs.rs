//! Runs whose tools are confined, with a real worker.

use std::fs;
use std::time::Duration;

use spl::cancel::Cancel;
use spl::canon::Value;
use spl::engine::{Caller, DecisionAnswer, DecisionVerb, Engine, Hooks};
use spl::model::Scripted;
use spl::policy::Policy;
use spl::record::{ActorId, ThreadId};
use spl::run::worker::Confined;
use spl::run::{
    Auto, Hands, Moment, Nobody, Report, RunError, RunSpec, Transport, Verb, drive, drive_confined,
    records_of, replay, resume, resume_confined,
};
use spl::sandbox::Way;
use spl::tool::{Toolbox, Workspace};

use crate::stand::{Stand, stager, ways};

/// A run on a machine of its own.
pub(crate) struct Stage {
    pub(crate) stand: Stand,
    pub(crate) engine: Engine,
    pub(crate) confined: Confined,
    pub(crate) hooks: Hooks,
    pub(crate) cancel: Cancel,
}

impl Stage {
    pub(crate) fn new(way: Way) -> Self {
        let stand = Stand::new();
        let mut confined = Confined::new(stager().to_owned(), stand.place());
        confined.ways = vec![way];
        let engine = Engine::in_memory().expect("an engine");
        Self { stand, engine, confined, hooks: Hooks::Live, cancel: Cancel::new() }
    }

    pub(crate) fn write_hook(&self, name: &str) {
        write_hook(&self.engine, name);
    }

    pub(crate) fn spec() -> RunSpec {
        let actor = ActorId::parse("did:sync:agent:a").expect("an actor");
        let thread = ThreadId::parse("th_run").expect("a thread");
        let spec = RunSpec::new(thread, actor, "do it", "scripted");
        RunSpec { transport: Transport::Sandboxed, ..spec }
    }

    /// Plays the commands, one a turn.
    pub(crate) fn play(
        &self,
        commands: &[&str],
        watch: &mut dyn FnMut(Moment<'_>),
    ) -> Result<Report, RunError> {
        let turns = commands.iter().map(|command| bash(command)).collect();
        self.play_turns(turns, watch, |hands| drive_confined(Self::spec(), hands, &self.confined))
    }

    fn play_turns(
        &self,
        turns: Vec<String>,
        watch: &mut dyn FnMut(Moment<'_>),
        driven: impl FnOnce(Hands<'_>) -> Result<Report, RunError>,
    ) -> Result<Report, RunError> {
        let workspace = Workspace::open(self.stand.path("home/project")).expect("a workspace");
        let turns = [turns, vec![r#"{"text":"done"}"#.to_owned()]].concat();
        let script = format!(r#"{{"turns":[{}]}}"#, turns.join(","));
        let mut model = Scripted::parse(script.as_bytes(), workspace.path()).expect("a script");
        driven(Hands {
            engine: &self.engine,
            model: &mut model,
            tools: &Toolbox::of_workspace(&workspace, Vec::new()),
            decider: &mut Nobody,
            approver: &mut Auto,
            policy: &Policy::none(),
            hooks: self.hooks.clone(),
            cancel: &self.cancel,
            watch,
        })
    }

    /// Returns the bodies of the run's records of a kind.
    pub(crate) fn bodies(&self, kind: &str) -> Vec<Value> {
        let records = records_of(&self.engine, &Self::spec().thread).expect("records");
        let kind = format!("core.work.{kind}.v1");
        let records = records.into_iter().filter(|stored| stored.record.kind() == Some(&kind));
        records.map(|stored| Value::Object(stored.record.body.clone())).collect()
    }
}

fn bash(command: &str) -> String {
    let command = Value::from(command).to_string();
    format!(r#"{{"tool_calls":[{{"name":"bash","args":{{"command":{command}}}}}]}}"#)
}

fn write_hook(engine: &Engine, name: &str) {
    let record = format!(
        r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
            "body":{{"kind":"core.hook.v1","topic":"hook","name":"{name}",
                     "when":"record.body.tool == \"bash\"","text":"heard of ${{tool}}"}}}}"#
    );
    engine.ingest(&Caller::operator(), record.as_bytes()).expect("a hook");
}

fn text<'a>(body: &'a Value, key: &str) -> &'a str {
    body.get(key).and_then(Value::as_str).expect("a text")
}

#[test]
fn a_confined_run_works_in_its_workspace_and_hears_its_hooks() {
    for way in ways() {
        let stage = Stage::new(way);
        stage.write_hook("of-the-start");
        let key = stage.stand.path("home/.ssh/id_ed25519");
        let read = format!("cat {}", key.display());
        let told = stage.stand.target("TCP").replace(':', "/");
        let call = format!("exec 3<>/dev/tcp/{told} && head -c 5 <&3");
        let commands = ["echo made > inside && pwd", &read, &call];
        let report = stage.play(&commands, &mut |_| {}).expect("a run");
        assert_eq!(report.outcome.verb, Verb::Completed, "{report:?}");
        assert_eq!((report.calls_ok, report.calls_failed, report.observations), (1, 2, 3));
        let made = fs::read_to_string(stage.stand.path("home/project/inside"));
        assert_eq!(made.expect("what it made"), "made\n");
        let results = stage.bodies("tool_result");
        let place = stage.stand.path("home/project").canonicalize().expect("there");
        assert!(text(&results[0], "content").contains(&place.display().to_string()));
        assert!(text(&results[1], "content").contains("No such file"), "{results:?}");
        for kind in ["loop", "loop_outcome"] {
            assert_eq!(text(&stage.bodies(kind)[0], "transport"), "sandboxed");
        }
        let records = records_of(&stage.engine, &report.thread).expect("records");
        let replayed = replay(&records, &|_| None).expect("a run");
        assert_eq!(replayed.state.outcome().map(|outcome| outcome.verb), Some(Verb::Completed));
    }
}

#[test]
fn a_hook_written_after_the_start_speaks_only_where_the_live_set_is_asked() {
    for way in ways().into_iter().take(1) {
        for (live, heard) in [(false, 0), (true, 1)] {
            let mut stage = Stage::new(way);
            if !live {
                stage.hooks = stage.engine.frozen_hooks().expect("hooks");
            }
            let engine = stage.engine.clone();
            let mut watch = |moment: Moment<'_>| {
                if matches!(moment, Moment::Calling(_)) {
                    write_hook(&engine, "later");
                }
            };
            let report = stage.play(&["true"], &mut watch).expect("a run");
            assert_eq!(report.outcome.verb, Verb::Completed);
            assert_eq!(report.observations, heard);
        }
    }
}

#[test]
fn a_call_of_a_run_that_is_stopped_is_stopped_inside() {
    for way in ways() {
        let stage = Stage::new(way);
        let cancel = stage.cancel.clone();
        let mut watch = |moment: Moment<'_>| {
            if matches!(moment, Moment::Calling(_)) {
                let cancel = cancel.clone();
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(100));
                    cancel.cancel();
                });
            }
        };
        let report = stage.play(&["sleep 500"], &mut watch).expect("a run");
        assert_eq!(report.outcome.verb, Verb::Cancelled);
        let results = stage.bodies("tool_result");
        assert!(text(&results[0], "content").contains("[cancelled]"), "{results:?}");
    }
}

/// The command ends everything inside that it may end, its own worker included.
#[test]
fn a_worker_that_is_killed_ends_the_run_with_what_is_known() {
    for way in ways() {
        let stage = Stage::new(way);
        stage.write_hook("of-the-start");
        let report = stage.play(&["kill -9 -1", "true"], &mut |_| {}).expect("a run");
        assert_eq!(report.outcome.verb, Verb::Failed);
        assert!(report.outcome.summary.contains("worker ended before"), "{report:?}");
        assert_eq!((report.calls_failed, report.observations), (1, 1));
        // Whoever comes next takes it up.
        let turns = vec![bash("kill -9 -1"), bash("true")];
        let report = stage.play_turns(turns, &mut |_| {}, |hands| {
            resume_confined(&Stage::spec().thread, hands, &stage.confined)
        });
        let report = report.expect("taken up");
        assert_eq!(report.outcome.verb, Verb::Completed, "{report:?}");
        assert_eq!((report.calls_ok, report.calls_failed, report.observations), (1, 1, 2));
    }
}

#[test]
fn a_confined_run_is_parked_decided_and_taken_up_in_its_place_only() {
    for way in ways().into_iter().take(1) {
        let stage = Stage::new(way);
        let ask = r#"{"tool_calls":[{"name":"request_decision","args":{"question":"go on?"}}]}"#;
        let turns = vec![bash("echo one > log"), ask.to_owned()];
        let parked = stage.play_turns(turns.clone(), &mut |_| {}, |hands| {
            drive_confined(Stage::spec(), hands, &stage.confined)
        });
        let parked = parked.expect("a run");
        assert_eq!(parked.outcome.verb, Verb::AwaitingActor, "{parked:?}");
        let by = ActorId::parse("did:sync:user:vera").expect("an actor");
        let request = parked.awaits.expect("a question");
        stage
            .engine
            .decide(&Caller::operator(), &by, request, &DecisionAnswer::new(DecisionVerb::Approved))
            .expect("decided");
        let thread = Stage::spec().thread;
        let open = stage.play_turns(vec![], &mut |_| {}, |hands| resume(&thread, hands));
        assert!(matches!(open, Err(RunError::Elsewhere { .. })), "{open:?}");
        let turns = [turns, vec![bash("echo two >> log")]].concat();
        let report = stage.play_turns(turns, &mut |_| {}, |hands| {
            resume_confined(&thread, hands, &stage.confined)
        });
        assert_eq!(report.expect("taken up").outcome.verb, Verb::Completed);
        let log = fs::read_to_string(stage.stand.path("home/project/log")).expect("a log");
        assert_eq!(log, "one\ntwo\n");
    }
}

#[test]
fn a_run_that_is_to_be_confined_is_not_driven_in_the_open() {
    let stage = Stage::new(Way::Namespaces);
    let open =
        stage.play_turns(vec![bash("true")], &mut |_| {}, |hands| drive(Stage::spec(), hands));
    assert!(matches!(open, Err(RunError::Elsewhere { .. })), "{open:?}");
    assert!(stage.bodies("loop").is_empty());
}

#[test]
fn where_there_is_no_sandbox_nothing_is_begun() {
    let mut stage = Stage::new(Way::Namespaces);
    stage.confined.ways = Vec::new();
    let refused = stage.play(&["true"], &mut |_| {});
    let Err(error @ RunError::Sandbox(_)) = refused else { panic!("{refused:?}") };
    assert_eq!(spl::code::Coded::code(&error).as_str(), "SANDBOX_UNAVAILABLE");
    assert!(stage.bodies("loop").is_empty());
}
