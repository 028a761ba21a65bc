//! What a command line gets that asks for help, or that is none.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap::error::ErrorKind;

use crate::cli::Cli;
use crate::failure::{Exit, Failure};
use crate::output::{Form, Output};

/// Prints the overview of all commands.
pub(crate) fn overview() -> ExitCode {
    // Whoever has stopped reading has read enough.
    let _ = Cli::command().print_help();
    ExitCode::SUCCESS
}

/// Prints what clap has to say: the help that was asked for, or what is wrong.
pub(crate) fn explain(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && asks_for_json(std::env::args_os()) {
        Output::new(Form::Json).failure(&Failure::usage(in_one_line(error)));
    } else {
        let _ = error.print();
    }
    match u8::try_from(error.exit_code()) {
        Ok(status) => ExitCode::from(status),
        Err(_) => ExitCode::from(Exit::Usage as u8),
    }
}

/// Returns what is wrong without the advice around it.
pub(crate) fn in_one_line(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "the command is not complete; `--help` says what can follow".into();
    }
    let text = error.render().to_string();
    let first = text.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line that clap could not read has no options yet, so they are looked for by hand.
fn asks_for_json(args: impl Iterator<Item = OsString>) -> bool {
    let args: Vec<String> =
        args.take_while(|arg| arg != "--").map(|arg| arg.to_string_lossy().into_owned()).collect();
    let form = |arg: &str| matches!(arg, "json" | "stream-json");
    let joined = |arg: &String| {
        let value = arg.strip_prefix("--output=").or_else(|| arg.strip_prefix("-o"));
        arg == "--json" || value.is_some_and(|value| form(value.trim_start_matches('=')))
    };
    let pair = |pair: &[String]| match pair {
        [option, value] => matches!(option.as_str(), "-o" | "--output") && form(value),
        _ => false,
    };
    args.iter().any(joined) || args.windows(2).any(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, wanted: bool) {
        assert_eq!(asks_for_json(line.split(' ').map(OsString::from)), wanted, "{line}");
    }

    #[test]
    fn json_is_asked_for_in_many_ways() {
        check("spl --json", true);
        check("spl know -o json x", true);
        check("spl -ojson", true);
        check("spl --output=stream-json", true);
        check("spl --output text", false);
        check("spl know -- --json", false);
        check("spl know json", false);
    }
}
