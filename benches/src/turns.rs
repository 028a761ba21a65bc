//! What the engine adds to a tool call: records, rulings, hooks and observations, all of it durable,
//! beside a loop that does nothing but ask the same model and call the same tool.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use spl::cancel::Cancel;
use spl::canon::Object;
use spl::engine::{Engine, EngineOptions, Hooks};
use spl::model::{CallRequest, Message, Model, ModelError, Reply, StopReason, TurnRequest, Usage};
use spl::object;
use spl::policy::Policy;
use spl::record::{ActorId, ThreadId};
use spl::run::{Auto, Hands, Limits, Nobody, RunSpec, Verb, drive};
use spl::store::Stage;
use spl::tool::{Answer, Tool, ToolSpec, Toolbox};

use crate::hooks;
use crate::records::quantile;

/// Turns of one call each.
const TURNS: usize = 500;

pub fn run() {
    println!("\n## A turn with one tool call, durable ({TURNS} turns in one run)\n");
    println!(
        "| hooks loaded | the bare loop, a call: p50 | ours: p50, p99 | added: p50 | commits a call \
         | commits a turn | a commit alone: p50 |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    for loaded in [0, 1_000, 10_000] {
        let mut bare = bare();
        let folder = tempfile::tempdir_in(".").expect("a folder");
        let Measured { mut turns, mut commits, calls } = ours(folder.path(), loaded);
        let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
        let (plain, half) = (quantile(&mut bare, 0.5), quantile(&mut turns, 0.5));
        let count = commits.len() as f64 / TURNS as f64;
        println!(
            "| {loaded} | {:.1} µs | {:.0} µs, {:.0} µs | {:.0} µs | {calls:.0} | {count:.2} | {:.0} µs |",
            micros(plain),
            micros(half),
            micros(quantile(&mut turns, 0.99)),
            micros(half.saturating_sub(plain)),
            micros(quantile(&mut commits, 0.5)),
        );
    }
}

struct Measured {
    /// From one turn to the next.
    turns: Vec<Duration>,
    /// What each commit took.
    commits: Vec<Duration>,
    /// Commits between a call that is proposed and its result in front of the model.
    calls: f64,
}

/// A loop without an engine: ask, call, remember.
fn bare() -> Vec<Duration> {
    let (mut model, tools) = (Caller::default(), tools());
    let cancel = Cancel::new();
    let mut request = TurnRequest::default();
    let mut times = Vec::new();
    loop {
        let begun = Instant::now();
        // Ours is handed a copy of what was said so far, too.
        let asked = request.clone();
        let reply = model.turn(&asked, &cancel, &mut |_| {}).expect("a reply");
        let Some(call) = reply.calls.first().cloned() else { return times };
        request.messages.push(Message::Assistant { text: reply.text, calls: reply.calls });
        let answer = tools.call(&call.name, &call.args, &cancel);
        request.messages.push(Message::ToolResult {
            call_id: call.id,
            tool: call.name,
            text: answer.shown,
            failed: false,
        });
        times.push(begun.elapsed());
    }
}

fn ours(folder: &Path, loaded: usize) -> Measured {
    let home = hooks::home(folder, loaded, hooks::mixed);
    let commits = Arc::new(std::sync::Mutex::new((Instant::now(), Vec::new())));
    let count = Arc::new(AtomicU64::new(0));
    let probe = {
        let (commits, count) = (Arc::clone(&commits), Arc::clone(&count));
        move |stage| {
            let mut commits = commits.lock().expect("the commits");
            match stage {
                Stage::Begun => commits.0 = Instant::now(),
                Stage::Committed => {
                    let took = commits.0.elapsed();
                    commits.1.push(took);
                    count.fetch_add(1, Ordering::Relaxed);
                }
                _ => {}
            }
        }
    };
    let options = EngineOptions { probe: Some(Box::new(probe)), ..EngineOptions::default() };
    let engine = Engine::open(&home, options).expect("an engine");
    assert_eq!(engine.live().expect("live").hooks.len(), loaded);
    let thread = ThreadId::parse("th_bench").expect("a thread");
    let actor = ActorId::parse("did:sync:agent:bench").expect("an actor");
    let spec = RunSpec { limits: Limits::NONE, ..RunSpec::new(thread, actor, "go on", "bench") };
    let mut turns = Vec::new();
    let mut of_calls = Vec::new();
    let mut last: Option<Instant> = None;
    let mut proposed = 0;
    let mut watch = |moment: spl::run::Moment<'_>| match moment {
        spl::run::Moment::Replied { .. } => {
            turns.extend(last.map(|last: Instant| last.elapsed()));
            last = Some(Instant::now());
            // The record of the turn is the next commit; the call's own come after it.
            proposed = count.load(Ordering::Relaxed) + 1;
        }
        spl::run::Moment::Returned { .. } => {
            // The result's commit is still to come.
            of_calls.push(count.load(Ordering::Relaxed) + 1 - proposed);
        }
        _ => {}
    };
    let hands = Hands {
        engine: &engine,
        model: &mut Caller::default(),
        tools: &tools(),
        decider: &mut Nobody,
        approver: &mut Auto,
        policy: &Policy::none(),
        hooks: Hooks::Live,
        cancel: &Cancel::new(),
        watch: &mut watch,
    };
    let report = drive(spec, hands).expect("a run");
    assert_eq!(report.outcome.verb, Verb::Completed);
    let commits = commits.lock().expect("the commits").1.clone();
    let calls = of_calls.iter().sum::<u64>() as f64 / of_calls.len() as f64;
    Measured { turns, commits, calls }
}

/// A model that calls the tool, and then says that it is done.
#[derive(Default)]
struct Caller {
    turns: usize,
}

impl Model for Caller {
    fn turn(
        &mut self,
        _: &TurnRequest,
        _: &Cancel,
        _: &mut dyn FnMut(&str),
    ) -> Result<Reply, ModelError> {
        self.turns += 1;
        let call = CallRequest {
            id: format!("c{}", self.turns),
            name: "look".to_owned(),
            args: object! { "at": self.turns },
            malformed: None,
        };
        let calls = if self.turns > TURNS { Vec::new() } else { vec![call] };
        let stop = if calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
        Ok(Reply { text: "on".to_owned(), calls, usage: Usage::default(), stop })
    }

    fn name(&self) -> &str {
        "bench"
    }
}

/// A tool that answers at once.
struct Look(ToolSpec);

impl Tool for Look {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call(&self, arguments: &Object, _: &Cancel) -> Answer {
        Answer::ok(format!("looked at {:?}", arguments.get("at")))
    }
}

fn tools() -> Toolbox {
    let mut tools = Toolbox::new();
    let spec =
        ToolSpec::new("look", "Looks.", object! { "at": object! { "type": "integer" } }, &[]);
    tools.add(Box::new(Look(spec))).expect("a tool of its own name");
    tools
}
