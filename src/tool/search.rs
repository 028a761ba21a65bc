//! `search`

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cap_std::fs::File;
use regex::bytes::Regex;

use super::arguments::text;
use super::workspace::sentence;
use super::{Answer, Cancel, Clip, Status, Tool, ToolSpec, Workspace};
use crate::canon::{Object, Value};
use crate::object;
use crate::time::Stopwatch;

/// The most lines that are shown.
const HITS: usize = 200;

/// The most characters of a line that are shown.
const LINE_CHARS: usize = 300;

/// The most bytes of a line that are looked at in one piece.
const LINE_BYTES: u64 = 64 * 1024;

/// How much of a file decides whether it is binary.
const SNIFFED_BYTES: usize = 8 * 1024;

const AT_MOST: Duration = Duration::from_mins(1);

/// Finds lines in the files of the workspace.
#[derive(Debug)]
pub struct SearchTool {
    workspace: Workspace,
    spec: ToolSpec,
}

impl SearchTool {
    /// Returns the tool for the files of `workspace`.
    pub fn new(workspace: Workspace) -> Self {
        let spec = ToolSpec::new(
            "search",
            "Finds the lines of files in the workspace that match a regular expression, as \
             `path:line: text`. Binary files and `.git` are left out, links are not followed.",
            object! {
                "pattern": object! {
                    "type": "string",
                    "description": "A regular expression without look-around or back-references.",
                },
                "path": object! {
                    "type": "string",
                    "description": "A file or a directory to search in; the workspace if absent.",
                },
            },
            &["pattern"],
        );
        Self { workspace, spec }
    }

    fn answer(&self, arguments: &Object, cancel: &Cancel) -> Result<Answer, String> {
        let pattern = text(arguments, "pattern")?;
        let pattern =
            Regex::new(pattern).map_err(|error| format!("`pattern` cannot be used: {error}"))?;
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or(".");
        let inside = self.workspace.resolve(path)?;
        let found = self.workspace.dir().symlink_metadata(&inside);
        let found = found.map_err(|error| sentence(path, &error))?;
        let mut search = Search {
            workspace: &self.workspace,
            pattern,
            cancel,
            watch: Stopwatch::start(),
            hits: Vec::new(),
            unread: 0,
            stopped: None,
        };
        if found.is_dir() {
            search.walk(inside);
        } else if found.is_file() {
            search.file(&inside);
        } else {
            return Err(format!("`{path}` is neither a file nor a directory"));
        }
        Ok(search.into_answer())
    }
}

impl Tool for SearchTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: &Object, cancel: &Cancel) -> Answer {
        self.answer(arguments, cancel).unwrap_or_else(Answer::error)
    }
}

/// Why a search ended before it was through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stopped {
    Hits,
    Time,
    Cancelled,
}

struct Search<'a> {
    workspace: &'a Workspace,
    pattern: Regex,
    cancel: &'a Cancel,
    watch: Stopwatch,
    hits: Vec<String>,
    /// How many files and directories could not be read.
    unread: usize,
    stopped: Option<Stopped>,
}

impl Search<'_> {
    /// Searches a directory and what is beneath it, in the order of names.
    fn walk(&mut self, start: PathBuf) {
        // The next one last. Directories are opened when their turn comes, not before.
        let mut ahead = vec![(start, true)];
        while let Some((path, is_dir)) = ahead.pop() {
            if self.must_stop() {
                return;
            }
            if !is_dir {
                self.file(&path);
                continue;
            }
            let Some(mut inside) = self.entries(&path) else {
                self.unread += 1;
                continue;
            };
            inside.sort_unstable_by(|a, b| b.cmp(a));
            ahead.append(&mut inside);
        }
    }

    /// Returns the files and directories in a directory; the others are true.
    fn entries(&self, path: &Path) -> Option<Vec<(PathBuf, bool)>> {
        let mut inside = Vec::new();
        for entry in self.workspace.dir().read_dir(path).ok()? {
            let entry = entry.ok()?;
            let (name, kind) = (entry.file_name(), entry.file_type().ok()?);
            if name != ".git" && (kind.is_dir() || kind.is_file()) {
                inside.push((path.join(name), kind.is_dir()));
            }
        }
        Some(inside)
    }

    fn file(&mut self, path: &Path) {
        let opened = self.workspace.open_to_read(path, "").ok();
        if opened.and_then(|(file, _)| self.lines(path, file)).is_none() {
            self.unread += 1;
        }
    }

    fn lines(&mut self, path: &Path, file: File) -> Option<()> {
        let mut reader = BufReader::with_capacity(SNIFFED_BYTES, file);
        if reader.fill_buf().ok()?.contains(&0) {
            return Some(());
        }
        let mut line = Vec::new();
        let mut number = 1_u64;
        while reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line).ok()? > 0 {
            let is_whole = line.ends_with(b"\n");
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if self.pattern.is_match(text) {
                self.hits.push(hit(path, number, text));
            }
            if self.must_stop() {
                break;
            }
            number += u64::from(is_whole);
            line.clear();
        }
        Some(())
    }

    fn must_stop(&mut self) -> bool {
        if self.stopped.is_none() {
            self.stopped = match () {
                () if self.cancel.is_cancelled() => Some(Stopped::Cancelled),
                () if self.hits.len() > HITS => Some(Stopped::Hits),
                () if self.watch.elapsed() > AT_MOST => Some(Stopped::Time),
                () => None,
            };
        }
        self.stopped.is_some()
    }

    fn into_answer(mut self) -> Answer {
        if self.stopped == Some(Stopped::Cancelled) {
            return Answer::error("[cancelled]");
        }
        // One more than is shown has been looked for, to know whether there are more.
        let more = self.hits.len() > HITS;
        self.hits.truncate(HITS);
        let empty = self.hits.is_empty();
        let data = object! {
            "hits": self.hits.len(),
            "truncated": more || self.stopped.is_some(),
            "unread": self.unread,
        };
        let mut clip = Clip::new();
        for hit in &self.hits {
            clip.push(hit);
        }
        if empty {
            clip.push("[no line matches]\n");
        }
        if more {
            clip.push(&format!(
                "[the first {HITS} hits; a narrower pattern or path shows others]\n"
            ));
        } else if self.stopped.is_some() {
            clip.push(&format!("[stopped after {} s]\n", AT_MOST.as_secs()));
        }
        if self.unread > 0 {
            clip.push(&format!("[{} files or directories could not be read]\n", self.unread));
        }
        clip.into_answer(Status::Ok).with_empty(empty).with_data(data)
    }
}

fn hit(path: &Path, number: u64, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let shown: String = text.chars().take(LINE_CHARS).collect();
    let cut = if shown.len() < text.len() { " …" } else { "" };
    let path = path.strip_prefix(".").unwrap_or(path);
    format!("{}:{number}: {shown}{cut}\n", path.display())
}
