//! `spl session doctor`: look whether the hooks of each harness do what they are there for.

use std::path::PathBuf;

use clap::Args;

use super::harness::Harness;
use crate::failure::Failure;
use crate::session::Session;

/// Look whether the hooks of each harness are there, are run, and work
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Only this harness
    #[arg(long, value_enum, value_name = "HARNESS")]
    harness: Option<Harness>,
    /// Its settings file [default: the one of the user that the harness reads]
    #[arg(long, value_name = "FILE", requires = "harness")]
    settings: Option<PathBuf>,
}

/// Looks whether the hooks of each harness are there, are run, and work.
pub(crate) fn doctor(session: &mut Session, args: &DoctorArgs) -> Result<u8, Failure> {
    session.refuse_server("spl session doctor")?;
    let _ = args;
    Err(Failure::usage("not there yet"))
}
