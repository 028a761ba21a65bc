//! `spl policy on` and `spl policy off`: the switch for sessions of other harnesses.

use spl::object;

use crate::failure::Failure;
use crate::home;
use crate::session::Session;

/// Switches policy hooks in sessions of other harnesses on or off.
pub(super) fn switch(session: &mut Session, on: bool) -> Result<(), Failure> {
    let home = home::find()?;
    home.set_policy_switch(on).map_err(|error| Failure::coded(&error))?;
    let answer = object! { "harness_sessions": word(on), "object": "policy_switch" };
    session.out.answer(&answer, |out| writeln!(out, "{}", sentence(on)))
}

/// Returns the word for programs.
pub(super) const fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Says what is asked in sessions of other harnesses.
pub(super) const fn sentence(on: bool) -> &'static str {
    if on {
        "sessions of other harnesses ask policy hooks, where they are installed --with-policy"
    } else {
        "sessions of other harnesses ask no policy hook; `spl policy on` has them asked again"
    }
}
