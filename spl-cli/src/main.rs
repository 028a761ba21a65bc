//! The command `spl`: a face of the library in a terminal.

mod bootstrap;
mod cli;
mod client;
mod command;
mod failure;
mod home;
mod hook_process;
mod logging;
mod output;
mod policy;
mod session;
mod shell;
mod signals;
mod statement;
mod usage;
mod warning;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use cli::Cli;

fn main() -> ExitCode {
    // A harness starts this for each tool call, so it does not wait for the tree of commands.
    let line: Vec<OsString> = std::env::args_os().collect();
    if hook_process::is_meant(&line) {
        return hook_process::run(&line);
    }
    match Cli::try_parse_from(cli::as_called(line)) {
        Ok(Cli { options, command: Some(command) }) => command::run(options, command),
        Ok(Cli { command: None, .. }) => usage::overview(),
        Err(error) => usage::explain(&error),
    }
}
