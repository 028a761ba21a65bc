//! `[model]`: which providers there are beside those that are known, and how patient a turn is.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Which providers there are, and how patient a turn is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ModelSettings {
    /// How many seconds a connection may take.
    pub connect_secs: u64,
    /// How many seconds a provider may be silent in the middle of a turn.
    pub silence_secs: u64,
    /// How often a turn is tried while the provider is overloaded or cannot be reached.
    pub attempts: u32,
    /// The providers, by the name that stands before the `/` of a model.
    pub providers: BTreeMap<String, ProviderSettings>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self { connect_secs: 10, silence_secs: 120, attempts: 4, providers: BTreeMap::new() }
    }
}

/// One provider. Of one that is known, what is set here stands in place of what is built in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct ProviderSettings {
    /// Where it is, with the version in the path: `http://127.0.0.1:11434/v1`.
    pub base_url: Option<String>,
    /// Which wire format it speaks.
    pub format: Option<WireFormat>,
    /// The variable of the environment that holds its key.
    pub key_env: Option<String>,
    /// The most tokens of one reply.
    pub max_output_tokens: Option<u32>,
}

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WireFormat {
    /// Chat completions, which most servers speak.
    #[default]
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
}

impl WireFormat {
    /// Returns the word in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

impl ModelSettings {
    /// Checks what serde cannot: names that are part of a path, and URLs without a secret in them.
    pub(super) fn check(&self) -> Result<(), String> {
        for (name, provider) in &self.providers {
            let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if name.is_empty() || !name.chars().all(legal) {
                return Err(format!(
                    "`[model.providers.{name}]` must be named with letters, digits, - and _"
                ));
            }
            if let Some(url) = &provider.base_url {
                check_url(url)
                    .map_err(|why| format!("`base_url` of `[model.providers.{name}]` {why}"))?;
            }
        }
        Ok(())
    }
}

fn check_url(url: &str) -> Result<(), &'static str> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let rest = rest.ok_or("must begin with http:// or https://")?;
    let host = rest.split('/').next().unwrap_or_default();
    if host.contains('@') {
        return Err("must not hold a password; a key goes into `secrets/` or the environment");
    }
    if host.is_empty() || rest.contains(['?', '#']) || rest.contains(char::is_whitespace) {
        return Err("must be a host and a path, and nothing else");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Settings;

    #[test]
    fn a_provider_reads_and_a_wrong_one_is_named() {
        let settings = Settings::parse(
            "[model]\nsilence_secs = 5\n[model.providers.local]\n\
             base_url = \"http://127.0.0.1:11434/v1\"\nkey_env = \"LOCAL_KEY\"\n\
             [model.providers.anthropic]\nformat = \"anthropic\"\n",
        )
        .expect("read");
        assert_eq!((settings.model.silence_secs, settings.model.attempts), (5, 4));
        let local = &settings.model.providers["local"];
        assert_eq!(local.key_env.as_deref(), Some("LOCAL_KEY"));
        assert_eq!(local.format, None);
        for (text, wrong) in [
            ("[model.providers.\"a/b\"]\n", "letters, digits"),
            ("[model.providers.a]\nbase_url = \"localhost:1\"\n", "must begin with http"),
            ("[model.providers.a]\nbase_url = \"http://u:p@h/v1\"\n", "must not hold a password"),
            ("[model.providers.a]\nbase_url = \"http://h/v1?key=x\"\n", "a host and a path"),
            ("[model.providers.a]\nformat = \"cohere\"\n", "line 2: unknown variant"),
        ] {
            let error = Settings::parse(text).expect_err(text);
            assert!(error.contains(wrong), "{error}");
            assert!(!error.contains("u:p"), "{error}");
        }
    }
}
