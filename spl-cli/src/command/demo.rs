//! `spl demo`: the main job, in front of your eyes.
//!
//! Everything in it is real: a store in a temporary home, a loop with real tools in the current
//! folder, and a second process that writes the lesson with `spl know` while the loop runs. Only
//! the model plays a script, so that the story is the same each time.

use std::path::Path;
use std::process::{Command, Output as Finished};

use anstream::adapter::strip_str;
use clap::Args;
use spl::cancel::Cancel;
use spl::engine::{Engine, EngineOptions, Home, Hooks};
use spl::model::{Message, Model, ModelError, Reply, Scripted, TurnRequest};
use spl::object;
use spl::policy::Policy;
use spl::record::ActorId;
use spl::run::{Auto, Hands, Limits, Moment, Nobody, RunSpec, drive};
use spl::tool::Workspace;

use super::work_loop::{Show, mint, tools_of};
use crate::failure::Failure;
use crate::output::{DIM, Form, NAME, Output, quote};
use crate::session::Session;

/// Show the main job: a running loop hears a lesson that another process writes
#[derive(Args, Debug)]
#[command(after_help = "\
Works in a temporary home and reads the current folder; nothing of yours is changed.

Example:
  spl demo")]
pub(crate) struct DemoArgs {}

const SCRIPT: &str = r#"{"turns":[
  {"text":"I look around.","tool_calls":[{"name":"list_dir","args":{}}]},
  {"text":"I read the notes.","tool_calls":[{"name":"bash","args":{"command":"cat NOTES.draft"}}]},
  {"text":"I try the other name.",
   "tool_calls":[{"name":"bash","args":{"command":"cat notes.draft"}}]},
  {"text":"I was told to read stderr: there is no such file. I look for one that is there.",
   "tool_calls":[{"name":"bash","args":{"command":"ls"}}]},
  {"text":"There are no notes here; the folder is as listed."}
]}"#;

/// The turn during which the lesson is written.
const LESSON_AT_TURN: u32 = 3;

const LESSON: &str = concat!(
    r#"{"kind":"core.hook.v1","topic":"hook","name":"shell-failed","#,
    r#""when":"record.body.tool == \"bash\" && record.body.status != \"ok\"","#,
    r#""text":"${tool} ended with ${status}; read stderr first.","max_fires_per_run":2}"#
);

const FORBIDDEN: &str = concat!(
    r#"{"kind":"core.hook.v1","topic":"hook","name":"bossy","#,
    r#""when":"true","text":"stop","priority":1}"#
);

/// Plays the story.
pub(crate) fn demo(session: &mut Session, _: &DemoArgs) -> Result<u8, Failure> {
    session.refuse_server("spl demo")?;
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::local("a temporary home could not be made", &error))?;
    let home = Home::at(folder.path().join("home"));
    home.initialise("demo").map_err(|error| Failure::coded(&error))?;
    let engine =
        Engine::open(&home, EngineOptions::default()).map_err(|error| Failure::coded(&error))?;
    let workspace = Workspace::open(Path::new(".")).map_err(|error| Failure::coded(&error))?;
    let script = Scripted::parse(SCRIPT.as_bytes(), workspace.path());
    let mut model =
        Reading { script: script.map_err(|error| Failure::coded(&error))?, read: Vec::new() };
    let actor = ActorId::parse("did:sync:agent:demo").map_err(|e| Failure::usage(e.to_string()))?;
    let goal = "find the notes of this project";
    let thread = mint(&actor, goal)?;
    let limits = Limits { max_turns: Some(10), ..Limits::NONE };
    let spec = RunSpec { limits, ..RunSpec::new(thread, actor, goal, model.name()) };
    let tools = tools_of(&engine, &spec, Some(&workspace), false)?;
    let mut story =
        Story { out: &mut session.out, home: &home, failure: None, show: Show::default() };
    story.say("A loop starts. No lesson has been written yet.")?;
    story.run(&["health"])?;
    let hands = Hands {
        engine: &engine,
        model: &mut model,
        tools: &tools,
        decider: &mut Nobody,
        approver: &mut Auto,
        policy: &Policy::none(),
        hooks: Hooks::Live,
        cancel: &Cancel::new(),
        watch: &mut |moment| story.tell(&moment),
    };
    let report = drive(spec, hands).map_err(|error| Failure::coded(&error))?;
    if let Some(failure) = story.failure.take() {
        return Err(failure);
    }
    story
        .say("What the model read after its third turn, the result and the lesson side by side:")?;
    for line in model.read {
        story.line(&format!("    {line}"))?;
    }
    story.say("A hook can only add words. One that tries to do more is refused by name:")?;
    let refused = story.run(&write_hook(FORBIDDEN))?;
    story.say("Every step is a signed record, and the chain holds:")?;
    story.run(&["verify"])?;
    let heard = report.observations > 0;
    let answer = object! {
        "object": "demo",
        "observations": report.observations,
        "outcome": report.outcome.verb.as_str(),
        "refused": !refused,
    };
    session.out.answer(&answer, |_| Ok(()))?;
    Ok(u8::from(!(heard && !refused && report.outcome.success())))
}

