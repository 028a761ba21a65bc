//! Whole runs by a provider, in each wire format: real tools, a real store, and a provider that keeps
//! what it was asked.

use std::path::Path;

use mock_provider::{Fault, MockProvider, Script, Turn};
use serde_json::json;
use spl::cancel::Cancel;
use spl::engine::{Caller, Engine, EngineOptions, Home, Hooks};
use spl::policy::Policy;
use spl::record::{ActorId, ThreadId};
use spl::run::{Auto, Hands, Limits, Nobody, Report, RunSpec, Verb, drive, records_of, replay};
use spl::tool::{Toolbox, Workspace};

use crate::support::{FORMATS, pace, providers};

const LESSON: &str = r#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
    "clock":0,"body":{"kind":"core.hook.v1","topic":"hook","name":"shell-failed",
    "when":"record.body.tool == \"bash\" && record.body.status != \"ok\"",
    "text":"${tool} ended with ${status}; read stderr first."}}"#;

/// A home and a workspace.
struct Ground {
    folder: tempfile::TempDir,
    engine: Engine,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("workspace")).expect("a workspace");
        let engine = open(folder.path());
        Self { folder, engine }
    }

    /// Plays a script as a provider in the format of `model`, within these limits.
    fn play(&self, model: &str, script: Script, limits: Limits) -> (Report, MockProvider) {
        let provider = MockProvider::start(script);
        let providers = providers(&provider.url()).with_pace(pace());
        let mut plays = providers.model(model).expect("a model");
        let workspace = Workspace::open(self.folder.path().join("workspace")).expect("open");
        let path = std::env::var("PATH").expect("a path");
        let tools = Toolbox::of_workspace(&workspace, vec![("PATH".to_owned(), path)]);
        let thread = ThreadId::parse("th_run").expect("a thread");
        let actor = ActorId::parse("did:sync:agent:clerk").expect("an actor");
        let price = providers.price(model);
        let spec = RunSpec { limits, price, ..RunSpec::new(thread, actor, "build it", model) };
        let report = drive(
            spec,
            Hands {
                engine: &self.engine,
                model: plays.as_mut(),
                tools: &tools,
                decider: &mut Nobody,
                approver: &mut Auto,
                policy: &Policy::none(),
                hooks: Hooks::Live,
                cancel: &Cancel::new(),
                watch: &mut |_| {},
            },
        );
        let report = report.expect("a run");
        let records = records_of(&self.engine, &report.thread).expect("records");
        let replayed = replay(&records, &|_| None).expect("replayed");
        let outcome = replayed.state.outcome().map(|outcome| outcome.verb);
        assert_eq!(outcome, Some(report.outcome.verb), "{model}");
        assert_eq!(replayed.state.spent(), &report.spent, "{model}");
        assert_eq!(self.engine.store().verify(|_, _| {}).expect("verified").fault, None);
        (report, provider)
    }
}

fn open(folder: &Path) -> Engine {
    let home = Home::at(folder.join("home"));
    home.initialise("vera").expect("a home");
    Engine::open(&home, EngineOptions::default()).expect("an engine")
}

/// A turn that fails a command of its own.
fn failing(number: usize) -> Turn {
    Turn::call("bash", json!({ "command": format!("echo {number} >> tried; exit {number}") }))
}

#[test]
fn a_hook_written_mid_run_is_in_the_body_of_the_next_request() {
    for model in FORMATS {
        let ground = Ground::new();
        let writer = open(ground.folder.path());
        let script =
            Script::new([failing(1), failing(2), Turn::text("Done.")]).before(1, move || {
                writer.ingest(&Caller::operator(), LESSON.as_bytes()).expect("a hook");
            });
        let (report, provider) = ground.play(model, script, Limits::NONE);
        // Every call failed, and closing words do not make a success of that.
        assert_eq!(report.outcome.verb, Verb::Failed, "{model}");
        assert_eq!((report.observations, report.calls_failed), (1, 2), "{model}");
        let words = "shell-failed: bash ended with error; read stderr first.";
        let heard: Vec<bool> =
            provider.requests().iter().map(|request| request.to_string().contains(words)).collect();
        assert_eq!(heard, [false, false, true], "{model}");
        let tried = ground.folder.path().join("workspace/tried");
        assert_eq!(std::fs::read_to_string(tried).expect("a file"), "1\n2\n", "{model}");
    }
}

#[test]
fn each_budget_holds_in_each_format() {
    let turns = || {
        Script::new((0..9).map(|n| Turn::call("bash", json!({ "command": format!("echo {n}") }))))
    };
    for model in FORMATS {
        let within = |limits: Limits| {
            let (report, provider) = Ground::new().play(model, turns(), limits);
            let budget = report.outcome.budget.map(spl::run::BudgetKind::as_str);
            (report.outcome.verb, budget, provider.requests().len())
        };
        // Each turn reads 100 tokens and writes 10.
        let tokens = Limits { token_budget: Some(250), ..Limits::NONE };
        assert_eq!(within(tokens), (Verb::BudgetExhausted, Some("tokens"), 3), "{model}");
        let money = Limits { usd_budget: Some(1), ..Limits::NONE };
        assert_eq!(within(money), (Verb::BudgetExhausted, Some("usd"), 1), "{model}");
        let few = Limits { max_turns: Some(2), ..Limits::NONE };
        assert_eq!(within(few), (Verb::MaxTurns, Some("turns"), 2), "{model}");
    }
}

#[test]
fn a_provider_that_hangs_is_left_when_the_time_is_up() {
    for model in FORMATS {
        let hangs = Script::new([Turn::text("never").with_fault(Fault::Hang, 9)]);
        let limits = Limits { wall_clock_secs: Some(1), ..Limits::NONE };
        let (report, _) = Ground::new().play(model, hangs, limits);
        let budget = report.outcome.budget.map(spl::run::BudgetKind::as_str);
        assert_eq!((report.outcome.verb, budget), (Verb::BudgetExhausted, Some("wall_clock")));
    }
}

/// A reply that broke off, calls with one id, and arguments that are none: what can be made good is,
/// and nothing that is half is executed.
#[test]
fn what_a_provider_gets_wrong_is_made_good_and_nothing_half_is_executed() {
    for model in FORMATS {
        let script = Script::new([
            Turn::text("")
                .and_raw_call("c1", "bash", r#"{"command": "echo once >> made"}"#)
                .and_raw_call("c1", "bash", r#"{"command": "echo twice >> made"}"#),
            Turn::text("Done."),
        ]);
        let ground = Ground::new();
        let (report, provider) = ground.play(model, script, Limits::NONE);
        assert_eq!(report.outcome.verb, Verb::Completed, "{model}");
        let made = std::fs::read_to_string(ground.folder.path().join("workspace/made"));
        assert_eq!(made.expect("a file"), "once\ntwice\n", "{model}");
        assert_eq!(provider.requests().len(), 2, "{model}");

        let cut = Turn::call("bash", json!({ "command": "echo half >> half" }));
        let broken = Script::new([cut.with_fault(Fault::CutAfter(1), 9)]);
        let ground = Ground::new();
        let (report, _) = ground.play(model, broken, Limits::NONE);
        assert_eq!(
            (report.outcome.verb, report.outcome.resumable),
            (Verb::Failed, true),
            "{model}"
        );
        assert!(!ground.folder.path().join("workspace/half").exists(), "{model}");
    }
}
