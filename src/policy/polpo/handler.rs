//! What answers for a hook: six kinds (contract §8).

use std::collections::BTreeMap;
use std::time::Duration;

use super::PackCode;
use super::place::Place;
use super::{PackName, binding, credential, http};
use crate::canon::Object;

const HANDLER: PackCode = PackCode::InvalidHandler;

/// The most characters of a command.
const COMMAND_CHARS: usize = 8192;
/// The most characters of a prompt.
const PROMPT_CHARS: usize = 16_384;
/// The most characters of a name of a tool, a server, a model or an agent.
const NAME_CHARS: usize = 256;
/// The most characters of a path.
const PATH_CHARS: usize = 4096;
/// The most variables of a command.
const VARIABLES: usize = 32;
/// How long a handler may take at most, in milliseconds.
const TIMEOUT_MS: i64 = 600_000;

/// A kind of handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HandlerKind {
    /// A command in the sandbox of the agent.
    Command,
    /// A request to a public host.
    Http,
    /// A tool of the agent.
    Tool,
    /// A tool of an MCP server of the agent.
    McpTool,
    /// A call of a model without tools.
    Prompt,
    /// A run of another agent.
    Agent,
}

impl HandlerKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Command, Self::Http, Self::Tool, Self::McpTool, Self::Prompt, Self::Agent];

    /// Returns the word in packs and traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Http => "http",
            Self::Tool => "tool",
            Self::McpTool => "mcp_tool",
            Self::Prompt => "prompt",
            Self::Agent => "agent",
        }
    }

    /// Returns whether it may stand in a gate: what it answers is no opinion of a model.
    pub const fn is_deterministic(self) -> bool {
        matches!(self, Self::Command | Self::Http | Self::Tool | Self::McpTool)
    }

    /// Returns how long it may take where the pack does not say.
    pub const fn default_timeout(self, managed: bool) -> Duration {
        Duration::from_millis(match self {
            Self::Command if managed => 60_000,
            Self::Command | Self::Http | Self::Tool | Self::McpTool => 5_000,
            Self::Prompt => 30_000,
            Self::Agent => 120_000,
        })
    }
}

/// What answers for a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandlerSpec {
    /// A command.
    Command(CommandSpec),
    /// A request.
    Http(HttpSpec),
    /// A tool.
    Tool(ToolSpec),
    /// A tool of an MCP server.
    McpTool(McpToolSpec),
    /// A call of a model.
    Prompt(PromptSpec),
    /// A run of another agent.
    Agent(AgentSpec),
}

impl HandlerSpec {
    /// Returns the kind.
    pub const fn kind(&self) -> HandlerKind {
        match self {
            Self::Command(_) => HandlerKind::Command,
            Self::Http(_) => HandlerKind::Http,
            Self::Tool(_) => HandlerKind::Tool,
            Self::McpTool(_) => HandlerKind::McpTool,
            Self::Prompt(_) => HandlerKind::Prompt,
            Self::Agent(_) => HandlerKind::Agent,
        }
    }
}

/// A command, run by a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The line for the shell.
    pub command: String,
    /// The folder, relative to the working copy and inside it.
    pub cwd: Option<String>,
    /// Variables, none of them secret.
    pub env: BTreeMap<String, String>,
}

/// A request that is answered with a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSpec {
    /// Where: https, and no host that is known to be private.
    pub url: String,
    /// The slot of the connection that has the credential.
    pub connection: Option<String>,
    /// Headers by name, in small letters.
    pub headers: BTreeMap<String, String>,
}

/// A tool of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    /// Its name.
    pub tool: String,
    /// Its input before bindings are resolved; without it, the envelope.
    pub input: Option<Object>,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpToolSpec {
    /// The server.
    pub server: String,
    /// The tool, as the server calls it.
    pub tool: String,
    /// Its input before bindings are resolved; without it, the envelope.
    pub input: Option<Object>,
}

