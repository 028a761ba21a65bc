//! `spl work-loop`: run a goal to its end, in this process.

mod approve;
mod ask;
mod attach;
mod equip;
mod play;
mod remote;
mod report;
mod show;
mod spec;
mod typist;

use std::path::PathBuf;

use clap::Args;
use spl::engine::Engine;
use spl::model::Model;
use spl::record::{ActorId, ThreadId};
use spl::run::{
    Approver, Auto, HostError, RunError, RunSpec, Transport, Verb, ask_prompt, drive,
    drive_confined, recorded_spec, resume, resume_confined,
};
use spl::tool::{Grants, Workspace};

use super::tool::grant;
use crate::failure::{Exit, Failure};
use crate::home;
use crate::output::quote;
use crate::policy;
use crate::session::{self, Session};
use approve::{Approve, ByTypist};
use ask::AtTerminal;
use attach::Attached;
pub(super) use equip::{place, tools_of};
pub(super) use play::{Players, cancel_when_told, play};
pub(super) use show::Show;
pub(super) use spec::mint;
use typist::Typist;

/// The exit status of a run that waits for somebody's decision.
const WAITS: u8 = 3;

/// Run a goal to its end, and show its turns as they happen
#[derive(Args, Debug)]
#[command(after_help = "\
The run works in this process, on the store of this machine's instance, and hears every hook
from the moment it is written. `bash` starts in the workspace and is not confined to it.
With --sandbox its tools work in a process that has no network and sees the system, the
workspace and nothing else; such a run asks the hooks that were there at its start.

Examples:
  spl work-loop \"say hello\" --echo --workspace .
  spl work-loop \"fix the failing test\" --model claude-sonnet-4-6 --workspace ~/project
  spl work-loop \"tidy up\" --script turns.json --workspace ~/project --max-turns 10
  spl work-loop \"shorten @README.md\" --workspace . --approve ask
  spl work-loop \"tidy up\" --remote --max-turns 10
  spl work-loop --resume th_4f0c… --script turns.json --workspace ~/project

A word `@path` that names a file of the workspace puts that file behind the goal, as
<file path=\"…\">, of 256 KiB at most; any other word that begins so stays as it is.
With --approve ask each call is asked about that does more than look; without a terminal no such
call is made. Policy hooks that are set up for the workspace are asked (`spl policy list`): one
that blocks the goal opens no run.

A script is {\"turns\":[{\"text\":\"…\",\"tool_calls\":[{\"name\":\"bash\",\"args\":{\"command\":\"ls\"}}]}]}.
A run that was interrupted is taken up with --resume: what has completed is not done again.
The exit status is 0 if the run completed, 3 if it waits for a decision, else 1.")]
pub(crate) struct WorkLoopArgs {
    /// What is to be reached
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    goal: Option<String>,
    /// Take up this run where its records end
    #[arg(long, value_name = "THREAD")]
    resume: Option<String>,
    #[command(flatten)]
    model: equip::ModelArgs,
    /// Run on the server, with what the server has, and follow it here
    #[arg(long, conflicts_with_all = ["script", "echo", "workspace", "tools", "sandbox", "approve"])]
    remote: bool,
    /// The folder in which the tools work
    #[arg(
        long,
        value_name = "DIR",
        required = false,
        required_unless_present = "remote",
        default_value_if("remote", "true", ".")
    )]
    workspace: PathBuf,
    /// The tools it may call, with commas between; a `*` at the end is any name that begins so
    #[arg(long, value_name = "NAMES", value_parser = Grants::parse)]
    tools: Option<Grants>,
    /// Who approves each call that does more than look: nobody, or whoever sits at the terminal
    #[arg(long, value_enum, value_name = "WHO", default_value = "auto")]
    approve: Approve,
    #[command(flatten)]
    place: equip::PlaceArgs,
    #[command(flatten)]
    spec: spec::SpecArgs,
}

