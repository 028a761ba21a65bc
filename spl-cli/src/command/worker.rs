//! `spl worker`: a part of a sandbox, started by the engine.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use spl::tool::allowed_environment;

use crate::failure::Failure;
use crate::home::variables;

/// Be a part of a sandbox; the engine starts this
#[derive(Args, Debug)]
#[command(hide = true, disable_help_flag = true)]
pub(crate) struct WorkerArgs {
    /// Which part, and what it is told
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Does that part, in a process that has done nothing else.
pub(crate) fn worker(args: &WorkerArgs) -> ExitCode {
    if args.args.iter().eq(["run"]) {
        return work();
    }
    match spl::sandbox::stage(&args.args) {
        Ok(status) => ExitCode::from(status),
        Err(refusal) => {
            anstream::eprintln!("spl worker: {refusal}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the loop of a run, in the place that this process was started in.
fn work() -> ExitCode {
    match spl::run::worker::work(allowed_environment(variables())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("spl worker: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the executable that is started as a part of a sandbox: this one.
pub(super) fn stager() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::local("this program could not be found", &error))
}
