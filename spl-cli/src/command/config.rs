//! `spl config`: the settings of a home, and configuration that has no command of its own.

mod origins;
mod rules;
mod show;
mod switch;

use clap::Subcommand;

use crate::failure::Failure;
use crate::session::Session;

/// See and change the configuration: settings, permission rules, origins
#[derive(Subcommand, Debug)]
pub(crate) enum ConfigCommand {
    /// Print where the settings are
    Path,
    /// Show the settings of this machine's instance, without secrets
    Show,
    AddPermissionRule(rules::AddArgs),
    /// List the permission rules, and whether they are in force
    ListPermissionRules,
    DisablePermissionRule(rules::DisableArgs),
    PermissionsEnable(switch::EnableArgs),
    PermissionsDisable(switch::DisableArgs),
    PermissionsUnlock(switch::UnlockArgs),
    AuthSetCorsOrigins(origins::OriginsArgs),
}

/// Shows and changes the configuration.
pub(crate) fn config(session: &mut Session, command: ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Path => show::path(session),
        ConfigCommand::Show => show::show(session),
        ConfigCommand::AddPermissionRule(args) => rules::add(session, args),
        ConfigCommand::ListPermissionRules => rules::list(session),
        ConfigCommand::DisablePermissionRule(args) => rules::disable(session, &args),
        ConfigCommand::PermissionsEnable(args) => switch::enable(session, &args),
        ConfigCommand::PermissionsDisable(args) => switch::disable(session, &args),
        ConfigCommand::PermissionsUnlock(args) => switch::unlock(session, &args),
        ConfigCommand::AuthSetCorsOrigins(args) => origins::set(session, args),
    }
}
