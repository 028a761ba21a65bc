//! `spl completions`: print a completion script.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::session::Session;

/// Print a completion script for a shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl completions bash > ~/.local/share/bash-completion/completions/spl
  spl completions zsh > ~/.zfunc/_spl
  spl completions fish > ~/.config/fish/completions/spl.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints a completion script.
pub(crate) fn completions(session: &mut Session, args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "spl", &mut script);
    session.out.raw(&script)
}
