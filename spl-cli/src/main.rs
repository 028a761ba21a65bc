//! The command `spl`: a face of the library in a terminal.

mod cli;
mod client;
mod command;
mod failure;
mod home;
mod logging;
mod output;
mod session;
mod signals;
mod statement;
mod usage;
mod warning;

use std::process::ExitCode;

use clap::Parser as _;

use cli::Cli;

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(Cli { options, command: Some(command) }) => command::run(options, command),
        Ok(Cli { command: None, .. }) => usage::overview(),
        Err(error) => usage::explain(&error),
    }
}