/// A call of a model that has no tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSpec {
    /// What it is told.
    pub prompt: String,
    /// The profile of the model.
    pub model: Option<String>,
    /// The most tokens of its answer.
    pub max_output_tokens: Option<u64>,
}

/// A run of another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSpec {
    /// The agent.
    pub agent: String,
    /// What it is told.
    pub prompt: Option<String>,
    /// The most turns that it has.
    pub max_turns: u64,
}

/// Reads a handler.
pub(super) fn handler(place: &Place<'_>) -> Option<HandlerSpec> {
    place.object(HANDLER)?;
    let Some(kind) = place.member("type") else { return place.lacks(HANDLER, "type") };
    let kind = kind.one_of(HANDLER, &HandlerKind::ALL, HandlerKind::as_str)?;
    Some(match kind {
        HandlerKind::Command => HandlerSpec::Command(command(place)?),
        HandlerKind::Http => HandlerSpec::Http(request(place)?),
        HandlerKind::Tool => HandlerSpec::Tool(tool(place)?),
        HandlerKind::McpTool => HandlerSpec::McpTool(mcp_tool(place)?),
        HandlerKind::Prompt => HandlerSpec::Prompt(prompt(place)?),
        HandlerKind::Agent => HandlerSpec::Agent(agent(place)?),
    })
}

/// Reads how long a handler may take.
pub(super) fn timeout(place: &Place<'_>) -> Option<Duration> {
    let codes = (HANDLER, PackCode::TimeoutOutOfRange);
    let timeout = place.member("timeoutMs")?.integer(codes, 1..=TIMEOUT_MS)?;
    u64::try_from(timeout).ok().map(Duration::from_millis)
}

fn command(place: &Place<'_>) -> Option<CommandSpec> {
    place.knows(&["type", "command", "cwd", "env", "timeoutMs"]);
    let cwd = place.member("cwd").and_then(|it| folder(&it));
    let env = place.member("env").and_then(|it| variables(&it)).unwrap_or_default();
    let command = needed(place, "command", COMMAND_CHARS)?;
    if let Some(place) = place.member("command") {
        credential::command(&command, &place);
    }
    Some(CommandSpec { command, cwd, env })
}

fn folder(place: &Place<'_>) -> Option<String> {
    let path = place.words(HANDLER, PATH_CHARS)?;
    if path.starts_with('/') || path.split('/').any(|segment| segment == "..") {
        return place.refuse(HANDLER, "must be a path inside the working copy, without `..`");
    }
    Some(path.to_owned())
}

fn variables(place: &Place<'_>) -> Option<BTreeMap<String, String>> {
    let members = place.object(HANDLER)?;
    if members.len() > VARIABLES {
        place.find(PackCode::LimitExceeded, format!("has more than {VARIABLES} variables"));
    }
    let mut variables = BTreeMap::new();
    for (name, member) in place.members() {
        credential::variable(name, &member);
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_name {
            member.find(HANDLER, "is no name of a variable");
        }
        let Some(value) = member.text(HANDLER) else { continue };
        if value.contains('\0') {
            member.find(HANDLER, "must not hold a NUL character");
        }
        variables.insert(name.to_owned(), value.to_owned());
    }
    Some(variables)
}

fn request(place: &Place<'_>) -> Option<HttpSpec> {
    place.knows(&["type", "url", "connection", "headers", "timeoutMs"]);
    let connection = place.member("connection").and_then(|it| slot(&it));
    let headers = place.member("headers").and_then(|it| http::headers(&it)).unwrap_or_default();
    let Some(url) = place.member("url") else { return place.lacks(HANDLER, "url") };
    Some(HttpSpec { url: http::url(&url)?, connection, headers })
}

fn slot(place: &Place<'_>) -> Option<String> {
    let name = place.words(HANDLER, NAME_CHARS)?;
    let is_slot = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !is_slot {
        return place.refuse(HANDLER, "must be a slot: a letter, then letters, digits and `_`");
    }
    Some(name.to_owned())
}

