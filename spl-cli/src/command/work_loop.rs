//! `spl work-loop`: run a goal to its end, in this process.

mod show;

use std::path::PathBuf;

use clap::Args;
use spl::cancel::Cancel;
use spl::engine::Engine;
use spl::identity::random_bytes;
use spl::model::{Echo, Model, Scripted};
use spl::object;
use spl::record::{ActorId, NameError, Namespace};
use spl::run::{Moment, Report, RunSpec, drive};
use spl::tool::{Grants, RecordSeat, Toolbox, Workspace, allowed_environment, record_tools};

use super::tool::{grant, variables};
use crate::failure::Failure;
use crate::home;
use crate::output::{Output, plural};
use crate::session::Session;
use crate::signals::told_to_end;
pub(super) use show::show;

/// Run a goal to its end, and show its turns as they happen
#[derive(Args, Debug)]
#[command(after_help = "\
The run works in this process, on the store of this machine's instance, and hears every hook
from the moment it is written. `bash` starts in the workspace and is not confined to it.

Examples:
  spl work-loop \"say hello\" --echo --workspace .
  spl work-loop \"tidy up\" --script turns.json --workspace ~/project --max-turns 10

A script is {\"turns\":[{\"text\":\"…\",\"tool_calls\":[{\"name\":\"bash\",\"args\":{\"command\":\"ls\"}}]}]}.
The exit status is 0 if the run completed, else 1.")]
pub(crate) struct WorkLoopArgs {
    /// What is to be reached
    goal: String,
    /// Play the turns of this file
    #[arg(long, value_name = "FILE", required_unless_present = "echo", conflicts_with = "echo")]
    script: Option<PathBuf>,
    /// Play the model that says what it was told
    #[arg(long)]
    echo: bool,
    /// The folder in which the tools work
    #[arg(long, value_name = "DIR")]
    workspace: PathBuf,
    /// The tools it may call, with commas between; a `*` at the end is any name that begins so
    #[arg(long, value_name = "NAMES", value_parser = Grants::parse)]
    tools: Option<Grants>,
    /// The most turns
    #[arg(long, value_name = "N", default_value_t = RunSpec::DEFAULT_MAX_TURNS,
          value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: u32,
    /// Where the run stands; it hears the hooks of this namespace and of those above it
    #[arg(long, value_name = "NS", default_value = "default")]
    namespace: String,
    /// Who runs
    #[arg(long, value_name = "DID", default_value = "did:sync:agent:spl")]
    actor: String,
    /// What the work is trusted under
    #[arg(long, value_name = "D", default_value = "general")]
    domain: String,
}

/// Runs a goal to its end.
pub(crate) fn work_loop(session: &mut Session, args: &WorkLoopArgs) -> Result<u8, Failure> {
    session.refuse_server("spl work-loop")?;
    let workspace = Workspace::open(&args.workspace).map_err(|error| Failure::coded(&error))?;
    let mut model = model_of(args, &workspace)?;
    let spec = spec_of(args, model.name())?;
    let home = home::made()?;
    let engine = home::open(&home)?;
    let mut tools = tools_of(&engine, &spec, &workspace)?;
    grant(&home, args.tools.as_ref(), &mut tools)?;
    let cancel = Cancel::new();
    cancel_when_told(&cancel)?;
    let report = play(&mut session.out, &engine, spec, model.as_mut(), &tools, &cancel)?;
    tell(&mut session.out, &report)?;
    Ok(u8::from(!report.outcome.success()))
}

/// Drives a run and shows it. Whoever stops reading stops the run.
pub(super) fn play(
    out: &mut Output,
    engine: &Engine,
    spec: RunSpec,
    model: &mut dyn Model,
    tools: &Toolbox,
    cancel: &Cancel,
) -> Result<Report, Failure> {
    let mut unsaid = None;
    let mut watch = |moment: Moment<'_>| {
        if unsaid.is_none()
            && let Err(failure) = show(out, &moment)
        {
            unsaid = Some(failure);
            cancel.cancel();
        }
    };
    let report = drive(engine, spec, model, tools, cancel, &mut watch)
        .map_err(|error| Failure::coded(&error))?;
    unsaid.map_or(Ok(report), Err)
}

