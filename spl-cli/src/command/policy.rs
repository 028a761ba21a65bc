//! `spl policy`: hooks that decide, as they are set up for a folder.

mod capabilities;
mod deploy;
mod list;
mod switch;
mod test;
mod validate;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::failure::Failure;
use crate::session::Session;
pub(crate) use capabilities::capabilities;
pub(crate) use validate::{ValidateArgs, validate};

/// See and try the policy hooks of a folder: commands that may block
#[derive(Subcommand, Debug)]
#[command(after_help = "\
A policy hook is a command of yours that is asked before a goal opens a run, before a tool call or
about its result, and may block it. It stands in `.polyglot/settings.json` of your home folder; one
in the folder of a project counts if yours has `allowProjectHooks`. A lesson (`spl hook`) is
something else: it only adds words.

A project may have packs of such hooks as well, in `.polpo/hooks`: `validate` names what is wrong
with them, and `deploy` stores them. Runs do not ask them yet, so beside packs none begins, unless
POLPO_RUNTIME_HOOKS=off leaves them out.

Settings are read once for each run; `POLYGLOT_NO_HOOKS=1` starts one without hooks.")]
pub(crate) enum PolicyCommand {
    List(ListArgs),
    Test(test::TestArgs),
    Validate(ValidateArgs),
    Deploy(deploy::DeployArgs),
    /// Show what packs may ask of the host
    #[command(after_help = "\
What `GET /v1/hooks/capabilities` says. `[runtime]` in config.toml and POLPO_RUNTIME_HOOKS decide
how far hooks of packs count on a host.")]
    Capabilities,
    /// Ask policy hooks in the sessions of other harnesses again
    #[command(after_help = "\
Undoes `spl policy off`.")]
    On,
    /// Ask no policy hook in the sessions of other harnesses
    #[command(after_help = "\
Holds for sessions that `spl session install-hooks --with-policy` has been installed for, from
their next event on, until `spl policy on`. `spl work-loop` asks policy hooks all the same.")]
    Off,
}

/// Show the policy hooks of a folder, in the order in which they are asked
#[derive(Args, Debug)]
#[command(after_help = "\
With each hook stands where it comes from. What is set up and is not asked is listed with the
reason, and so are settings that have no effect here.

Examples:
  spl policy list
  spl policy list --workspace ~/project -o json")]
pub(crate) struct ListArgs {
    /// The folder [default: this one]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

/// Does what a command line asks for.
pub(crate) fn policy(session: &mut Session, command: PolicyCommand) -> Result<u8, Failure> {
    use PolicyCommand::{Capabilities, Deploy, Validate};
    // Packs are deployed to whoever is asked, and validated without asking anybody; what else there is,
    // is of this machine.
    if !matches!(command, Capabilities | Deploy(_) | Validate(_)) {
        session.refuse_server("spl policy")?;
    }
    match command {
        Validate(args) => return validate(session, &args),
        Deploy(args) => return deploy::deploy(session, &args),
        Capabilities => return capabilities(session),
        PolicyCommand::List(args) => list::list(session, args.workspace.as_deref()),
        PolicyCommand::Test(args) => return test::test(session, &args),
        PolicyCommand::On => switch::switch(session, true),
        PolicyCommand::Off => {
            session.refuse_agent("spl policy off")?;
            switch::switch(session, false)
        }
    }
    .map(|()| 0)
}
