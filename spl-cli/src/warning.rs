//! What is allowed in an expression and most likely not meant, as a person is told.

use std::io::{self, Write};

use spl::canon::Object;
use spl::http::wire;
use spl::predicate::{Context, Predicate, Warning};

use crate::failure::around;
use crate::output::{self, DIM, WARN, printable};

/// Returns warnings as a program is told them.
pub(crate) fn objects(warnings: &[Warning]) -> Vec<Object> {
    warnings.iter().map(wire::warning).collect()
}

/// Prints warnings, each with the place in `expression` that it is about.
pub(crate) fn print(expression: &str, warnings: &[Warning], out: &mut dyn Write) -> io::Result<()> {
    for warning in warnings {
        let (word, message) = (warning.oddity.as_str(), printable(&warning.message));
        writeln!(out, "{WARN}warning:{WARN:#} {message} {DIM}[{word}]{DIM:#}")?;
        for line in warning.column.iter().flat_map(|column| {
            let excerpt = around(expression, *column);
            excerpt.lines().map(str::to_owned).collect::<Vec<_>>()
        }) {
            writeln!(out, "  {line}")?;
        }
        if let Some(hint) = &warning.hint {
            writeln!(out, "  {DIM}hint:{DIM:#} {}", printable(hint))?;
        }
    }
    Ok(())
}

/// Returns a warning in one line.
pub(crate) fn line(warning: &Warning) -> String {
    let hint = warning.hint.iter().map(|hint| format!("; {hint}"));
    printable(&format!("{}{}", warning.message, hint.collect::<String>())).into_owned()
}

/// Tells a person what is odd about the predicate of a hook that was written.
pub(crate) fn tell(when: &str) {
    // What cannot be compiled was refused, or is no hook.
    let Ok(predicate) = Predicate::compile(when, Context::Hook) else { return };
    for warning in predicate.warnings() {
        output::warn(&line(warning));
    }
}
