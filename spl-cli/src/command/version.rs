//! `spl version`: print the version.

use spl::object;

use crate::failure::Failure;
use crate::session::Session;

/// The version of this command.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Prints the version.
pub(crate) fn version(session: &mut Session) -> Result<(), Failure> {
    let answer = object! { "object": "version", "version": VERSION };
    session.out.answer(&answer, |out| writeln!(out, "spl {VERSION}"))
}
