//! Names of tools and resources, and words for a status.

use cel::common::ast::IdedExpr;

use super::{Context, Oddity, Reader, is_path, literal_text};

const TOOL: &str = "record.body.tool";
const STATUS: &str = "record.body.status";
const RESOURCE: &str = "resource";

/// What stands before a tool's name in a resource.
const PREFIX: &str = "tool:";

/// What some harnesses call a tool, and what resources call it. Ordinary words that a tool of any
/// other kind may have as its name are not among them.
const HARNESS_NAMES: &[(&str, &str)] = &[
    ("Bash", "bash"),
    ("run_shell_command", "bash"),
    ("exec_command", "bash"),
    ("local_shell", "bash"),
    ("Read", "read_file"),
    ("Write", "write_file"),
    ("Edit", "edit_file"),
    ("MultiEdit", "edit_file"),
    ("apply_patch", "edit_file"),
    ("LS", "list_dir"),
    ("list_directory", "list_dir"),
    ("Grep", "grep"),
    ("search_file_content", "grep"),
    ("Glob", "glob"),
    ("WebFetch", "web_fetch"),
    ("WebSearch", "web_search"),
    ("google_web_search", "web_search"),
    ("Task", "task"),
    ("spawn_agent", "task"),
];

/// What else people call a status, and what it is.
const STATUS_WORDS: &[(&str, &str)] = &[
    ("err", "error"),
    ("error", "error"),
    ("errored", "error"),
    ("exception", "error"),
    ("fail", "error"),
    ("failed", "error"),
    ("failure", "error"),
    ("ok", "ok"),
    ("okay", "ok"),
    ("pass", "ok"),
    ("passed", "ok"),
    ("succeeded", "ok"),
    ("success", "ok"),
    ("successful", "ok"),
];

impl Reader<'_> {
    /// Looks at a text that something is compared with.
    pub(super) fn named(&mut self, of: &IdedExpr, literal: &IdedExpr) {
        let Some(text) = literal_text(literal) else { return };
        if is_path(of, TOOL) {
            self.tool(literal, text);
        } else if is_path(of, RESOURCE) {
            self.resource(literal, text);
        } else if is_path(of, STATUS) && self.context == Context::Hook {
            self.status(literal, text);
        }
    }

    /// Looks at a text that a resource should begin with.
    pub(super) fn resource_begins(&mut self, of: &IdedExpr, literal: &IdedExpr, text: &str) {
        let may_begin = text.starts_with(PREFIX) || PREFIX.starts_with(text);
        if is_path(of, RESOURCE) && self.context == Context::Hook && !may_begin {
            self.not_a_resource(literal, text);
        }
    }

    fn tool(&mut self, literal: &IdedExpr, text: &str) {
        if let Some(name) = text.strip_prefix(PREFIX) {
            let message = format!("`{text}` is a resource; the tool is called `{name}`");
            let hint = format!("use `{RESOURCE} == \"{text}\"`");
            self.warn(Oddity::ToolOrResource, literal, message, Some(hint));
        } else if !self.no_tool(literal, TOOL, "", text)
            && let Some(name) = canonical(text).filter(|_| self.context == Context::Hook)
        {
            let message = format!("`{text}` is what one harness calls the tool `{name}`");
            let hint = format!("use `{RESOURCE} == \"{PREFIX}{name}\"`, the same in all of them");
            self.warn(Oddity::HarnessName, literal, message, Some(hint));
        }
    }

    fn resource(&mut self, literal: &IdedExpr, text: &str) {
        match text.strip_prefix(PREFIX) {
            Some(name) if self.no_tool(literal, RESOURCE, PREFIX, name) => {}
            Some(name) => {
                if let Some(known) = canonical(name) {
                    let message = format!("no resource is called `{text}`");
                    let hint = format!("use `{PREFIX}{known}`, the same in every harness");
                    self.warn(Oddity::HarnessName, literal, message, Some(hint));
                }
            }
            None if self.context == Context::Hook => self.not_a_resource(literal, text),
            None => {}
        }
    }

    fn not_a_resource(&mut self, literal: &IdedExpr, text: &str) {
        let message = format!("a resource begins with `{PREFIX}`, and `{text}` does not");
        let hint = format!("use `{PREFIX}{text}`, or `{TOOL}`");
        self.warn(Oddity::ToolOrResource, literal, message, Some(hint));
    }

    /// Warns of a name that no tool has.
    fn no_tool(&mut self, literal: &IdedExpr, of: &str, prefix: &str, name: &str) -> bool {
        let begins = |with: &str| Some(format!("use `{of}.startsWith(\"{prefix}{with}\")`"));
        if let Some(server) = server(name) {
            let message = format!("`mcp__{server}` is a server, and no tool is called that");
            let hint = begins(&format!("mcp__{server}__"));
            self.warn(Oddity::ServerNotTool, literal, message, hint);
            return true;
        }
        let star = name.contains('*');
        if star {
            let message = "in a comparison `*` is only a star".to_owned();
            let hint = name.strip_suffix('*').filter(|before| !before.contains('*'));
            self.warn(Oddity::Wildcard, literal, message, hint.and_then(begins));
        }
        star
    }

    fn status(&mut self, literal: &IdedExpr, text: &str) {
        let lower = text.to_ascii_lowercase();
        let known = STATUS_WORDS.iter().find(|(word, _)| *word == lower);
        if let Some((_, status)) = known.filter(|(_, status)| *status != text) {
            let message = format!("the status of a call is `ok` or `error`, not `{text}`");
            let hint = Some(format!("use `\"{status}\"`"));
            self.warn(Oddity::UnknownStatus, literal, message, hint);
        }
    }
}

/// Returns the server, where a name is that of a server of tools and not of one of its tools.
fn server(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("mcp__")?;
    let (server, tool) = rest.split_once("__").unwrap_or((rest, ""));
    matches!(tool, "" | "*" | ".*").then_some(server)
}

/// Returns what resources call a tool, if that is not its name.
fn canonical(name: &str) -> Option<&'static str> {
    let known = HARNESS_NAMES.iter().find(|(known, _)| *known == name);
    let lower = name.to_ascii_lowercase();
    let spelled = || HARNESS_NAMES.iter().find(|(_, canonical)| *canonical == lower);
    known.or_else(spelled).map(|(_, canonical)| *canonical).filter(|canonical| *canonical != name)
}
