//! The plugin for opencode, which has no hook commands: a file of ours, whole.

use spl::canon::Value;

use super::harness::{Event, Harness};
use super::settings::Entry;

/// What a plugin of ours begins with, in every version.
const BEGINNING: &str = "// Written by `spl session install-hooks --harness opencode`";

const TEXT: &str = include_str!("plugin.js");

/// Where the commands stand in it.
const PLACES: [&str; 2] = ["@COMMAND@", "@DECIDING@"];

/// Returns the plugin that starts this command, and another where policy hooks decide.
pub(super) fn text(command: &str, deciding: Option<&str>) -> String {
    // A JSON string is a string of JavaScript as well.
    let [recorded, decided] = PLACES;
    TEXT.replacen(recorded, &Value::from(command).to_string(), 1).replacen(
        decided,
        &Value::from(deciding).to_string(),
        1,
    )
}

/// Returns whether a file is a plugin of ours.
pub(super) fn is_ours(text: &str) -> bool {
    text.starts_with(BEGINNING)
}

/// Returns what a plugin starts for each event, if it is one of ours.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let Some(command) = command(text).filter(|_| is_ours(text)) else { return Vec::new() };
    let deciding = deciding(text);
    let events = Harness::Opencode.events(deciding.is_some()).into_iter();
    let entry = |event: Event| Entry {
        event: event.name.to_owned(),
        group: 0,
        place: 0,
        command: deciding.clone().filter(|_| event.decides).unwrap_or_else(|| command.clone()),
    };
    events.map(entry).collect()
}

/// Returns the command that a plugin of ours starts.
pub(super) fn command(text: &str) -> Option<String> {
    constant(text, "const COMMAND = ")
}

/// Returns the command that it starts where policy hooks decide, if they do.
fn deciding(text: &str) -> Option<String> {
    constant(text, "const DECIDING = ")
}

fn constant(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let limits = spl::canon::Limits::DOOR;
    let value = spl::canon::parse(line.as_bytes(), limits).ok()?;
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_read_back() {
        for line in ["'/usr/bin/spl' session hook", "'/a \"b\"/it'\\''s\\spl' session hook\n⚠"] {
            for decides in [None, Some("'/usr/bin/spl' session hook --policy @DECIDING@")] {
                let text = text(line, decides);
                assert!(is_ours(&text), "{text}");
                assert_eq!(command(&text).as_deref(), Some(line));
                assert_eq!(deciding(&text).as_deref(), decides);
            }
        }
    }
}
