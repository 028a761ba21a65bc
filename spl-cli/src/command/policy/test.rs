//! `spl policy test`: what the policy hooks say to something that does not happen.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use spl::cancel::Cancel;
use spl::canon::{Limits, Object, parse};
use spl::object;
use spl::policy::polyglot::Event;
use spl::policy::{Handler, Policy, PolicyHook, Question, Ran, Reply, Verdict};

use crate::command::work_loop::cancel_when_told;
use crate::failure::{Exit, Failure};
use crate::output::{DIM, ERROR, GOOD, WARN, cut, printable};
use crate::policy;
use crate::session::Session;

/// The most characters of a command or a reason in a line.
const COLUMNS: usize = 88;

/// What is said where no hook is set up.
const NONE: &str = "no hook is set up for it";

/// What is said where hooks are set up that are not asked.
const NONE_ASKED: &str = "no hook is asked; `spl policy list` says which are set up, and why not";

/// Ask the policy hooks of a folder about something that does not happen
#[derive(Args, Debug)]
#[command(after_help = "\
The hooks are really run, in the folder and with what a run would hand to them. The tool is not.

Examples:
  spl policy test preToolUse --tool bash --input '{\"command\":\"rm -rf /\"}'
  spl policy test postToolUse --tool bash --input '{\"command\":\"ls\"}' --result 'a.txt'
  spl policy test userPromptSubmit --prompt 'tidy up'

Exit status: 0 no hook blocks it, 1 one does.")]
pub(crate) struct TestArgs {
    /// Where the run would be
    #[arg(value_name = "EVENT", value_parser = event())]
    event: Event,
    /// The tool that would be called
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// What it would be called with, a JSON object [default: {}]
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// The goal, for `userPromptSubmit`
    #[arg(long, value_name = "TEXT", conflicts_with = "tool")]
    prompt: Option<String>,
    /// What the tool would have said, for `postToolUse`
    #[arg(long, value_name = "TEXT", requires = "tool")]
    result: Option<String>,
    /// That the call would have failed, for `postToolUse`
    #[arg(long, requires = "tool")]
    error: bool,
    /// The folder [default: this one]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

/// Reads an event, in the words of the dialect.
fn event() -> impl TypedValueParser<Value = Event> {
    PossibleValuesParser::new(Event::ALL.map(Event::as_str))
        .try_map(|word| Event::parse(&word).ok_or("there is no such event"))
}

/// Asks the hooks, and shows what they say.
pub(super) fn test(session: &mut Session, args: &TestArgs) -> Result<u8, Failure> {
    let input = args.input()?;
    args.refuse_what_does_not_fit()?;
    let policy = policy::of(&policy::folder(args.workspace.as_deref())?)?;
    let result = args.result.as_deref().unwrap_or_default();
    // A run reads it so, and so do its hooks.
    let result = policy.shown(result);
    let tool = args.tool.as_deref().unwrap_or_default();
    let question = match args.event {
        Event::PreToolUse => Question::Before { tool, input: &input },
        Event::PostToolUse => {
            Question::After { tool, input: &input, text: &result, failed: args.error }
        }
        Event::UserPromptSubmit => {
            Question::Prompt { text: args.prompt.as_deref().unwrap_or_default() }
        }
    };
    let cancel = Cancel::new();
    cancel_when_told(&cancel)?;
    let verdict = policy.ask(&question, &cancel);
    let denied = policy.denies(tool, &input).filter(|_| args.event == Event::PreToolUse);
    let tested = Tested { event: args.event, question, verdict, denied, policy: &policy };
    session.out.answer(&tested.to_object(), |out| tested.print(out))?;
    Ok(if tested.verdict.block().is_some() { Exit::Error as u8 } else { 0 })
}

impl TestArgs {
    fn input(&self) -> Result<Object, Failure> {
        let Some(input) = &self.input else { return Ok(Object::new()) };
        let read = parse(input.as_bytes(), Limits::DOOR)
            .map_err(|error| Failure::usage(format!("--input is not JSON: {error}")))?;
        read.into_object().ok_or_else(|| Failure::usage("--input is not a JSON object"))
    }

    fn refuse_what_does_not_fit(&self) -> Result<(), Failure> {
        let event = self.event.as_str();
        let wants = |what: &str| Err(Failure::usage(format!("{event} is about a {what}")));
        match self.event {
            Event::UserPromptSubmit if self.prompt.is_none() => {
                wants("prompt").map_err(|failure: Failure| failure.with_hint("Add --prompt TEXT."))
            }
            Event::PreToolUse | Event::PostToolUse if self.tool.is_none() => {
                wants("tool").map_err(|failure| failure.with_hint("Add --tool NAME."))
            }
            Event::PreToolUse if self.result.is_some() || self.error => {
                Err(Failure::usage("preToolUse comes before there is a result"))
            }
            _ => Ok(()),
        }
    }
}

/// What was asked, and what came of it.
struct Tested<'a> {
    event: Event,
    question: Question<'a>,
    verdict: Verdict,
    /// Why the call would be refused before any hook is asked, if it would.
    denied: Option<String>,
    policy: &'a Policy,
}

