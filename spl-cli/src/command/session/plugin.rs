//! The plugin for opencode, which has no hook commands: a file of ours, whole.

use spl::canon::Value;

/// What a plugin of ours begins with, in every version.
const BEGINNING: &str = "// Written by `spl session install-hooks --harness opencode`";

const TEXT: &str = include_str!("plugin.js");

/// Where the command stands in it.
const PLACE: &str = "@COMMAND@";

/// Returns the plugin that starts this command.
pub(super) fn text(command: &str) -> String {
    // A JSON string is a string of JavaScript as well.
    TEXT.replacen(PLACE, &Value::from(command).to_string(), 1)
}

/// Returns whether a file is a plugin of ours.
pub(super) fn is_ours(text: &str) -> bool {
    text.starts_with(BEGINNING)
}

/// Returns the command that a plugin of ours starts.
pub(super) fn command(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("const COMMAND = "))?;
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
            let text = text(line);
            assert!(is_ours(&text), "{text}");
            assert_eq!(command(&text).as_deref(), Some(line));
        }
    }
}
