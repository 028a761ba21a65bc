//! `read_file`

use std::io::{self, Read, Seek, SeekFrom};

use cap_std::fs::File;

use super::arguments::text;
use super::workspace::sentence;
use super::{Answer, Cancel, Clip, SHOWN_BYTES, Status, Tool, ToolSpec, Workspace};
use crate::canon::Object;
use crate::object;

/// Shows a file of the workspace.
#[derive(Debug)]
pub struct ReadFileTool {
    workspace: Workspace,
    spec: ToolSpec,
}

impl ReadFileTool {
    /// Returns the tool for the files of `workspace`.
    pub fn new(workspace: Workspace) -> Self {
        let spec = ToolSpec::new(
            "read_file",
            "Reads a file of the workspace. The middle of a file over 256 KiB is left out.",
            object! {
                "path": object! {
                    "type": "string",
                    "description": "The file, relative to the workspace.",
                },
            },
            &["path"],
        );
        Self { workspace, spec }
    }

    fn answer(&self, arguments: &Object) -> Result<Answer, String> {
        let path = text(arguments, "path")?;
        let inside = self.workspace.resolve(path)?;
        let (mut file, len) = self.workspace.open_to_read(&inside, path)?;
        let mut clip = Clip::new();
        gather(&mut file, len, &mut clip).map_err(|error| sentence(path, &error))?;
        let (bytes, empty) = (clip.len(), clip.is_empty());
        Ok(clip.into_answer(Status::Ok).with_empty(empty).with_data(object! { "bytes": bytes }))
    }
}

impl Tool for ReadFileTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: &Object, _: &Cancel) -> Answer {
        self.answer(arguments).unwrap_or_else(Answer::error)
    }
}

/// Reads the file, or its two ends if it is long: a file of a terabyte costs no more than that.
fn gather(file: &mut File, len: u64, clip: &mut Clip) -> io::Result<()> {
    const ENDS: u64 = SHOWN_BYTES as u64;
    let mut bytes = Vec::new();
    file.by_ref().take(ENDS).read_to_end(&mut bytes)?;
    clip.push_bytes(&bytes);
    bytes.clear();
    if len <= 2 * ENDS {
        file.take(ENDS).read_to_end(&mut bytes)?;
        clip.push_bytes(&bytes);
        return Ok(());
    }
    file.seek(SeekFrom::Start(len - ENDS))?;
    file.take(ENDS).read_to_end(&mut bytes)?;
    // The end of a character whose start is skipped is skipped with it.
    let broken = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    clip.skip(len - 2 * ENDS + broken as u64);
    clip.push_bytes(bytes.get(broken..).unwrap_or_default());
    Ok(())
}
