//! What a server over HTTP is sent beside the messages, and what must not be said of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use crate::engine::{McpServer, McpTransport};
use crate::secret::mask;

/// The least characters of a value that is left out of errors; shorter ones stand in any text.
const HIDDEN_CHARS: usize = 4;

/// The credentials of a server, resolved.
#[derive(Clone, Default)]
pub(super) struct Credentials {
    headers: HashMap<HeaderName, HeaderValue>,
    /// What no error may say.
    hidden: Vec<String>,
}

impl Credentials {
    /// Looks up what the settings of a server name.
    pub(super) fn of(server: &McpServer, variables: &[(String, String)]) -> Result<Self, String> {
        let mut credentials = Self::default();
        match &server.transport {
            McpTransport::Stdio { env, .. } => credentials.hidden.extend(env.values().cloned()),
            McpTransport::Http { url, headers, header_env, bearer_env } => {
                credentials.hidden.push(url.clone());
                credentials.add_all(headers, header_env, bearer_env.as_deref(), variables)?;
            }
        }
        credentials.hidden.retain(|value| value.chars().count() >= HIDDEN_CHARS);
        Ok(credentials)
    }

    fn add_all(
        &mut self,
        headers: &BTreeMap<String, String>,
        header_env: &BTreeMap<String, String>,
        bearer_env: Option<&str>,
        variables: &[(String, String)],
    ) -> Result<(), String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(there, value)| there == name && !value.is_empty());
            found.map(|(_, value)| value.clone()).ok_or(format!("the variable `{name}` is not set"))
        };
        for (name, value) in headers {
            self.add(name, value, value)?;
        }
        for (name, holder) in header_env {
            let value = variable(holder)?;
            self.add(name, &value, &value)?;
        }
        if let Some(holder) = bearer_env {
            let bearer = variable(holder)?;
            self.add(AUTHORIZATION.as_str(), &format!("Bearer {bearer}"), &bearer)?;
        }
        Ok(())
    }

    fn add(&mut self, name: &str, value: &str, secret: &str) -> Result<(), String> {
        let header = HeaderName::try_from(name)
            .map_err(|_| format!("`{}` is not the name of a header", name.escape_debug()))?;
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| format!("the value of the header `{header}` cannot be sent"))?;
        value.set_sensitive(true);
        self.headers.insert(header, value);
        self.hidden.push(secret.to_owned());
        Ok(())
    }

    /// Returns `text` without what nobody should read in it.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for hidden in self.hidden.iter().filter(|hidden| !hidden.is_empty()) {
            if text.contains(hidden.as_str()) {
                text = Cow::Owned(text.replace(hidden.as_str(), "[…]"));
            }
        }
        mask(&text).into_owned()
    }

    /// Returns the way to the server at `url`. It follows no redirect, so that credentials go where
    /// the settings say and nowhere else.
    pub(super) fn http(
        &self,
        url: &str,
        server: &McpServer,
    ) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
        let client = reqwest::Client::builder()
            .connect_timeout(server.start_timeout)
            .no_proxy()
            // A body that is not read to its end makes the next request over the same connection
            // wait.
            .pool_max_idle_per_host(0)
            .redirect(Policy::none())
            .build()
            .map_err(|error| self.hide(&error.to_string()))?;
        let config =
            StreamableHttpClientTransportConfig::with_uri(url).custom_headers(self.headers.clone());
        Ok(StreamableHttpClientTransport::with_client(client, config))
    }
}
