//! `list_dir`

use cap_std::fs::{Dir, DirEntry};

use super::workspace::sentence;
use super::{Answer, Cancel, Clip, Status, Tool, ToolSpec, Workspace};
use crate::canon::{Object, Value};
use crate::object;

/// The most entries that are read.
const ENTRIES: usize = 20_000;

/// Lists a directory of the workspace.
#[derive(Debug)]
pub struct ListDirTool {
    workspace: Workspace,
    spec: ToolSpec,
}

impl ListDirTool {
    /// Returns the tool for the directories of `workspace`.
    pub fn new(workspace: Workspace) -> Self {
        let spec = ToolSpec::new(
            "list_dir",
            "Lists a directory of the workspace, one name a line: directories end in `/`, links \
             show where they lead.",
            object! {
                "path": object! {
                    "type": "string",
                    "description": "The directory, relative to the workspace; it itself if absent.",
                },
            },
            &[],
        );
        Self { workspace, spec }
    }

    fn answer(&self, arguments: &Object) -> Result<Answer, String> {
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or(".");
        let inside = self.workspace.resolve(path)?;
        let dir = self.workspace.dir().open_dir(&inside);
        let dir = dir.map_err(|error| sentence(path, &error))?;
        let entries = dir.entries().map_err(|error| sentence(path, &error))?;
        let mut lines = Vec::new();
        let mut more = false;
        for entry in entries {
            if lines.len() == ENTRIES {
                more = true;
                break;
            }
            let entry = entry.map_err(|error| sentence(path, &error))?;
            lines.push((entry.file_name(), line(&dir, &entry)));
        }
        lines.sort_unstable();
        let data = object! { "entries": lines.len(), "truncated": more };
        let empty = lines.is_empty();
        let mut clip = Clip::new();
        for (_, line) in lines {
            clip.push(&line);
        }
        if empty {
            clip.push("[no entries]");
        }
        if more {
            clip.push(&format!("[more than {ENTRIES} entries; the rest is not listed]\n"));
        }
        Ok(clip.into_answer(Status::Ok).with_empty(empty).with_data(data))
    }
}

impl Tool for ListDirTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: &Object, _: &Cancel) -> Answer {
        self.answer(arguments).unwrap_or_else(Answer::error)
    }
}

fn line(dir: &Dir, entry: &DirEntry) -> String {
    let name = entry.file_name();
    let shown = one_line(&name.to_string_lossy());
    match entry.file_type() {
        Ok(kind) if kind.is_dir() => format!("{shown}/\n"),
        Ok(kind) if kind.is_symlink() => {
            let target = dir.read_link_contents(&name).unwrap_or_default();
            format!("{shown} -> {}\n", one_line(&target.to_string_lossy()))
        }
        _ => format!("{shown}\n"),
    }
}

/// A name may hold a line break; a line of a list may not.
fn one_line(name: &str) -> String {
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    name.chars().map(shown).collect()
}