impl Tested<'_> {
    /// Returns each hook of the event, whether it is concerned, and what it answered if it was asked.
    fn hooks(&self) -> impl Iterator<Item = (&PolicyHook, bool, Option<&Ran>)> {
        let of_event = self.policy.hooks().iter().filter(|hook| hook.seam == self.event.seam());
        of_event.map(|hook| {
            let ran = self.verdict.ran.iter().find(|ran| ran.source == hook.source);
            (hook, hook.concerns(&self.question), ran)
        })
    }

    fn to_object(&self) -> Object {
        let block = self.verdict.block();
        let hooks: Vec<Object> = self
            .hooks()
            .map(|(hook, matched, ran)| {
                object! {
                    "answer": ran.map(|ran| answer(&ran.reply)),
                    "command": command_of(hook),
                    "exit": ran.and_then(|ran| ran.exit),
                    "matched": matched,
                    "ms": ran.map(|ran| ran.took_ms),
                    "source": hook.source.to_string(),
                }
            })
            .collect();
        let warnings: Vec<String> =
            self.verdict.warnings().map(|warning| warning.to_string()).collect();
        object! {
            "context": self.verdict.context(),
            "decision": if block.is_some() { "block" } else { "proceed" },
            "denied": self.denied.as_deref(),
            "event": self.event.as_str(),
            "hooks": hooks,
            "object": "policy_test",
            "reason": block.map(|block| block.reason.as_str()),
            "warnings": warnings,
        }
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let event = self.event.as_str();
        match self.verdict.block() {
            Some(block) => {
                let reason = cut(&block.reason, COLUMNS);
                writeln!(out, "{ERROR}✗{ERROR:#} {event} would be blocked: {reason}")?;
            }
            None => writeln!(out, "{GOOD}✓{GOOD:#} {event} would proceed")?,
        }
        if let Some(why) = &self.denied {
            let why = printable(why);
            writeln!(
                out,
                "  {WARN}the settings deny the call before hooks are asked:{WARN:#} {why}"
            )?;
        }
        for line in self.verdict.context().into_iter().flat_map(str::lines) {
            writeln!(out, "  {DIM}context{DIM:#} {}", printable(line))?;
        }
        if self.hooks().next().is_none() {
            let none = if self.policy.skipped().is_empty() { NONE } else { NONE_ASKED };
            return writeln!(out, "  {none}");
        }
        self.hooks().try_for_each(|(hook, matched, ran)| show(hook, matched, ran, out))
    }
}

fn show(
    hook: &PolicyHook,
    matched: bool,
    ran: Option<&Ran>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let source = hook.source.to_string();
    writeln!(out, "  {DIM}{}{DIM:#}  {}", printable(&source), cut(command_of(hook), COLUMNS))?;
    let Some(Ran { reply, took_ms, exit, .. }) = ran else {
        let why = if matched { "not asked: another one blocked" } else { "not about this tool" };
        return writeln!(out, "    {why}");
    };
    // What failed says itself how it ended.
    let exit = exit.filter(|_| !matches!(reply, Reply::Failed { .. }));
    let exit = exit.map(|exit| format!("exit {exit}, ")).unwrap_or_default();
    writeln!(out, "    {}  {DIM}({exit}took {took_ms} ms){DIM:#}", cut(&said(reply), COLUMNS))
}

/// Returns the word of a reply for programs.
const fn answer(reply: &Reply) -> &'static str {
    match reply {
        Reply::Proceed { .. } => "proceed",
        Reply::Block { .. } => "block",
        Reply::Failed { .. } => "error",
        Reply::Cancelled => "cancelled",
    }
}

/// Returns a reply in words.
fn said(reply: &Reply) -> String {
    match reply {
        Reply::Proceed { context: None } => "lets it proceed".to_owned(),
        Reply::Proceed { context: Some(_) } => "lets it proceed, and adds words".to_owned(),
        Reply::Block { reason } => format!("blocks: {reason}"),
        Reply::Failed { how, detail } if detail.is_empty() => format!("failed, {how}"),
        Reply::Failed { how, detail } => format!("failed, {how}: {detail}"),
        Reply::Cancelled => "was interrupted".to_owned(),
    }
}

/// Returns the command of a hook, as it stands in the settings.
pub(super) fn command_of(hook: &PolicyHook) -> &str {
    match &hook.handler {
        Handler::Command(command) => command,
    }
}
