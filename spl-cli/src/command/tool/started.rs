//! The MCP servers of a home, started, and which tools a run gets.

use std::collections::BTreeMap;

use spl::engine::{Home, McpServer};
use spl::record::ThreadId;
use spl::tool::{Grants, McpServers, McpState, Toolbox};

use crate::failure::Failure;
use crate::home::variables;
use crate::output;

/// Starts those servers of a home whose tools may be among `grants`, for a run if there is one.
pub(super) fn start(
    home: &Home,
    grants: Option<&Grants>,
    run: Option<&ThreadId>,
) -> Result<McpServers, Failure> {
    let settings = home.settings().map_err(|error| Failure::coded(&error))?;
    let reached =
        |name: &String| grants.is_none_or(|grants| grants.reach(&McpServers::prefix(name)));
    let servers: BTreeMap<String, McpServer> =
        settings.mcp.into_iter().filter(|(name, _)| reached(name)).collect();
    McpServers::start(servers, &variables(), run)
        .map_err(|error| Failure::local("no MCP server could be started", &error))
}

/// Adds the tools of the servers of a home to those of a run, and leaves what was granted. A server
/// that cannot be started is in the way only of a run that asks for its tools.
pub(crate) fn grant(
    home: &Home,
    grants: Option<&Grants>,
    run: &ThreadId,
    tools: &mut Toolbox,
) -> Result<(), Failure> {
    let started = start(home, grants, Some(run))?;
    for report in &started.reports {
        let (server, prefix) = (&report.server, McpServers::prefix(&report.server));
        if let McpState::Failed { why } = &report.state {
            let failed = format!("the MCP server `{server}` could not be started: {why}");
            if grants.is_some_and(|grants| grants.name(&prefix)) {
                return Err(Failure::unreachable(failed).with_hint(format!(
                    "See [mcp.{server}] of {}.",
                    home.settings_path().display()
                )));
            }
            output::warn(&output::printable(&failed));
        }
        for refused in &report.refused {
            let text = format!("`{}` of the MCP server `{server}`: {}", refused.tool, refused.why);
            output::warn(&output::printable(&text));
        }
    }
    for tool in started.tools {
        tools.add(tool).map_err(|error| Failure::coded(&error))?;
    }
    match grants {
        Some(grants) => tools.grant(grants).map_err(|error| Failure::usage(error.to_string())),
        None => Ok(()),
    }
}
