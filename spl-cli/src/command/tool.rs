//! `spl tool`: what a run may call.

mod started;

use std::io::{self, Write};

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::object;
use spl::tool::{
    Grants, McpReport, McpServers, McpState, ToolSpec, Toolbox, Workspace, record_tool_specs,
};

use crate::failure::Failure;
use crate::home;
use crate::output::{NAME, Table, WARN, cut, plural, pretty, printable};
use crate::session::Session;
pub(super) use started::grant;

/// See which tools a run may call, those of MCP servers too
#[derive(Subcommand, Debug)]
pub(crate) enum ToolCommand {
    /// List the tools and where they are from
    #[command(after_help = "\
The servers of `[mcp.<server>]` in config.toml are started, asked for their tools, and ended.

  [mcp.time]
  command = \"uvx\"
  args = [\"mcp-server-time\"]

  [mcp.docs]
  url = \"https://docs.example.org/mcp\"
  bearer_env = \"DOCS_TOKEN\"")]
    List,
    Show(ShowArgs),
}

/// Show what a tool does and which arguments it takes
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl tool show bash
  spl tool show mcp__time__convert_time")]
pub(crate) struct ShowArgs {
    /// What the tool is called
    name: String,
}

/// The most characters of what a tool does that a list shows.
const SAYS: usize = 60;

/// Lists and shows tools.
pub(crate) fn tool(session: &mut Session, command: ToolCommand) -> Result<(), Failure> {
    session.refuse_server("spl tool")?;
    match command {
        ToolCommand::List => list(session),
        ToolCommand::Show(args) => show(session, &args.name),
    }
}

/// Returns every tool as a row, and what became of each server that was started.
fn rows(grants: Option<&Grants>) -> Result<(Vec<Object>, Vec<McpReport>), Failure> {
    // The tools introduce themselves alike in every folder.
    let workspace = Workspace::open("/").map_err(|error| Failure::coded(&error))?;
    let of_workspace = Toolbox::of_workspace(&workspace, Vec::new());
    let of_store = record_tool_specs();
    let mut rows: Vec<Object> =
        of_workspace.specs().map(|spec| row(spec, "workspace", None)).collect();
    rows.extend(of_store.iter().map(|spec| row(spec, "store", None)));
    let McpServers { tools, reports } = started::start(&home::find()?, grants, None)?;
    for tool in &tools {
        let spec = tool.spec();
        let report = reports.iter().find(|report| report.tools.contains(&spec.name));
        rows.push(row(spec, "mcp", report.map(|report| report.server.as_str())));
    }
    Ok((rows, reports))
}

fn row(spec: &ToolSpec, source: &str, server: Option<&str>) -> Object {
    object! {
        "description": spec.description.as_str(),
        "name": spec.name.as_str(),
        "object": "tool",
        "parameters": spec.parameters.clone(),
        "server": server,
        "source": source,
    }
}

fn list(session: &mut Session) -> Result<(), Failure> {
    let (rows, reports) = rows(None)?;
    let servers: Vec<Value> = reports.iter().map(|report| state(report).into()).collect();
    let data: Vec<Value> = rows.into_iter().map(Value::from).collect();
    let answer = object! { "data": data, "object": "list", "servers": servers };
    session.out.list(&answer, |out, rows| {
        let mut table = Table::new(["NAME", "FROM", "DOES"]);
        for row in rows {
            let text = |key| row.get(key).and_then(Value::as_str).unwrap_or_default();
            let does = text("description").lines().next().unwrap_or_default();
            table.row([text("name").to_owned(), origin(row), cut(does, SAYS)]);
        }
        table.print(out)?;
        reports.iter().try_for_each(|report| tell(out, report))
    })
}

fn origin(row: &Value) -> String {
    match (row.get("server").and_then(Value::as_str), row.get("source").and_then(Value::as_str)) {
        (Some(server), _) => format!("mcp {server}"),
        (None, source) => source.unwrap_or_default().to_owned(),
    }
}

fn state(report: &McpReport) -> Object {
    let (state, why) = match &report.state {
        McpState::Ready => ("ready", None),
        McpState::Failed { why } => ("failed", Some(why.as_str())),
    };
    let refused: Vec<Value> = report
        .refused
        .iter()
        .map(|tool| object! { "tool": tool.tool.as_str(), "why": tool.why.as_str() }.into())
        .collect();
    object! {
        "name": report.server.as_str(),
        "refused": refused,
        "state": state,
        "tools": report.tools.len(),
        "transport": report.transport,
        "why": why,
    }
}

fn tell(out: &mut dyn Write, report: &McpReport) -> io::Result<()> {
    let McpReport { server, transport, tools, refused, .. } = report;
    match &report.state {
        McpState::Ready => {
            let tools = plural(tools.len().try_into().unwrap_or(u64::MAX), "tool");
            writeln!(out, "server {server} ({transport}): ready, {tools}")?;
        }
        McpState::Failed { why } => {
            let why = printable(why);
            writeln!(out, "{WARN}server {server}{WARN:#} ({transport}): failed: {why}")?;
        }
    }
    for refused in refused {
        let (tool, why) = (printable(&refused.tool), printable(&refused.why));
        writeln!(out, "  {WARN}refused{WARN:#} {tool}: {why}")?;
    }
    Ok(())
}

fn show(session: &mut Session, name: &str) -> Result<(), Failure> {
    let grants = Grants::parse(name).map_err(Failure::usage)?;
    let (rows, reports) = rows(Some(&grants))?;
    let is_it = |row: &&Object| row.get("name").and_then(Value::as_str) == Some(name);
    let Some(found) = rows.iter().find(is_it) else {
        let failed = reports.iter().find_map(|report| match &report.state {
            McpState::Failed { why } => {
                Some(format!("the MCP server `{}` could not be started: {why}", report.server))
            }
            McpState::Ready => None,
        });
        let missing = format!("there is no tool `{name}`");
        return Err(match failed {
            Some(failed) => Failure::unreachable(failed),
            None => Failure::missing(missing).with_hint("`spl tool list` says which there are."),
        });
    };
    session.out.answer(found, |out| {
        let row = Value::from(found.clone());
        let text = |key| row.get(key).and_then(Value::as_str).unwrap_or_default();
        writeln!(out, "{NAME}{}{NAME:#}  from {}", printable(name), origin(&row))?;
        for line in text("description").lines() {
            writeln!(out, "{}", printable(line))?;
        }
        let parameters = row.get("parameters").and_then(Value::as_object);
        writeln!(out, "{}", parameters.map(pretty).unwrap_or_default())
    })
}
