//! `spl polpo`: commands under the names that they have elsewhere.

use clap::Subcommand;

use super::policy::{ValidateArgs, capabilities, validate};
use crate::failure::Failure;
use crate::session::Session;

/// Commands of packs, as Polpo has them
#[derive(Subcommand, Debug)]
pub(crate) enum PolpoCommand {
    /// Commands of packs of hooks
    #[command(subcommand)]
    Hooks(HooksCommand),
}

/// Commands of packs of hooks
#[derive(Subcommand, Debug)]
pub(crate) enum HooksCommand {
    Validate(ValidateArgs),
    /// Show what packs may ask of the host
    Capabilities,
}

/// Does what a command line asks for.
pub(crate) fn polpo(session: &mut Session, command: PolpoCommand) -> Result<u8, Failure> {
    match command {
        PolpoCommand::Hooks(HooksCommand::Validate(args)) => validate(session, &args),
        PolpoCommand::Hooks(HooksCommand::Capabilities) => capabilities(session),
    }
}