fn tool(place: &Place<'_>) -> Option<ToolSpec> {
    place.knows(&["type", "tool", "input", "timeoutMs"]);
    let input = place.member("input").and_then(|it| input(&it));
    Some(ToolSpec { tool: needed(place, "tool", NAME_CHARS)?, input })
}

fn mcp_tool(place: &Place<'_>) -> Option<McpToolSpec> {
    place.knows(&["type", "server", "tool", "input", "timeoutMs"]);
    let input = place.member("input").and_then(|it| input(&it));
    let server = needed(place, "server", NAME_CHARS);
    Some(McpToolSpec { tool: needed(place, "tool", NAME_CHARS)?, server: server?, input })
}

fn input(place: &Place<'_>) -> Option<Object> {
    let input = place.object(HANDLER)?;
    credential::input(place);
    bindings(place);
    Some(input.clone())
}

/// Looks at each binding: an object with `$context` alone, which a path in the envelope replaces.
fn bindings(place: &Place<'_>) {
    let is_one = place.value.as_object().is_some_and(|members| members.len() == 1);
    if let Some(path) = place.member("$context").filter(|_| is_one) {
        binding(&path);
    } else {
        place.members().for_each(|(_, member)| bindings(&member));
        place.elements().for_each(|element| bindings(&element));
    }
}

fn binding(place: &Place<'_>) {
    let Some(path) = place.words(HANDLER, binding::CHARS) else { return };
    let segments = binding::SEGMENTS;
    if path.split('.').count() > segments {
        place.find(HANDLER, format!("has more than {segments} segments"));
    }
    if path.split('.').any(|segment| segment.is_empty() || binding::FORBIDDEN.contains(&segment)) {
        place.find(HANDLER, "has a segment that is empty, or that nothing is called");
    }
    if !path.split('.').next().is_some_and(|root| binding::ROOTS.contains(&root)) {
        place.find(HANDLER, "must begin with `hook` or `run`");
    }
}

fn prompt(place: &Place<'_>) -> Option<PromptSpec> {
    place.knows(&["type", "prompt", "model", "maxOutputTokens", "timeoutMs"]);
    let model = place.member("model").and_then(|it| it.words(HANDLER, NAME_CHARS).map(Into::into));
    let tokens = place.member("maxOutputTokens");
    let tokens = tokens.and_then(|it| it.integer((HANDLER, HANDLER), 1..=2048));
    Some(PromptSpec {
        prompt: needed(place, "prompt", PROMPT_CHARS)?,
        model,
        max_output_tokens: tokens.and_then(|tokens| u64::try_from(tokens).ok()),
    })
}

fn agent(place: &Place<'_>) -> Option<AgentSpec> {
    place.knows(&["type", "agent", "prompt", "maxTurns", "timeoutMs"]);
    let prompt =
        place.member("prompt").and_then(|it| it.words(HANDLER, PROMPT_CHARS).map(Into::into));
    let turns = place.member("maxTurns");
    let turns = turns.map_or(Some(5), |it| it.integer((HANDLER, HANDLER), 1..=10));
    let Some(name) = place.member("agent") else { return place.lacks(HANDLER, "agent") };
    let agent = name.words(HANDLER, NAME_CHARS)?;
    if let Err(fault) = PackName::parse(agent) {
        return name.refuse(HANDLER, fault.to_string());
    }
    let max_turns = turns.and_then(|turns| u64::try_from(turns).ok())?;
    Some(AgentSpec { agent: agent.to_owned(), prompt, max_turns })
}

/// Returns a text that a handler must have.
fn needed(place: &Place<'_>, key: &str, most: usize) -> Option<String> {
    match place.member(key) {
        None => place.lacks(HANDLER, key),
        Some(member) => member.words(HANDLER, most).map(str::to_owned),
    }
}
