//! `[mcp.<server>]`: where a server of tools is, and how long it may take.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

/// The most characters of a server's name: what its tools are called must have room left.
const NAME_CHARS: usize = 32;

/// The most seconds that a server may be given.
const MOST_SECS: u64 = 3600;

/// A server of tools that speaks MCP.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Table")]
pub struct McpServer {
    /// How to reach it.
    pub transport: McpTransport,
    /// How long a call may take; a minute if nothing is said.
    pub timeout: Duration,
    /// How long it may take to start and to list its tools; half a minute if nothing is said.
    pub start_timeout: Duration,
}

/// How a server of tools is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// By a process that is started for it, over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that it sees beside those that every command may see.
        env: BTreeMap<String, String>,
        /// Where it starts, if not where this process is.
        cwd: Option<PathBuf>,
    },
    /// Over streamable HTTP.
    Http {
        /// The URL.
        url: String,
        /// Headers of each request.
        headers: BTreeMap<String, String>,
        /// Headers of each request, by the variables that hold their values.
        header_env: BTreeMap<String, String>,
        /// The variable that holds the bearer.
        bearer_env: Option<String>,
    },
}

/// Without the values of variables and headers, which may be secrets.
impl fmt::Debug for McpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, args, env, cwd } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", args)
                .field("env", &env.keys())
                .field("cwd", cwd)
                .finish(),
            Self::Http { headers, header_env, bearer_env, .. } => f
                .debug_struct("Http")
                .field("headers", &headers.keys())
                .field("header_env", header_env)
                .field("bearer_env", bearer_env)
                .finish_non_exhaustive(),
        }
    }
}

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    header_env: Option<BTreeMap<String, String>>,
    bearer_env: Option<String>,
    timeout_secs: Option<u64>,
    start_timeout_secs: Option<u64>,
}

impl TryFrom<Table> for McpServer {
    type Error = String;

    fn try_from(table: Table) -> Result<Self, String> {
        let timeout = seconds("timeout_secs", table.timeout_secs, 60)?;
        let start_timeout = seconds("start_timeout_secs", table.start_timeout_secs, 30)?;
        Ok(Self { transport: transport(table)?, timeout, start_timeout })
    }
}

fn seconds(key: &str, given: Option<u64>, otherwise: u64) -> Result<Duration, String> {
    match given.unwrap_or(otherwise) {
        secs @ 1..=MOST_SECS => Ok(Duration::from_secs(secs)),
        _ => Err(format!("`{key}` must be from 1 to {MOST_SECS}")),
    }
}

fn transport(table: Table) -> Result<McpTransport, String> {
    let misplaced = |key: &str, with: &str| Err(format!("`{key}` goes with `{with}` only"));
    match (table.command, table.url) {
        (Some(_), Some(_)) => Err("there can be `command` or `url`, not both".into()),
        (None, None) => Err("there must be `command` or `url`".into()),
        (Some(command), None) => {
            let stray = [
                ("headers", table.headers.is_some()),
                ("header_env", table.header_env.is_some()),
                ("bearer_env", table.bearer_env.is_some()),
            ];
            if let Some((key, _)) = stray.into_iter().find(|(_, is_there)| *is_there) {
                return misplaced(key, "url");
            }
            if command.trim().is_empty() {
                return Err("`command` must not be empty".into());
            }
            let env = table.env.unwrap_or_default();
            if let Some(name) =
                env.keys().find(|name| name.is_empty() || name.contains(['=', '\0']))
            {
                return Err(format!(
                    "`env` has `{}`, which names no variable",
                    name.escape_debug()
                ));
            }
            Ok(McpTransport::Stdio {
                command,
                args: table.args.unwrap_or_default(),
                env,
                cwd: table.cwd,
            })
        }
        (None, Some(url)) => {
            let stray = [
                ("args", table.args.is_some()),
                ("env", table.env.is_some()),
                ("cwd", table.cwd.is_some()),
            ];
            if let Some((key, _)) = stray.into_iter().find(|(_, is_there)| *is_there) {
                return misplaced(key, "command");
            }
            if !(url.starts_with("http://") || url.starts_with("https://")) {
                return Err("`url` must start with http:// or https://".into());
            }
            Ok(McpTransport::Http {
                url,
                headers: table.headers.unwrap_or_default(),
                header_env: table.header_env.unwrap_or_default(),
                bearer_env: table.bearer_env,
            })
        }
    }
}

/// Checks what a server is called, since its tools are called after it.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > NAME_CHARS || !name.chars().all(plain) {
        return Err(format!(
            "`[mcp.{}]`: a server's name has 1 to {NAME_CHARS} of the characters a-z A-Z 0-9 _ -",
            name.escape_debug()
        ));
    }
    if name.contains("__") {
        return Err(format!("`[mcp.{name}]`: a server's name has no `__`, which ends it"));
    }
    Ok(())
}
