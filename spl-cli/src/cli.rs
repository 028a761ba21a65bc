//! The command line.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Args, Parser, Subcommand};

use crate::command;
use crate::output::Form;

const EXAMPLES: &str = "\
A lesson in one write:
  spl hook add shell-failed --when 'record.body.tool == \"bash\" && record.body.status != \"ok\"' \\
      --text '${tool} ended with ${status}; read stderr first.'

The same, as the record that it is:
  spl know --thread th_engine_config --actor did:sync:system:engine --act LEARN --body \\
      '{\"kind\":\"core.hook.v1\",\"topic\":\"hook\",\"name\":\"no-force\",\"when\":…,\"text\":…}'

Exit status: 0 ok, 1 error, 2 usage, 3 not found, 4 not valid, 5 not reachable, 6 not allowed.
Take any other for an error.

Environment:
  SYNCROPEL_HOME  where the instance lives (~/.syncro)
  SPL_ACTOR       who writes
  SPL_SERVE_URL   a server to ask instead of this machine's instance
  SPL_TOKEN       the bearer for that server
  SPL_RUN         set in the commands of a run; what agents' harnesses set is heeded too: in their
                  shells the command is not the operator's
  RUST_LOG        what is logged to standard error
  NO_COLOR        no colours";

/// Teach running agents a lesson with one write
#[derive(Parser, Debug)]
#[command(name = "spl", version, after_help = EXAMPLES)]
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
    /// How to answer.
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        value_name = "FORM",
        default_value = "text",
        hide_default_value = true,
        help_heading = "Global options",
        hide_possible_values = true,
        help = "The answer as text, json (one object) or stream-json (one a line) [default: text]"
    )]
    output: Form,
    /// The same as `--output json`
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,
    /// The bearer for that server [default: `SPL_TOKEN`, else one that was saved]
    #[arg(long, global = true, value_name = "BEARER", help_heading = "Global options")]
    pub(crate) token: Option<String>,
    /// In the shell of an agent, act as the operator; asks at the terminal
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) as_operator: bool,
    /// Ask this server, not this machine's instance [default: `SPL_SERVE_URL`]
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
    Init(command::init::InitArgs),

    /// State what is known: an observation, a verdict, a closure
    Know(command::write::WriteArgs),
    /// State what was done
    Do(command::write::WriteArgs),
    /// State a goal; it opens a thread
    Intend(command::write::WriteArgs),
    /// State what was learned, or change the configuration
    Learn(command::write::WriteArgs),

    #[command(subcommand)]
    Hook(command::hook::HookCommand),
    #[command(subcommand)]
    Blueprint(command::blueprint::BlueprintCommand),
    #[command(subcommand)]
    Namespace(command::namespace::NamespaceCommand),
    #[command(subcommand)]
    Thread(command::thread::ThreadCommand),
    #[command(subcommand)]
    Record(command::record::RecordCommand),
    #[command(subcommand)]
    Expr(command::expr::ExprCommand),

    WorkLoop(command::work_loop::WorkLoopArgs),
    #[command(subcommand)]
    Decisions(command::decisions::DecisionsCommand),
    #[command(subcommand)]
    Runs(command::runs::RunsCommand),
    #[command(subcommand)]
    Session(command::session::SessionCommand),
    Resume(command::resume::ResumeArgs),
    WorkLoopReview(command::work_loop_review::ReviewArgs),
    Trust(command::trust::TrustArgs),
    #[command(subcommand)]
    Tool(command::tool::ToolCommand),
    #[command(subcommand)]
    Policy(command::policy::PolicyCommand),
    #[command(subcommand, hide = true)]
    Polpo(command::polpo::PolpoCommand),
    #[command(subcommand)]
    Model(command::model::ModelCommand),
    Demo(command::demo::DemoArgs),

    Serve(command::serve::ServeArgs),
    /// Show what is there and what runs
    #[command(after_help = "\
The home, the server if one runs, the records, the lessons, and the policy hooks that a run in
this folder would ask. Works with and without a server, and changes nothing.")]
    Status,
    /// Show how the engine is
    #[command(after_help = "\
With `-o json`, all that `GET /v1/engine/health` says.")]
    Health,
    /// Look for what is wrong with the instance
    #[command(after_help = "\
The home and its keys, the settings, the store and its signed head, the token, the hooks, the
server. What is wrong comes with what to do about it.

Exit status: 0 all is well, 1 something may not be, 2 something is wrong.")]
    Doctor,
    Verify(command::verify::VerifyArgs),
    Proof(command::proof::ProofArgs),
    #[command(subcommand)]
    Identity(command::identity::IdentityCommand),
    Backup(command::backup::BackupArgs),
    Export(command::export::ExportArgs),
    Import(command::import::ImportArgs),
    Erase(command::erase::EraseArgs),
    #[command(subcommand)]
    Config(command::config::ConfigCommand),
    #[command(subcommand)]
    ServiceAccount(command::service_account::ServiceAccountCommand),
    #[command(subcommand)]
    Token(command::token::TokenCommand),

    Completions(command::completions::CompletionsArgs),
    Worker(command::worker::WorkerArgs),
    /// Print the version
    Version,
}

/// Returns a command line as this command has it. Called as `polpo`, it is `spl polpo`.
pub(crate) fn as_called(line: Vec<OsString>) -> Vec<OsString> {
    let called = line.first().and_then(|program| Path::new(program).file_name());
    if called != Some(OsStr::new("polpo")) {
        return line;
    }
    ["spl", "polpo"].into_iter().map(OsString::from).chain(line.into_iter().skip(1)).collect()
}
