//! `config.toml`: what a person sets for one home (contract §2.12).

mod mcp;
mod model;
mod runtime;
mod server;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::record::ActorId;
pub use mcp::{McpServer, McpTransport};
pub use model::{ModelSettings, ProviderSettings, WireFormat};
pub use runtime::{Rollout, RuntimeSettings};
use server::Server;

/// The settings of a home. Tables and keys that are not known are left to newer versions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Who the operator is.
    pub identity: Identity,
    /// Where the server listens, and how much it takes.
    pub server: Server,
    /// The servers of tools, by what they are called.
    pub mcp: BTreeMap<String, McpServer>,
    /// Which models there are, and how they are asked.
    pub model: ModelSettings,
    /// How far the hooks of packs count.
    pub runtime: RuntimeSettings,
}

/// Who the operator is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// The actor that the command writes as.
    pub actor: String,
}

impl Default for Identity {
    fn default() -> Self {
        Self { actor: "did:sync:user:operator".into() }
    }
}

impl Settings {
    /// Reads the text of a settings file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let settings: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| {
                text.get(..span.start).unwrap_or_default().lines().count().max(1)
            });
            format!("line {line}: {}", error.message())
        })?;
        ActorId::parse(&settings.identity.actor)
            .map_err(|error| format!("`actor` of `[identity]` {error}"))?;
        settings.mcp.keys().try_for_each(|name| mcp::check_name(name))?;
        settings.model.check()?;
        settings.server.check()?;
        Ok(settings)
    }

    /// Returns the text of a new settings file.
    pub(super) fn template(actor: &str) -> String {
        let Server { host, port, .. } = Server::default();
        format!(
            "# Settings of this instance.\n\n\
             [identity]\n\
             # The actor that `spl` writes as.\n\
             actor = \"{actor}\"\n\n\
             [server]\n\
             # Where `spl serve` listens for TCP; the socket in `run/` needs no setting.\n\
             host = \"{host}\"\n\
             port = {port}\n\
             # Folders below which it may be asked to let a run work, beside its own --workspace.\n\
             # workspace_roots = [\"/srv/work\"]\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_reads_as_the_defaults() {
        let settings = Settings::parse(&Settings::template("did:sync:user:vera")).expect("read");
        let identity = Identity { actor: "did:sync:user:vera".into() };
        assert_eq!(settings, Settings { identity, ..Settings::default() });
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = Settings::parse("[server]\nhost = \"x\"\nport = \"y\"\n").expect_err("refused");
        assert!(error.starts_with("line 3: "), "{error}");
        let error = Settings::parse("[identity]\nactor = \"\"\n").expect_err("refused");
        assert_eq!(error, "`actor` of `[identity]` must not be empty");
        assert!(Settings::parse("[later]\nkey = 1\n").is_ok());
    }

    #[test]
    fn the_switches_of_packs_have_their_defaults_by_host() {
        use Rollout::{Enforce, Observe, Off};
        let switches = |text: &str| {
            let runtime = Settings::parse(text).expect(text).runtime;
            (runtime.managed, runtime.hooks(), runtime.termination_gate())
        };
        assert_eq!(switches(""), (false, Enforce, Enforce));
        assert_eq!(switches("[runtime]\nmanaged = true"), (true, Enforce, Off));
        assert_eq!(
            switches("[runtime]\nmanaged = true\ntermination-gate.mode = 'enforce'"),
            (true, Enforce, Enforce)
        );
        assert_eq!(switches("runtime.hooks.mode = 'observe'"), (false, Observe, Enforce));
        for typo in [
            "[runtime]\nmanged = true",
            "runtime.hooks.mod = 'off'",
            "runtime.hooks.mode = 'on'",
            "runtime.termination_gate.mode = 'off'",
        ] {
            assert!(Settings::parse(typo).is_err(), "{typo}");
        }
    }

    #[test]
    fn servers_of_tools_are_read() {
        let settings = Settings::parse(
            "[mcp.time]\ncommand = \"uvx\"\nargs = [\"mcp-server-time\"]\nenv = { A = \"s3cret\" }\n\
             [mcp.docs]\nurl = \"https://x/mcp\"\nheaders = { X-Key = \"s3cret\" }\ntimeout_secs = 5\n",
        )
        .expect("read");
        assert_eq!(settings.mcp.keys().collect::<Vec<_>>(), ["docs", "time"]);
        assert_eq!(settings.mcp.get("docs").map(|server| server.timeout.as_secs()), Some(5));
        assert_eq!(settings.mcp.get("time").map(|server| server.timeout.as_secs()), Some(60));
        assert!(!format!("{settings:?}").contains("s3cret"));
    }

    #[test]
    fn what_is_wrong_with_a_server_of_tools_is_named() {
        for (table, wanted) in [
            ("[mcp.x]", "there must be `command` or `url`"),
            ("[mcp.x]\ncommand = 'a'\nurl = 'http://b'", "not both"),
            ("[mcp.x]\ncommand = ' '", "`command` must not be empty"),
            ("[mcp.x]\ncommand = 'a'\nheaders = {}", "`headers` goes with `url` only"),
            ("[mcp.x]\nurl = 'http://a'\nargs = []", "`args` goes with `command` only"),
            ("[mcp.x]\nurl = 'file:///a'", "`url` must start with http:// or https://"),
            ("[mcp.x]\ncommand = 'a'\ntimeout_secs = 0", "`timeout_secs` must be from 1 to 3600"),
            ("[mcp.x]\ncommand = 'a'\nenv = { 'a=b' = 'c' }", "`env` has `a=b`"),
            ("[mcp.x]\ncommand = 'a'\ncommnd = 'a'", "unknown field `commnd`"),
            ("[mcp.a__b]\ncommand = 'a'", "`[mcp.a__b]`: a server's name has no `__`"),
            ("[mcp.'a b']\ncommand = 'a'", "`[mcp.a b]`: a server's name has 1 to 32"),
        ] {
            let error = Settings::parse(table).expect_err(table);
            assert!(error.contains(wanted), "{table}: {error}");
        }
    }
}
