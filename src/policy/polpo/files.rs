//! The files of a project, as they lie there (contract §2.1). Nothing is read into them here.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::PACK_BYTES;

/// Where packs are.
pub const HOOKS: &str = ".polpo/hooks";

/// Where agents are, a folder each.
pub const AGENTS: &str = ".polpo/agents";

/// The file in the folder of an agent.
pub const AGENT_FILE: &str = "agent.json";

/// A file of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// Its path in the project, with slashes.
    pub path: String,
    /// What it is called by: the stem of the file of a pack, the folder of an agent.
    pub name: String,
    /// Its bytes, or why there are none.
    pub bytes: Result<Vec<u8>, String>,
}

/// The files of a project that say which hooks there are, each kind in the order of the bytes of its
/// names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectFiles {
    /// Files of packs.
    pub packs: Vec<ProjectFile>,
    /// The `agent.json` of each agent that has one.
    pub agents: Vec<ProjectFile>,
}

/// Reads the files of the project at `root`. Of a file that is too long, one byte too many is read.
pub fn read(root: &Path) -> io::Result<ProjectFiles> {
    let mut packs = Vec::new();
    for name in names(&root.join(HOOKS))? {
        let Some(stem) = name.strip_suffix(".json") else { continue };
        let path = format!("{HOOKS}/{name}");
        if let Some(bytes) = bytes(&root.join(&path)) {
            packs.push(ProjectFile { path, name: stem.to_owned(), bytes });
        }
    }
    let mut agents = Vec::new();
    for name in names(&root.join(AGENTS))? {
        let path = format!("{AGENTS}/{name}/{AGENT_FILE}");
        if let Some(bytes) = bytes(&root.join(&path)) {
            agents.push(ProjectFile { path, name, bytes });
        }
    }
    Ok(ProjectFiles { packs, agents })
}

/// Returns the names in a folder, in the order of their bytes. One that is not UTF-8 can be no pack
/// and no agent; under the name that is shown of it there is nothing, so it is passed over.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if is_missing(&error) => return Ok(Vec::new()),
        entries => entries?,
    };
    let names: io::Result<Vec<_>> =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
    let mut names = names?;
    names.sort_unstable();
    Ok(names)
}

/// Returns the bytes of a file; `None` if there is none, or something that is no file.
fn bytes(path: &Path) -> Option<Result<Vec<u8>, String>> {
    match fs::metadata(path) {
        Err(error) if is_missing(&error) => return None,
        Err(error) => return Some(Err(error.to_string())),
        // A pipe would be waited for.
        Ok(found) if !found.is_file() => return None,
        Ok(_) => {}
    }
    let read = || {
        let mut bytes = Vec::new();
        let most = u64::try_from(PACK_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        File::open(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Some(read().map_err(|error: io::Error| error.to_string()))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
