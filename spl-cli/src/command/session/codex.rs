//! What Codex keeps beside its hooks: `config.toml`, with hooks of its own form, whether a person
//! has accepted ours, and a switch.
//!
//! Only read here. Accepting hooks is a person's to do.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::settings::Entry;

/// Whether a person has accepted a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Codex has an entry for it. Whether the entry still holds, Codex alone knows.
    Given,
    /// There is none, so the hook is not run.
    Absent,
    /// It was switched off in `/hooks`.
    Off,
}

/// `config.toml`.
pub(super) struct Config(Table);

impl Config {
    /// Reads the file beside `hooks`. `None` if there is none, an error if it does not read.
    pub(super) fn beside(hooks: &Path) -> Result<Option<Self>, String> {
        let Ok(text) = fs::read_to_string(Self::path(hooks)) else { return Ok(None) };
        let table = text.parse::<Table>().map(Self).map(Some);
        table.map_err(|error| error.message().to_owned())
    }

    /// Returns where that file is.
    pub(super) fn path(hooks: &Path) -> PathBuf {
        hooks.with_file_name("config.toml")
    }

    /// Returns an event that has hooks in this file: Codex reads one of the two.
    pub(super) fn inline_event(&self) -> Option<&str> {
        let hooks = self.0.get("hooks")?.as_table()?;
        hooks.keys().map(String::as_str).find(|key| *key != "state")
    }

    /// Returns the switch that is off, if one is.
    pub(super) fn switch_off(&self) -> Option<&'static str> {
        let features = self.0.get("features")?.as_table()?;
        let off = |key| features.get(key).and_then(Value::as_bool) == Some(false);
        [("hooks", "features.hooks"), ("codex_hooks", "features.codex_hooks")]
            .into_iter()
            .find_map(|(key, name)| off(key).then_some(name))
    }

    /// Tells whether a person has accepted a hook of the file at one of these paths.
    pub(super) fn trust(&self, paths: &[PathBuf], entry: &Entry) -> Trust {
        let state = self.0.get("hooks").and_then(|hooks| hooks.get("state"));
        let Some(state) = state.and_then(Value::as_table) else { return Trust::Absent };
        let event = snake(&entry.event);
        let found = paths.iter().find_map(|path| {
            state.get(&format!("{}:{event}:{}:{}", path.display(), entry.group, entry.place))
        });
        let Some(found) = found else { return Trust::Absent };
        if found.get("enabled").and_then(Value::as_bool) == Some(false) {
            Trust::Off
        } else if found.get("trusted_hash").is_some_and(Value::is_str) {
            Trust::Given
        } else {
            Trust::Absent
        }
    }
}

/// `SessionStart` as `session_start`.
fn snake(event: &str) -> String {
    let mut out = String::with_capacity(event.len() + 4);
    for (at, c) in event.chars().enumerate() {
        if c.is_uppercase() && at > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Config(text.parse().expect("TOML"))
    }

    fn entry(event: &str, group: usize) -> Entry {
        Entry { event: event.into(), group, place: 0, command: String::new() }
    }

    #[test]
    fn trust_goes_by_the_place_of_a_hook() {
        let config = config(
            r#"
            [hooks.state."/h/hooks.json:post_tool_use:1:0"]
            trusted_hash = "sha256:1"
            [hooks.state."/h/hooks.json:stop:0:0"]
            enabled = false
            trusted_hash = "sha256:2"
            [hooks.state."/h/hooks.json:session_end:0:0"]
            enabled = true
            "#,
        );
        let paths = [PathBuf::from("/other"), PathBuf::from("/h/hooks.json")];
        for (event, group, trust) in [
            ("PostToolUse", 1, Trust::Given),
            ("PostToolUse", 0, Trust::Absent),
            ("Stop", 0, Trust::Off),
            ("SessionEnd", 0, Trust::Absent),
            ("SessionStart", 0, Trust::Absent),
        ] {
            assert_eq!(config.trust(&paths, &entry(event, group)), trust, "{event}");
        }
        assert_eq!(config.inline_event(), None);
    }

    #[test]
    fn hooks_of_the_other_form_are_seen() {
        let inline = config("[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"");
        assert_eq!(inline.inline_event(), Some("Stop"));
        assert_eq!(config("model = \"m\"").inline_event(), None);
        assert_eq!(config("[features]\nhooks = false").switch_off(), Some("features.hooks"));
        assert_eq!(config("[features]\nhooks = true").switch_off(), None);
    }
}
