//! The command line of a hook process, read without the tree of all commands.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use clap::error::ErrorKind;
use clap::{Args, Parser};

use spl::record::Namespace;
use spl::session::Harness;

use crate::cli::{Cli, Options};
use crate::usage;

/// Take an event of an agent's session; a harness starts this
#[derive(Args, Debug)]
#[command(after_help = "\
It reads one event as JSON from standard input, records it, and prints at most one JSON object: the
words of the hooks, in the form that the harness takes. `spl session install-hooks` writes the
command line into the settings of a harness.

With --policy, and at a prompt or before a call, the policy hooks of ~/.polyglot/settings.json are
asked first, in this process and its own folder. What they refuse is refused in the form that the
harness takes; else nothing is decided here, and the harness goes on as it would have. They are
asked whatever POLYGLOT_NO_HOOKS says, which a project may set; `spl policy off` switches them off.
Settings that do not read are a warning, and nothing is refused.

A running server of the home is asked first; without one the store is opened here. What went wrong
is one line on standard error, and in the home's logs/session-hook.log.

Examples:
  spl session hook --harness claude < event.json
  spl session hook --harness codex --namespace shop --env SYNCROPEL_HOME=/home/vera/.syncro
  spl session hook --harness claude --policy < before-a-call.json

Exit status: 0, always.")]
pub(crate) struct HookArgs {
    /// The harness [default: the one whose events look like this]
    #[arg(long, value_name = "HARNESS", value_parser = harness, help_heading = "Options")]
    pub(super) harness: Option<Harness>,
    /// The namespace of the session [default: the root]
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace, help_heading = "Options")]
    pub(super) namespace: Option<Namespace>,
    /// Ask policy hooks about prompts, and about calls before they are made
    #[arg(long, help_heading = "Options")]
    pub(super) policy: bool,
    /// A variable that beats the environment's; `SYNCROPEL_HOME` and `HOME` mean something here
    #[arg(
        long = "env",
        value_name = "KEY=VALUE",
        value_parser = clap::value_parser!(OsString),
        help_heading = "Options"
    )]
    variables: Vec<OsString>,
}

/// The command line on its own, with the options that every command takes.
#[derive(Parser, Debug)]
#[command(name = "spl session hook")]
pub(super) struct Line {
    #[command(flatten)]
    _options: Options,
    #[command(flatten)]
    args: HookArgs,
}

impl Line {
    /// Reads a command line; `None` if it asked for help, and got it. What is wrong is one line.
    pub(super) fn read(line: &[OsString]) -> Result<Option<HookArgs>, String> {
        let verb = |word: &OsString| word != "session" && word != "hook";
        let (program, rest) =
            line.split_first().map_or((None, line), |(it, rest)| (Some(it), rest));
        let verbs = rest.iter().position(|word| !verb(word)).unwrap_or(rest.len());
        let (before, after) = rest.split_at(verbs);
        let words = program.into_iter().chain(before).chain(after.get(2..).unwrap_or_default());
        match Self::try_parse_from(words) {
            Ok(read) => read.args.check().map(Some),
            Err(error) if error.kind() == ErrorKind::DisplayHelp => {
                // The help of the tree, so that there is one.
                if let Err(help) = Cli::try_parse_from(line) {
                    let _ = help.print();
                }
                Ok(None)
            }
            Err(error) => Err(usage::in_one_line(&error)),
        }
    }
}

impl HookArgs {
    fn check(self) -> Result<Self, String> {
        match self.variables.iter().find(|given| pair(given).is_none()) {
            None => Ok(self),
            Some(odd) => Err(format!("`{}` is not KEY=VALUE", odd.to_string_lossy())),
        }
    }

    /// Returns what the command line says that a variable is; the last word counts.
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        let mut pairs = self.variables.iter().rev().filter_map(|given| pair(given));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

fn pair(given: &OsStr) -> Option<(&OsStr, &OsStr)> {
    let bytes = given.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
    let (key, value) = bytes.split_at(at);
    Some((OsStr::from_bytes(key), OsStr::from_bytes(value.get(1..)?)))
}

fn harness(name: &str) -> Result<Harness, String> {
    Harness::parse(name).ok_or_else(|| {
        let names: Vec<&str> = Harness::ALL.iter().map(|harness| harness.name()).collect();
        format!("a harness is one of {}", names.join(", "))
    })
}

fn namespace(name: &str) -> Result<Namespace, String> {
    Namespace::parse(name).map_err(|error| format!("a namespace {error}"))
}
