//! All servers of a run, and what their tools are called.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use rmcp::model::Tool as Foreign;

use super::runtime::{Runtime, SharedRuntime};
use super::server::{McpTool, Server};
use crate::canon::{Limits, Value, parse};
use crate::engine::{McpServer, McpTransport};
use crate::record::ThreadId;
use crate::tool::arguments::short;
use crate::tool::surroundings::run_variable;
use crate::tool::{Tool, ToolSpec, allowed_environment};

/// The most characters of a tool's name that providers take.
const NAME_CHARS: usize = 64;

/// The most characters of what a tool says of itself.
const DESCRIPTION_CHARS: usize = 4000;

/// What reading a schema takes.
const SCHEMA: Limits = Limits { bytes: 256 * 1024, depth: 64 };

/// The servers of a run, started. They end with the last of their tools.
#[derive(Default)]
pub struct McpServers {
    /// Their tools, in the order of the servers' names and of each server's list.
    pub tools: Vec<Box<dyn Tool>>,
    /// What became of each server.
    pub reports: Vec<McpReport>,
}

/// What became of a server that was to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpReport {
    /// What the settings call it.
    pub server: String,
    /// How it is reached: `stdio` or `http`.
    pub transport: &'static str,
    /// Whether it answers.
    pub state: McpState,
    /// What its tools are called here.
    pub tools: Vec<String>,
    /// The tools that cannot be called.
    pub refused: Vec<RefusedTool>,
}

/// Whether a server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpState {
    /// It does.
    Ready,
    /// It does not.
    Failed {
        /// Why, without what is secret.
        why: String,
    },
}

/// A tool that cannot be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedTool {
    /// What its server calls it.
    pub tool: String,
    /// Why.
    pub why: String,
}

impl McpServers {
    /// Returns how the names of a server's tools begin.
    pub fn prefix(server: &str) -> String {
        format!("mcp__{server}__")
    }

    /// Starts servers, all at once, each within the time that its settings give it. One that cannot
    /// be started is reported. The servers see the allowed part of `variables`, and which `run` they
    /// are for; headers may come from any variable.
    ///
    /// Fails if this process can start no thread for them.
    pub fn start(
        servers: BTreeMap<String, McpServer>,
        variables: &[(String, String)],
        run: Option<&ThreadId>,
    ) -> io::Result<Self> {
        if servers.is_empty() {
            return Ok(Self::default());
        }
        let runtime = Arc::new(Runtime::start()?);
        let mut environment = allowed_environment(variables.iter().cloned());
        environment.extend(run.map(run_variable));
        let starting: Vec<_> = servers
            .into_iter()
            .map(|(name, settings)| {
                let begun = Server::start(
                    name.clone(),
                    settings.clone(),
                    variables.to_vec(),
                    environment.clone(),
                    Arc::clone(&runtime),
                );
                (name, settings, begun)
            })
            .collect();
        Ok(Self::gather(&runtime, starting))
    }

    fn gather<F>(runtime: &SharedRuntime, starting: Vec<(String, McpServer, F)>) -> Self
    where
        F: Future<Output = Result<(Server, Vec<Foreign>), String>> + Send + 'static,
    {
        let begun = runtime.run(async move {
            let mut tasks = Vec::new();
            for (name, settings, starting) in starting {
                tasks.push((name, settings, tokio::spawn(starting)));
            }
            let mut begun = Vec::new();
            for (name, settings, task) in tasks {
                let result = task.await.unwrap_or_else(|_| Err("starting it broke off".into()));
                begun.push((name, settings, result));
            }
            begun
        });
        let mut servers = Self::default();
        let mut taken = BTreeSet::new();
        for (name, settings, result) in begun.unwrap_or_default() {
            let transport = match settings.transport {
                McpTransport::Stdio { .. } => "stdio",
                McpTransport::Http { .. } => "http",
            };
            let mut report = McpReport {
                server: name,
                transport,
                state: McpState::Ready,
                tools: Vec::new(),
                refused: Vec::new(),
            };
            match result {
                Ok((server, tools)) => {
                    servers.add(&Arc::new(server), &tools, &mut taken, &mut report);
                }
                Err(why) => report.state = McpState::Failed { why },
            }
            servers.reports.push(report);
        }
        servers
    }

    fn add(
        &mut self,
        server: &Arc<Server>,
        tools: &[Foreign],
        taken: &mut BTreeSet<String>,
        report: &mut McpReport,
    ) {
        for foreign in tools {
            let name = called(&report.server, &foreign.name);
            let added = introduced(&name, foreign)
                .and_then(|spec| McpTool::new(Arc::clone(server), foreign.name.to_string(), spec))
                .and_then(|tool| {
                    let free = taken.insert(name.clone());
                    free.then_some(tool).ok_or_else(|| format!("there is a tool `{name}` already"))
                });
            match added {
                Ok(tool) => {
                    self.tools.push(Box::new(tool));
                    report.tools.push(name);
                }
                Err(why) => report.refused.push(RefusedTool { tool: short(&foreign.name), why }),
            }
        }
    }
}

/// Returns what a tool is called here: with what providers take in a name, and no longer than they
/// take it.
fn called(server: &str, tool: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    McpServers::prefix(server).chars().chain(tool.chars().map(plain)).take(NAME_CHARS).collect()
}

fn introduced(name: &str, foreign: &Foreign) -> Result<ToolSpec, String> {
    if foreign.name.is_empty() {
        return Err("it has no name".into());
    }
    let none = |error: &dyn std::fmt::Display| format!("its schema cannot be read: {error}");
    let text = serde_json::to_string(&*foreign.input_schema).map_err(|error| none(&error))?;
    let mut parameters = parse(text.as_bytes(), SCHEMA).map_err(|error| none(&error))?;
    if let Value::Object(members) = &mut parameters
        && !members.contains_key("type")
    {
        // What providers ask for, and what arguments are anyway.
        members.insert("type".into(), "object".into());
    }
    let description = foreign.description.as_deref().unwrap_or_default();
    let description = description.chars().take(DESCRIPTION_CHARS).collect();
    Ok(ToolSpec { name: name.to_owned(), description, parameters })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_called_what_providers_take() {
        assert_eq!(called("time", "convert_time"), "mcp__time__convert_time");
        assert_eq!(called("docs", "find/it now.é"), "mcp__docs__find_it_now__");
        let long = called("a-server", &"x".repeat(100));
        assert_eq!(long.len(), NAME_CHARS);
    }
}
