//! `spl config path` and `spl config show`.

use std::io::{self, Write};

use spl::canon::Object;
use spl::engine::{McpServer, McpTransport, ProviderSettings, Settings};
use spl::object;

use crate::failure::Failure;
use crate::home;
use crate::output::{DIM, printable};
use crate::session::Session;

/// Prints where the settings are.
pub(super) fn path(session: &mut Session) -> Result<(), Failure> {
    session.refuse_server("spl config path")?;
    let path = home::find()?.settings_path().display().to_string();
    let answer = object! { "object": "config_path", "path": path.as_str() };
    session.out.answer(&answer, |out| writeln!(out, "{path}"))
}

/// Shows the settings as they hold, those that the file leaves out as well.
pub(super) fn show(session: &mut Session) -> Result<(), Failure> {
    session.refuse_server("spl config show")?;
    let home = home::find()?;
    let settings = home.settings().map_err(|error| Failure::coded(&error))?;
    let path = home.settings_path().display().to_string();
    let answer = answer(&path, &settings);
    session.out.answer(&answer, |out| print(&path, &settings, out))
}

fn answer(path: &str, settings: &Settings) -> Object {
    let Settings { identity, server, mcp, model, .. } = settings;
    let servers = mcp.iter().map(|(name, server)| (name.clone(), of_server(server).into()));
    let providers = model.providers.iter();
    let providers = providers.map(|(name, it)| (name.clone(), of_provider(it).into()));
    object! {
        "object": "config",
        "path": path,
        "identity": object! { "actor": identity.actor.as_str() },
        "server": object! { "host": server.host.as_str(), "port": u64::from(server.port) },
        "mcp": servers.collect::<Object>(),
        "model": object! {
            "attempts": model.attempts,
            "connect_secs": model.connect_secs,
            "providers": providers.collect::<Object>(),
            "silence_secs": model.silence_secs,
        },
    }
}

/// Returns what a server of tools is, without arguments and the values of variables and headers.
fn of_server(server: &McpServer) -> Object {
    let mut object = match &server.transport {
        McpTransport::Stdio { command, env, .. } => object! {
            "command": command.as_str(),
            "env": env.keys().cloned().collect::<Vec<_>>(),
        },
        McpTransport::Http { url, headers, header_env, bearer_env } => object! {
            "bearer_env": bearer_env.as_deref(),
            "headers": headers.keys().chain(header_env.keys()).cloned().collect::<Vec<_>>(),
            "url": url.as_str(),
        },
    };
    object.insert("timeout_secs".into(), server.timeout.as_secs().into());
    object
}

fn of_provider(provider: &ProviderSettings) -> Object {
    object! {
        "base_url": provider.base_url.as_deref(),
        "format": provider.format.map(|format| format.as_str()),
        "key_env": provider.key_env.as_deref(),
        "max_output_tokens": provider.max_output_tokens,
    }
}

fn print(path: &str, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let mut line = |key: &str, value: &str| {
        let value = if value.is_empty() { "none" } else { value };
        writeln!(out, "{DIM}{key:<15}{DIM:#} {}", printable(value))
    };
    let names = |names: Vec<&str>| names.join(", ");
    line("settings", path)?;
    line("identity.actor", &settings.identity.actor)?;
    line("server", &format!("{}:{}", settings.server.host, settings.server.port))?;
    line("mcp", &names(settings.mcp.keys().map(String::as_str).collect()))?;
    line("model.providers", &names(settings.model.providers.keys().map(String::as_str).collect()))
}
