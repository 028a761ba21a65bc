//! `write_file`

use std::io::{self, Write};
use std::path::Path;

use super::arguments::text;
use super::workspace::sentence;
use super::{Answer, Cancel, Tool, ToolSpec, Workspace};
use crate::canon::Object;
use crate::object;

/// Writes a file of the workspace.
#[derive(Debug)]
pub struct WriteFileTool {
    workspace: Workspace,
    spec: ToolSpec,
}

impl WriteFileTool {
    /// Returns the tool for the files of `workspace`.
    pub fn new(workspace: Workspace) -> Self {
        let spec = ToolSpec::new(
            "write_file",
            "Writes a file of the workspace, in place of what it holds. Directories on the way \
             are made.",
            object! {
                "path": object! {
                    "type": "string",
                    "description": "The file, relative to the workspace.",
                },
                "content": object! {
                    "type": "string",
                    "description": "All that the file will hold.",
                },
            },
            &["path", "content"],
        );
        Self { workspace, spec }
    }

    fn answer(&self, arguments: &Object) -> Result<Answer, String> {
        let (path, content) = (text(arguments, "path")?, text(arguments, "content")?);
        if path.is_empty() || path.ends_with('/') {
            return Err(format!("`{path}` does not name a file"));
        }
        let created = self.write(path, content)?;
        let (done, bytes) = (if created { "created" } else { "replaced" }, content.len());
        Ok(Answer::ok(format!("{done} `{path}`: {bytes} bytes"))
            .with_data(object! { "bytes": bytes, "created": created }))
    }

    /// Writes the file, and tells whether it was not there before.
    fn write(&self, path: &str, content: &str) -> Result<bool, String> {
        let inside = self.workspace.resolve(path)?;
        let created = self.workspace.dir().symlink_metadata(&inside).is_err();
        if let Some(parent) = inside.parent().filter(|parent| *parent != Path::new("")) {
            let made = self.workspace.dir().create_dir_all(parent);
            made.map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => format!("a part of `{path}` is not a directory"),
                _ => sentence(path, &error),
            })?;
        }
        let mut file = self.workspace.open_to_write(&inside, path, created)?;
        // Emptied only now that it is known to be a file.
        file.set_len(0)
            .and_then(|()| file.write_all(content.as_bytes()))
            .map_err(|error| sentence(path, &error))?;
        Ok(created)
    }
}

impl Tool for WriteFileTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: &Object, _: &Cancel) -> Answer {
        self.answer(arguments).unwrap_or_else(Answer::error)
    }
}
