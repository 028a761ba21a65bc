//! `spl init`: make the instance.

use clap::Args;
use spl::object;

use crate::failure::Failure;
use crate::home;
use crate::output::GOOD;
use crate::session::Session;

/// Make the instance: keys, settings, an admin token, an empty store
#[derive(Args, Debug)]
#[command(after_help = "\
What is there already is kept, so this may be run any number of times. The first command that
writes a record makes the instance too.

Examples:
  spl init
  SYNCROPEL_HOME=/srv/spl spl init --yes")]
pub(crate) struct InitArgs {
    /// Ask nothing; nothing is asked so far, so scripts may say so
    #[arg(long, short)]
    yes: bool,
}

/// Makes the instance.
pub(crate) fn init(session: &mut Session, _: &InitArgs) -> Result<(), Failure> {
    session.refuse_server("spl init")?;
    let home = home::find()?;
    let made = home.initialise(&home::login()).map_err(|error| Failure::coded(&error))?;
    // Opening makes the store and lets it know the admin token.
    drop(home::open(&home)?);
    let place = home.path().display().to_string();
    let answer = object! {
        "actor": made.actor.as_str(),
        "home": place.as_str(),
        "made": made.fresh,
        "object": "instance",
    };
    session.out.answer(&answer, |out| {
        if made.fresh {
            writeln!(out, "{GOOD}✓{GOOD:#} made an instance at {place}, owned by {}", made.actor)
        } else {
            writeln!(
                out,
                "{GOOD}✓{GOOD:#} there is an instance at {place}, owned by {}",
                made.actor
            )
        }
    })
}
