//! `spl session install-hooks`: write our hooks into the settings of a harness, or take them out.

use std::path::PathBuf;

use clap::Args;

use super::harness::Harness;
use crate::failure::Failure;
use crate::session::Session;

/// Let a harness tell of its sessions, and hear the lessons
#[derive(Args, Debug)]
pub(crate) struct InstallHooksArgs {
    /// Whose settings to change
    #[arg(long, value_enum, value_name = "HARNESS", default_value = "claude")]
    harness: Harness,
    /// The settings file [default: the one of the user that the harness reads]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// A variable for the hook, such as SYNCROPEL_HOME=/srv/team; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    env: Vec<String>,
    /// The namespace that the sessions belong to
    #[arg(long, value_name = "NS")]
    namespace: Option<String>,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Take our hooks out again
    #[arg(long)]
    uninstall: bool,
}

/// Writes our hooks into the settings of a harness, or takes them out.
pub(crate) fn install_hooks(session: &mut Session, args: &InstallHooksArgs) -> Result<(), Failure> {
    session.refuse_server("spl session install-hooks")?;
    let _ = args;
    Err(Failure::usage("not there yet"))
}
