//! Rules that refuse calls: `tool`, or `tool:pattern`.

use std::path::{Component, Path, PathBuf};

use super::glob::{Glob, GlobError};
use crate::canon::{Object, Value};

/// The arguments that a pattern is held against, and whether each is a path.
const ARGUMENTS: [(&str, bool); 4] =
    [("command", false), ("path", true), ("pattern", false), ("url", false)];

/// A rule that refuses calls. There is none that allows any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenyRule {
    written: String,
    tool: Glob,
    argument: Option<Argument>,
}

/// A pattern of what a call is about, read twice: in a path `/` parts names, elsewhere it is a
/// character like any other. A name with a dot in front is no more hidden than others.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Argument {
    path: Glob,
    text: Glob,
}

impl DenyRule {
    /// Reads a rule.
    pub fn new(written: &str) -> Result<Self, GlobError> {
        let (tool, pattern) = match written.split_once(':') {
            Some((tool, pattern)) => (tool, Some(pattern)),
            None => (written, None),
        };
        if tool.is_empty() || pattern == Some("") {
            return Err(GlobError::Empty);
        }
        let argument = pattern.map(|pattern| {
            Ok(Argument { path: Glob::of_paths(pattern)?, text: Glob::of_text(pattern)? })
        });
        Ok(Self {
            written: written.to_owned(),
            tool: Glob::new(tool)?,
            argument: argument.transpose()?,
        })
    }

    /// Returns the rule as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns whether a call in the folder `cwd` is refused.
    pub fn refuses(&self, tool: &str, input: &Object, cwd: &Path) -> bool {
        self.tool.matches(tool)
            && self.argument.as_ref().is_none_or(|argument| {
                let given = |&(name, is_path)| Some((input.get(name)?, is_path));
                ARGUMENTS.iter().filter_map(given).any(|(value, is_path)| match value {
                    Value::String(text) if is_path => argument.is_about_path(text, cwd),
                    Value::String(text) => argument.text.matches(text),
                    _ => false,
                })
            })
    }
}

impl Argument {
    /// One file has many paths: as it is written, without its detours, and seen from the workspace.
    fn is_about_path(&self, written: &str, cwd: &Path) -> bool {
        if self.path.matches(written) {
            return true;
        }
        let plain = plain(Path::new(written));
        let inside = plain.strip_prefix(cwd).unwrap_or(&plain);
        [plain.as_path(), inside].iter().any(|path| self.path.matches(&path.to_string_lossy()))
    }
}

/// Returns a path without `.` and, where it can be told from the words, without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(plain.components().next_back(), Some(Component::Normal(_))) =>
            {
                plain.pop();
            }
            // Above the root is the root.
            Component::ParentDir if plain.has_root() => {}
            _ => plain.push(component),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    fn refuses(rule: &str, tool: &str, input: &Object) -> bool {
        DenyRule::new(rule).expect("a rule").refuses(tool, input, Path::new("/work"))
    }

    #[test]
    fn a_rule_without_a_pattern_refuses_a_tool() {
        assert!(refuses("bash", "bash", &Object::new()));
        assert!(!refuses("bash", "grep", &Object::new()));
        assert!(refuses("mcp__*", "mcp__ci__run", &Object::new()));
    }

    #[test]
    fn a_pattern_is_held_against_what_a_call_is_about() {
        for name in ["command", "path", "pattern", "url"] {
            let mut input = Object::new();
            input.insert(name.to_owned(), "rm it".into());
            assert!(refuses("bash:rm *", "bash", &input), "{name}");
        }
        assert!(!refuses("bash:rm *", "bash", &object! { "content": "rm it" }));
        assert!(!refuses("bash:rm *", "bash", &object! { "command": 7 }));
        assert!(!refuses("bash:rm *", "bash", &Object::new()));
        assert!(!refuses("bash:rm *", "grep", &object! { "command": "rm it" }));
    }

    #[test]
    fn a_slash_in_a_command_is_a_character_like_others() {
        assert!(refuses("bash:rm *", "bash", &object! { "command": "rm -rf /tmp/.x" }));
        assert!(refuses("fetch:https://*", "fetch", &object! { "url": "https://a.test/b/c" }));
    }

    #[test]
    fn a_file_has_many_paths() {
        for path in
            ["secret/key", "./secret/key", "a/../secret/key", "/work/secret/key", "secret//key"]
        {
            assert!(
                refuses("read_file:secret/*", "read_file", &object! { "path": path }),
                "{path}"
            );
        }
        for path in ["secret", "other/secret/key", "/secret/key", "secret/a/b"] {
            assert!(
                !refuses("read_file:secret/*", "read_file", &object! { "path": path }),
                "{path}"
            );
        }
        assert!(refuses("read_file:**/.env", "read_file", &object! { "path": "a/b/.env" }));
        assert!(refuses("read_file:*.env", "read_file", &object! { "path": ".env" }));
        assert!(refuses("read_file:/etc/*", "read_file", &object! { "path": "/../etc/passwd" }));
    }

    #[test]
    fn a_rule_that_can_refuse_nothing_is_none() {
        for rule in ["", ":", "bash:", ":rm"] {
            assert_eq!(DenyRule::new(rule), Err(GlobError::Empty), "{rule}");
        }
    }
}