fn model_of(args: &WorkLoopArgs, workspace: &Workspace) -> Result<Box<dyn Model>, Failure> {
    let Some(path) = &args.script else { return Ok(Box::new(Echo)) };
    let script = std::fs::read(path).map_err(|error| {
        Failure::usage(format!("`{}` could not be read: {error}", path.display()))
    })?;
    let scripted = Scripted::parse(&script, workspace.path());
    Ok(Box::new(scripted.map_err(|error| Failure::coded(&error))?))
}

fn spec_of(args: &WorkLoopArgs, model: &str) -> Result<RunSpec, Failure> {
    let actor = ActorId::parse(&args.actor).map_err(|error| misnamed("--actor", &error))?;
    let namespace =
        Namespace::parse(&args.namespace).map_err(|error| misnamed("--namespace", &error))?;
    mint(&actor, &args.goal).map(|thread| RunSpec {
        thread,
        actor,
        goal: args.goal.clone(),
        namespace,
        domain: args.domain.clone(),
        model: model.to_owned(),
        max_turns: args.max_turns,
    })
}

/// Names a new run.
pub(super) fn mint(actor: &ActorId, goal: &str) -> Result<spl::record::ThreadId, Failure> {
    let nonce = random_bytes::<32>()
        .map_err(|error| Failure::local("the run could not be named", &error))?;
    RunSpec::mint_thread(actor, goal, &nonce).map_err(|error| misnamed("the run", &error))
}

fn misnamed(what: &str, error: &NameError) -> Failure {
    Failure::usage(format!("{what} {error}"))
}

/// Returns the tools of a run: those of its workspace, and those over the store.
pub(super) fn tools_of(
    engine: &Engine,
    spec: &RunSpec,
    workspace: &Workspace,
) -> Result<Toolbox, Failure> {
    let environment = allowed_environment(variables());
    let mut tools = Toolbox::of_workspace(workspace, environment);
    let seat = RecordSeat {
        engine: engine.clone(),
        thread: spec.thread.clone(),
        actor: spec.actor.clone(),
        namespace: spec.namespace.clone(),
    };
    for tool in record_tools(&seat) {
        tools.add(tool).map_err(|error| Failure::coded(&error))?;
    }
    Ok(tools)
}

/// Lets whoever tells this process to end, be it by a key, a signal or by closing the terminal, end
/// the run in order: what it has started is killed, and its outcome is recorded.
fn cancel_when_told(cancel: &Cancel) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::local("the runtime could not be started", &error))?;
    let within = runtime.enter();
    let told = told_to_end()?;
    drop(within);
    let cancel = cancel.clone();
    std::thread::spawn(move || {
        runtime.block_on(told);
        cancel.cancel();
    });
    Ok(())
}

fn tell(out: &mut Output, report: &Report) -> Result<(), Failure> {
    let Report { outcome, turns, calls_ok, calls_failed, observations, thread } = report;
    let answer = object! {
        "object": "work_loop",
        "observations": *observations,
        "outcome": outcome.verb.as_str(),
        "success": outcome.success(),
        "summary": outcome.summary.as_str(),
        "thread": thread,
        "tool_calls_failed": *calls_failed,
        "tool_calls_ok": *calls_ok,
        "turns": *turns,
    };
    out.answer(&answer, |text| {
        writeln!(
            text,
            "{turns}, {calls_ok} calls ok, {calls_failed} failed, {heard}\n\
             See it again: spl thread records {thread}",
            turns = plural((*turns).into(), "turn"),
            heard = plural((*observations).into(), "observation"),
        )
    })
}
