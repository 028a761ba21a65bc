//! The canonical name of a tool.

/// Returns what a tool of any harness is called here, so that one lesson serves all of them: `bash`
/// for every shell, `mcp__<server>__<tool>` for a tool of an MCP server, also where a plugin brings
/// the server. Any other name stands as it is.
pub fn canonical_tool(tool: &str) -> String {
    known(tool).map_or_else(|| without_plugin(tool), str::to_owned)
}

fn known(tool: &str) -> Option<&'static str> {
    Some(match tool {
        "Bash" | "bash" | "Shell" | "shell" | "local_shell" | "run_shell_command"
        | "exec_command" | "shell_command" | "exec" | "PowerShell" | "powershell" => "bash",
        "Read" | "read" | "view" | "read_file" => "read_file",
        "Write" | "write" | "create" | "write_file" => "write_file",
        "Edit" | "edit" | "MultiEdit" | "multiedit" | "replace" | "apply_patch" | "patch"
        | "edit_file" => "edit_file",
        "LS" | "ls" | "list" | "list_directory" | "list_dir" => "list_dir",
        "Grep" | "grep" | "grep_search" | "search_file_content" => "grep",
        "Glob" | "glob" | "find" => "glob",
        "WebFetch" | "webfetch" | "web_fetch" => "web_fetch",
        "WebSearch" | "websearch" | "google_web_search" | "web_search" => "web_search",
        "Task" | "task" | "Agent" | "agent" | "spawn_agent" => "task",
        _ => return None,
    })
}

/// Drops the plugin from `mcp__plugin_<plugin>_<server>__<tool>`. The name of a plugin has hyphens
/// where that of a server may have `_`, so the first `_` ends it.
fn without_plugin(tool: &str) -> String {
    let parts = tool.strip_prefix("mcp__plugin_").and_then(|rest| {
        let (plugin, rest) = rest.split_once('_')?;
        let (server, name) = rest.split_once("__")?;
        (!plugin.is_empty() && !server.is_empty() && !name.is_empty()).then_some((server, name))
    });
    match parts {
        Some((server, name)) => format!("mcp__{server}__{name}"),
        None => tool.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_for_what_every_harness_has() {
        for (tools, canonical) in [
            ("Bash bash run_shell_command exec_command shell local_shell exec PowerShell", "bash"),
            ("Read read view read_file", "read_file"),
            ("Write write create write_file", "write_file"),
            ("Edit edit MultiEdit replace apply_patch", "edit_file"),
            ("LS list_directory ls list", "list_dir"),
            ("Grep grep search_file_content grep_search", "grep"),
            ("Glob glob find", "glob"),
            ("WebFetch webfetch web_fetch", "web_fetch"),
            ("WebSearch google_web_search web_search", "web_search"),
            ("Task task Agent spawn_agent", "task"),
        ] {
            for tool in tools.split(' ') {
                assert_eq!(canonical_tool(tool), canonical, "{tool}");
            }
        }
    }

    #[test]
    fn tools_of_servers_lose_their_plugin_and_nothing_else() {
        for (tool, canonical) in [
            ("mcp__plugin_notes_db__query", "mcp__db__query"),
            ("mcp__plugin_my-notes_db_main__run_query", "mcp__db_main__run_query"),
            ("mcp__Linear__search-docs", "mcp__Linear__search-docs"),
            ("mcp__demo_srv__look_up_item", "mcp__demo_srv__look_up_item"),
            ("mcp__plugin_notes__query", "mcp__plugin_notes__query"),
            ("mcp__plugin__query", "mcp__plugin__query"),
            ("mcp__plugin_x_y", "mcp__plugin_x_y"),
            ("tracker_search", "tracker_search"),
            ("BASH", "BASH"),
            ("über.werkzeug", "über.werkzeug"),
            ("", ""),
        ] {
            assert_eq!(canonical_tool(tool), canonical, "{tool}");
        }
    }
}
