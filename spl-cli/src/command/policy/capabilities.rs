//! `spl policy capabilities`: what packs may ask of a host.

use std::io::{self, Write};

use spl::canon::{Object, Value};

use crate::client::Target;
use crate::failure::Failure;
use crate::output::{DIM, printable};
use crate::session::Session;

/// Shows what packs may ask of the host, and how far their hooks count there.
pub(crate) fn capabilities(session: &mut Session) -> Result<u8, Failure> {
    let said = session.reader()?.get(&Target::of(&["v1", "hooks", "capabilities"]))?;
    session.out.answer(&said, |out| print(&said, out))?;
    Ok(0)
}

fn print(said: &Object, out: &mut dyn Write) -> io::Result<()> {
    let said = Value::from(said.clone());
    let at = |path: &[&str]| path.iter().try_fold(&said, |value, key| value.get(key));
    let word = |path: &[&str]| match at(path) {
        None => "-".to_owned(),
        Some(Value::String(text)) => printable(text).into_owned(),
        Some(Value::Bool(true)) => "yes".to_owned(),
        Some(Value::Bool(false)) => "no".to_owned(),
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            printable(&words.join(" ")).into_owned()
        }
        Some(other) => other.to_string(),
    };
    let mut line = |name: &str, value: String| writeln!(out, "{DIM}{name:<16}{DIM:#} {value}");
    if at(&["applied"]) == Some(&Value::Bool(false)) {
        line(
            "applied",
            "no: runs do not ask packs yet, nor begin beside any that no switch leaves out"
                .to_owned(),
        )?;
    }
    line("events", word(&["portable", "events"]))?;
    line("handlers", word(&["portable", "handlers"]))?;
    line("decisions", word(&["portable", "decisions"]))?;
    let portable = word(&["portable", "defaults", "commandTimeoutMs"]);
    line("command", format!("{portable} ms if a pack does not say"))?;
    let gate = |key: &str| word(&["portable", "terminationGate", key]);
    line("gate", format!("supported: {}, of {}", gate("supported"), gate("handlers")))?;
    let limit = |key: &str| word(&["portable", "terminationGate", "limits", key]);
    line(
        "gate limits",
        format!(
            "{} cycles, {} ms, {} tokens",
            limit("maxCycles"),
            limit("maxDurationMs"),
            limit("maxTokens")
        ),
    )?;
    match at(&["managed"]) {
        None | Some(Value::Null) => line("managed", "no".to_owned())?,
        Some(_) => {
            let managed = |path: &[&str]| word(&[&["managed"], path].concat());
            line("managed", format!("yes, hooks {}", managed(&["mode"])))?;
            let timeout = managed(&["defaults", "commandTimeoutMs"]);
            line("managed command", format!("{timeout} ms if a pack does not say"))?;
            let gate = managed(&["terminationGate", "mode"]);
            let enabled = managed(&["terminationGate", "enabled"]);
            line("managed gate", format!("{gate}, enabled: {enabled}"))?;
        }
    }
    let active = word(&["killSwitch", "active"]);
    line("kill switch", format!("{}, active: {active}", word(&["killSwitch", "env"])))
}