fn write_hook(body: &str) -> [&str; 9] {
    let (thread, actor) = ("th_engine_config", "did:sync:system:engine");
    ["know", "--thread", thread, "--actor", actor, "--act", "LEARN", "--body", body]
}

/// A model that remembers what it was shown behind its third turn.
struct Reading {
    script: Scripted,
    read: Vec<String>,
}

impl Model for Reading {
    fn turn(
        &mut self,
        request: &TurnRequest,
        cancel: &Cancel,
        words: &mut dyn FnMut(&str),
    ) -> Result<Reply, ModelError> {
        let turns = request
            .messages
            .iter()
            .filter(|said| matches!(said, Message::Assistant { .. }))
            .count();
        if turns == LESSON_AT_TURN as usize {
            let last =
                request.messages.iter().rposition(|said| matches!(said, Message::Assistant { .. }));
            let since = request.messages.iter().skip(last.map_or(0, |last| last + 1));
            self.read = since.flat_map(lines_of).collect();
        }
        self.script.turn(request, cancel, words)
    }

    fn name(&self) -> &str {
        self.script.name()
    }
}

fn lines_of(message: &Message) -> Vec<String> {
    match message {
        Message::ToolResult { tool, text, failed, .. } => {
            let status = if *failed { "error" } else { "ok" };
            std::iter::once(format!("{tool} ({status}):"))
                .chain(text.lines().map(|line| format!("  {line}")))
                .collect()
        }
        Message::Observation { rule, text } => vec![format!("{rule}: {text}")],
        Message::User { .. } | Message::Assistant { .. } | Message::Notice { .. } => Vec::new(),
    }
}

/// Tells the run as it happens, and writes the lesson in the middle of it.
struct Story<'a> {
    out: &'a mut Output,
    home: &'a Home,
    failure: Option<Failure>,
    show: Show,
}

impl Story<'_> {
    fn tell(&mut self, moment: &Moment<'_>) {
        if self.failure.is_some() {
            return;
        }
        let told = self.show.moment(self.out, moment).and_then(|()| match moment {
            Moment::Replied { turn: LESSON_AT_TURN, .. } => self.teach(),
            _ => Ok(()),
        });
        self.failure = told.err();
    }

    /// Another process writes the lesson, while the loop is in the middle of a turn.
    fn teach(&mut self) -> Result<(), Failure> {
        self.say("Meanwhile, in another process, one write:")?;
        self.run(&write_hook(LESSON))?;
        self.run(&["health"])?;
        self.say("The loop goes on with the call of its third turn:")
    }

    /// Runs this very program on the demo's home, and shows what it says. Tells whether all went
    /// well.
    fn run(&mut self, arguments: &[&str]) -> Result<bool, Failure> {
        let finished = self.spawn(arguments)?;
        let quoted: Vec<String> = arguments.iter().map(|argument| quote(argument)).collect();
        self.line(&format!("  {DIM}$ spl {}{DIM:#}", quoted.join(" ")))?;
        let said = [finished.stdout.as_slice(), finished.stderr.as_slice()].concat();
        let said = String::from_utf8_lossy(&said);
        let lines = said.lines().filter(|line| arguments != ["health"] || line.contains("hook"));
        for line in lines {
            self.line(&format!("  {line}"))?;
        }
        Ok(finished.status.success())
    }

    fn spawn(&self, arguments: &[&str]) -> Result<Finished, Failure> {
        let failed = |error: std::io::Error| Failure::local("spl could not be started", &error);
        Command::new(std::env::current_exe().map_err(failed)?)
            .args(arguments)
            .env_clear()
            .env("SYNCROPEL_HOME", self.home.path())
            .output()
            .map_err(failed)
    }

    fn say(&mut self, words: &str) -> Result<(), Failure> {
        self.line(&format!("\n{NAME}{words}{NAME:#}"))
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        if self.out.form() == Form::Json {
            return Ok(());
        }
        let row = object! { "object": "story", "text": strip_str(line).to_string() };
        self.out.row(&row.into(), |text| writeln!(text, "{line}"))
    }
}
