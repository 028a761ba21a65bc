//! `[server]`: where the server listens, under which names it is known, and how much it takes.

use std::path::PathBuf;

use serde::Deserialize;

use crate::config::{is_host, split_port};

/// The most names of a server.
const MAX_NAMES: usize = 64;

/// The most folders below which a run may be asked to work.
const MAX_ROOTS: usize = 64;

/// Where the server listens.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Server {
    /// The address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The names that a `Host` may have beside those of this machine, where bearers are asked for:
    /// `spl.example` for itself and with the port, `spl.example:8443` as it is.
    pub names: Vec<String>,
    /// The folders below which a run may be asked to work, beside the one that the server's runs
    /// work in anyway: whole paths.
    pub workspace_roots: Vec<PathBuf>,
    /// How much the server takes.
    pub limits: RateSettings,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".into(),
            port: 9100,
            names: Vec::new(),
            workspace_roots: Vec::new(),
            limits: RateSettings::default(),
        }
    }
}

/// `[server.limits]`: how often a minute; 0 is no limit. They hold where bearers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateSettings {
    /// How many requests of one peer may fail to say who makes them.
    pub failed_auth_per_minute: u32,
    /// How many requests one caller may make.
    pub requests_per_minute: u32,
}

impl Default for RateSettings {
    fn default() -> Self {
        Self { failed_auth_per_minute: 10, requests_per_minute: 0 }
    }
}

impl Server {
    /// Checks what serde cannot.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.names.len() > MAX_NAMES {
            return Err(format!("`names` of `[server]` must be at most {MAX_NAMES}"));
        }
        if self.workspace_roots.len() > MAX_ROOTS {
            return Err(format!("`workspace_roots` of `[server]` must be at most {MAX_ROOTS}"));
        }
        if let Some(part) = self.workspace_roots.iter().find(|root| !root.is_absolute()) {
            let part = part.display().to_string();
            return Err(format!(
                "`workspace_roots` of `[server]` has `{}`, which is not a whole path",
                part.escape_debug()
            ));
        }
        let wrong = |name: &&String| !split_port(name).is_some_and(|(host, _)| is_host(host));
        match self.names.iter().find(wrong) {
            None => Ok(()),
            Some(name) => Err(format!(
                "`names` of `[server]` has `{}`, which is neither a host nor a host with a port",
                name.escape_debug()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::PathBuf;

    #[test]
    fn names_and_limits_are_read_and_what_is_wrong_is_named() {
        let settings = Settings::parse(
            "[server]\nnames = [\"spl.example\", \"[fd00::1]:8443\"]\n\
             workspace_roots = [\"/srv/work\"]\n\
             [server.limits]\nrequests_per_minute = 600\n",
        )
        .expect("read");
        assert_eq!(settings.server.names, ["spl.example", "[fd00::1]:8443"]);
        assert_eq!(settings.server.workspace_roots, [PathBuf::from("/srv/work")]);
        let limits = settings.server.limits;
        assert_eq!((limits.failed_auth_per_minute, limits.requests_per_minute), (10, 600));
        for (text, wrong) in [
            ("[server]\nnames = [\"https://spl.example\"]\n", "neither a host"),
            ("[server]\nnames = [\"\"]\n", "neither a host"),
            ("[server]\nnames = [\"*.example\"]\n", "neither a host"),
            ("[server]\nnames = [\"a:0\"]\n", "neither a host"),
            ("[server]\nworkspace_roots = [\"work\"]\n", "not a whole path"),
            ("[server]\nworkspace_roots = [\"\"]\n", "not a whole path"),
            ("[server.limits]\nrequests_per_minute = -1\n", "line 2: "),
            ("[server.limits]\nrequests = 1\n", "unknown field `requests`"),
        ] {
            let error = Settings::parse(text).expect_err(text);
            assert!(error.contains(wrong), "{error}");
        }
    }
}
