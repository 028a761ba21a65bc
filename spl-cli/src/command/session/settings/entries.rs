//! The commands of ours that stand in a settings file, and where.

use jsonc_parser::ast::{Object, StringLit, Value};

use super::super::command_line::{decides, is_ours};
use super::{Document, Fault};

/// A hook of ours in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The event.
    pub(crate) event: String,
    /// Which group of the event, from 0.
    pub(crate) group: usize,
    /// Which hook of the group, from 0.
    pub(crate) place: usize,
    /// The command.
    pub(crate) command: String,
}

impl Entry {
    /// Returns whether it asks policy hooks.
    pub(crate) fn decides(&self) -> bool {
        decides(&self.command)
    }
}

/// Finds our hooks. What has another shape than hooks have holds none.
pub(crate) fn entries(document: &Document<'_>) -> Result<Vec<Entry>, Fault> {
    let mut found = Vec::new();
    for event in document.hooks()?.into_iter().flat_map(|hooks| &hooks.properties) {
        let groups = event.value.as_array().into_iter().flat_map(|groups| &groups.elements);
        for (group, value) in groups.enumerate() {
            for (place, handler) in handlers(value).iter().enumerate() {
                if let Some(command) = our_command(handler) {
                    found.push(Entry {
                        event: event.name.as_str().to_owned(),
                        group,
                        place,
                        command: command.value.to_string(),
                    });
                }
            }
        }
    }
    Ok(found)
}

/// Returns the hooks of a group.
pub(super) fn handlers<'d, 'a>(group: &'d Value<'a>) -> &'d [Value<'a>] {
    let hooks = group.as_object().and_then(|group| group.get_array("hooks"));
    hooks.map_or(&[], |hooks| &hooks.elements)
}

/// Returns the command of a hook of ours.
pub(super) fn our_command<'d, 'a>(handler: &'d Value<'a>) -> Option<&'d StringLit<'a>> {
    let handler: &Object<'a> = handler.as_object()?;
    if handler.get("type").is_some_and(|_| {
        handler.get_string("type").is_none_or(|kind| kind.value.as_ref() != "command")
    }) {
        return None;
    }
    handler.get_string("command").filter(|command| is_ours(&command.value))
}
