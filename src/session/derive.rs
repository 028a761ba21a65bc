//! What a predicate sees of a call: `{tool, args, status, content}`, and the canonical name.

/// Returns what a tool of any harness is called here: `bash` for every shell.
pub fn canonical_tool(tool: &str) -> String {
    tool.to_owned()
}
