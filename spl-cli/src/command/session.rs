//! `spl session`: sessions of agents that have a loop of their own.

mod codex;
mod command_line;
mod doctor;
mod file;
mod harness;
mod history;
mod install_hooks;
mod installed;
mod list;
mod plugin;
mod policy;
mod readable;
mod save;
mod self_test;
mod settings;
mod show;
mod source;
mod transcript;

use clap::Subcommand;

use super::WELL;
use crate::failure::Failure;
use crate::hook_process::{self, HookArgs};
use crate::session::Session;

/// Record the sessions of other agents, and let them hear the lessons
#[derive(Subcommand, Debug)]
pub(crate) enum SessionCommand {
    Hook(HookArgs),
    InstallHooks(install_hooks::InstallHooksArgs),
    Doctor(doctor::DoctorArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Context(show::ContextArgs),
    Save(save::SaveArgs),
    Capture(transcript::CaptureArgs),
    Forget(transcript::ForgetArgs),
}

/// Records sessions of other agents, or sees to it that they are recorded.
pub(crate) fn session(session: &mut Session, command: SessionCommand) -> Result<u8, Failure> {
    match command {
        // Such a line is taken before there is a tree of commands, which is here for its help.
        SessionCommand::Hook(_) => {
            hook_process::run(&std::env::args_os().collect::<Vec<_>>());
            Ok(WELL)
        }
        SessionCommand::InstallHooks(args) => {
            install_hooks::install_hooks(session, &args).map(|()| WELL)
        }
        SessionCommand::Doctor(args) => doctor::doctor(session, &args),
        SessionCommand::List(args) => list::list(session, &args).map(|()| WELL),
        SessionCommand::Show(args) => show::show(session, &args).map(|()| WELL),
        SessionCommand::Context(args) => show::context(session, &args).map(|()| WELL),
        SessionCommand::Save(args) => save::save(session, &args).map(|()| WELL),
        SessionCommand::Capture(args) => transcript::capture(session, &args).map(|()| WELL),
        SessionCommand::Forget(args) => transcript::forget(session, &args).map(|()| WELL),
    }
}
