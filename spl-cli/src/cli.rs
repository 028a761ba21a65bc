//! The command line.

use clap::{Args, Parser, Subcommand};

use crate::command;
use crate::output::Form;

const EXAMPLES: &str = "\
A lesson in one write:
  spl hook add shell-failed --when 'record.body.tool == \"bash\" && record.body.status != \"ok\"' \\
      --text '${tool} ended with ${status}; read stderr first.'

The same, as the record that it is:
  spl know --thread th_engine_config --actor did:sync:system:engine --act LEARN \\
      --body '{\"kind\":\"core.hook.v1\",\"topic\":\"hook\",\"name\":\"shell-failed\",\"when\":…,\"text\":…}'

Exit status: 0 ok, 1 error, 2 usage, 3 not found, 4 not valid, 5 not reachable, 6 not allowed.
Take any other for an error.

Environment:
  SYNCROPEL_HOME  where the instance lives (~/.syncro)
  SPL_ACTOR       who writes
  SPL_SERVE_URL   a server to ask instead of this machine's instance
  SPL_TOKEN       the bearer for that server
  RUST_LOG        what is logged to standard error
  NO_COLOR        no colours";

/// Teach running agents a lesson with one write
#[derive(Parser, Debug)]
#[command(name = "spl", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub(crate) options: Options,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What holds for every command.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    /// The form of the answer
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        value_name = "FORM",
        default_value = "text",
        help_heading = "Global options",
        hide_possible_values = true,
        help = "The form of the answer: text, json (one object) or stream-json (one a line)"
    )]
    output: Form,
    /// The same as `--output json`
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,
    /// The bearer for `--server` [default: `SPL_TOKEN`, else the home's own]
    #[arg(long, global = true, value_name = "BEARER", help_heading = "Global options")]
    pub(crate) token: Option<String>,
    /// A server to ask instead of this machine's instance [default: `SPL_SERVE_URL`]
    #[arg(long, global = true, value_name = "URL", help_heading = "Global options")]
    pub(crate) server: Option<String>,
}

impl Options {
    /// Returns the form of the answer.
    pub(crate) fn form(&self) -> Form {
        if self.json && self.output == Form::Text { Form::Json } else { self.output }
    }
}

/// What to do.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Make the instance: keys, settings, an admin token, an empty store
    Init(command::init::InitArgs),

    /// State what is known: an observation, a verdict, a closure
    Know(command::write::WriteArgs),
    /// State what was done
    Do(command::write::WriteArgs),
    /// State a goal; it opens a thread
    Intend(command::write::WriteArgs),
    /// State what was learned, or change the configuration
    Learn(command::write::WriteArgs),

    /// Write, list, show and disable hooks
    #[command(subcommand)]
    Hook(command::hook::HookCommand),
    /// Read threads
    #[command(subcommand)]
    Thread(command::thread::ThreadCommand),
    /// Read records
    #[command(subcommand)]
    Record(command::record::RecordCommand),
    /// Check and evaluate expressions
    #[command(subcommand)]
    Expr(command::expr::ExprCommand),

    /// Run the server, in the foreground or in the background
    Serve(command::serve::ServeArgs),
    /// Show what is there and what runs
    Status,
    /// Show how the engine is
    Health,
    /// Look for what is wrong with the instance
    Doctor,
    /// Prove that every record is what was accepted, in that order
    Verify(command::verify::VerifyArgs),
    /// Copy the store while it is in use
    Backup(command::backup::BackupArgs),
    /// Make, list and revoke bearers
    #[command(subcommand)]
    Token(command::token::TokenCommand),

    /// Print a completion script for a shell
    Completions(command::completions::CompletionsArgs),
    /// Print the version
    Version,
}
