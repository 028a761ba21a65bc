//! `spl session`: sessions of agents that have a loop of their own.

mod codex;
mod command_line;
mod doctor;
mod file;
mod harness;
mod history;
mod install_hooks;
mod installed;
mod plugin;
mod policy;
mod readable;
mod self_test;
mod settings;

use clap::Subcommand;

use super::WELL;
use crate::failure::Failure;
use crate::session::Session;

/// Record the sessions of other agents, and let them hear the lessons
#[derive(Subcommand, Debug)]
pub(crate) enum SessionCommand {
    InstallHooks(install_hooks::InstallHooksArgs),
    Doctor(doctor::DoctorArgs),
}

/// Records sessions of other agents, or sees to it that they are recorded.
pub(crate) fn session(session: &mut Session, command: SessionCommand) -> Result<u8, Failure> {
    match command {
        SessionCommand::InstallHooks(args) => {
            install_hooks::install_hooks(session, &args).map(|()| WELL)
        }
        SessionCommand::Doctor(args) => doctor::doctor(session, &args),
    }
}