/// Runs a goal to its end.
pub(crate) fn work_loop(session: &mut Session, args: &WorkLoopArgs) -> Result<u8, Failure> {
    if args.remote {
        return remote::run(session, args);
    }
    session.refuse_server("spl work-loop")?;
    let workspace = Workspace::open(&args.workspace).map_err(|error| Failure::coded(&error))?;
    // Nothing is made for a run that nobody can play.
    let fresh = if args.resume.is_some() { None } else { Some(args.fresh(&workspace)?) };
    let attached = Attached::of(args.goal.as_deref().unwrap_or_default(), &workspace)?;
    let policy = policy::of(workspace.path())?;
    let home = home::made()?;
    policy::refuse_packs(workspace.path(), &home)?;
    let engine = home::open(&home)?;
    // Without a server nobody else looks for lessons whose time is over.
    engine.sweep().map_err(|error| Failure::coded(&error))?;
    let (spec, mut model) = match fresh {
        Some(run) => run,
        None => args.taken_up(&engine, &workspace)?,
    };
    let mut tools = tools_of(&engine, &spec, Some(&workspace), args.place.sandbox)?;
    grant(&home, args.tools.as_ref(), &spec.thread, &mut tools)?;
    let is_confined = args.place.sandbox || spec.transport == Transport::Sandboxed;
    let confined = is_confined.then(|| args.place.confined(&workspace, &home)).transpose()?;
    let hooks = args.place.hooks(&engine, is_confined)?;
    let thread = spec.thread.clone();
    let taken_up = args.resume.is_some();
    let by = ActorId::parse(&session::actor(None)?)
        .map_err(|error| Failure::usage(format!("SPL_ACTOR {error}")))?;
    let typist = Typist::new(session.is_an_agents());
    let mut by_typist = ByTypist::new(&typist);
    let approver: &mut dyn Approver = match args.approve {
        Approve::Auto => &mut Auto,
        Approve::Ask => &mut by_typist,
    };
    let players = Players {
        engine: &engine,
        model: model.as_mut(),
        tools: &tools,
        hooks,
        policy: &policy,
        decider: &mut AtTerminal::new(&engine, by, &typist),
        approver,
    };
    let played = play(&mut session.out, players, |hands| {
        if taken_up {
            return match &confined {
                None => resume(&thread, hands),
                Some(confined) => resume_confined(&thread, hands, confined),
            };
        }
        // Policy hooks see the goal as it was typed.
        let asked = ask_prompt(spec, hands.engine, hands.policy, hands.cancel, hands.watch)?;
        let spec = attached.to(asked);
        match &confined {
            None => drive(spec, hands),
            Some(confined) => drive_confined(spec, hands, confined),
        }
    });
    let report = match played {
        Ok(report) => report,
        Err(play::Unplayed::Run(RunError::PromptBlocked { block })) => {
            report::tell_blocked(&mut session.out, &block, &thread)?;
            return Ok(Exit::Error as u8);
        }
        Err(play::Unplayed::Run(error @ RunError::Undecided { .. })) => {
            session.out.failure(&Failure::coded(&error));
            return Ok(WAITS);
        }
        Err(play::Unplayed::Run(error)) => return Err(Failure::coded(&error)),
        Err(play::Unplayed::Unsaid(failure)) => return Err(failure),
    };
    let again = args.resume_command(&report.thread);
    report::tell(&mut session.out, &report, &again)?;
    Ok(match report.outcome.verb {
        Verb::Completed => 0,
        Verb::AwaitingActor => WAITS,
        _ => 1,
    })
}

impl WorkLoopArgs {
    /// Returns a new run, and who plays it.
    fn fresh(&self, workspace: &Workspace) -> Result<(RunSpec, Box<dyn Model>), Failure> {
        let model = self.model.open(workspace, None)?;
        let spec = self.spec.of(self.goal.as_deref().unwrap_or_default(), model.name())?;
        let price = self.model.price(model.name())?;
        if spec.limits.usd_budget.is_some() && price.is_none() {
            let error = HostError::Unpriced { model: spec.model };
            return Err(Failure::coded(&error));
        }
        Ok((RunSpec { price, ..spec }, model))
    }

    /// Returns the run that is taken up, and who plays it.
    fn taken_up(
        &self,
        engine: &Engine,
        workspace: &Workspace,
    ) -> Result<(RunSpec, Box<dyn Model>), Failure> {
        let thread = self.resume.as_deref().unwrap_or_default();
        let thread =
            ThreadId::parse(thread).map_err(|error| Failure::usage(format!("--resume {error}")))?;
        let spec = recorded_spec(engine, &thread).map_err(|error| Failure::coded(&error))?;
        let model = self.model.open(workspace, Some(&spec.model))?;
        Ok((spec, model))
    }

    /// Returns the command line that takes up the run.
    fn resume_command(&self, thread: &ThreadId) -> String {
        let workspace = self.workspace.to_string_lossy();
        let model = self.model.as_flags();
        format!("spl work-loop --resume {thread} {model}--workspace {}", quote(&workspace))
    }
}
