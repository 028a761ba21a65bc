//! `spl blueprint`: make, look through, sign and install blueprints.

mod file;
mod init;
mod install;
mod list;
mod plan;
mod sign;
mod trust_author;

use clap::Subcommand;

use crate::failure::Failure;
use crate::session::Session;

/// Make, look through, sign and install blueprints: files of hooks, rules and records
#[derive(Subcommand, Debug)]
pub(crate) enum BlueprintCommand {
    Init(init::InitArgs),
    Plan(plan::PlanArgs),
    Sign(sign::SignArgs),
    TrustAuthor(trust_author::TrustAuthorArgs),
    Install(install::InstallArgs),
    /// List what was installed
    List,
    /// Print the blueprint that this program brings: ten hooks for agents that write code
    #[command(after_help = "\
Installed as it is, this program vouches for it. Changed, it is yours: look it through and sign it.

Examples:
  spl blueprint install starter
  spl blueprint starter > mine.json")]
    Starter,
}

/// Makes, shows, signs and installs blueprints.
pub(crate) fn blueprint(session: &mut Session, command: BlueprintCommand) -> Result<u8, Failure> {
    match command {
        BlueprintCommand::Init(args) => init::init(session, &args),
        BlueprintCommand::Plan(args) => return plan::plan(session, &args),
        BlueprintCommand::Sign(args) => sign::sign(session, &args),
        BlueprintCommand::TrustAuthor(args) => trust_author::trust_author(session, &args),
        BlueprintCommand::Install(args) => return install::install(session, &args),
        BlueprintCommand::List => list::list(session),
        BlueprintCommand::Starter => session.out.raw(spl::blueprint::STARTER.as_bytes()),
    }
    .map(|()| 0)
}
