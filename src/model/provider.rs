//! Models that are asked over the network.
//!
//! A model is named `claude-…`, `gpt-…`, `gemini-…`, or `<provider>/<model>` with a provider of the
//! settings. [`Providers`] finds who plays it, with which key, and hands out a [`Model`]. The parts:
//! `keys` finds a key and never shows it; `wire` says what has been said in a provider's words;
//! `ask` makes one attempt; `reply` reads what came of it; `fault` says what went wrong and whether
//! it is worth another attempt; `pace` says how long to wait; `remote` puts them together.
//!
//! **Invariant:** a key goes into a header and nowhere else.

mod ask;
mod fault;
mod keys;
mod pace;
mod remote;
mod reply;
mod wire;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

pub use keys::{KeySource, Keys};
pub use pace::Pace;

use super::{Model, ModelError, Price, Prices};
use crate::engine::{ModelSettings, ProviderSettings, WireFormat};
use ask::Client;
use keys::Key;
use remote::Remote;

/// What is built in of a provider.
struct Known {
    name: &'static str,
    format: WireFormat,
    base_url: &'static str,
    /// The variables that may hold its key, in order.
    variables: &'static [&'static str],
    /// How the names of its models begin.
    prefixes: &'static [&'static str],
    /// A model that is cheap to try.
    trial: &'static str,
}

const KNOWN: &[Known] = &[
    Known {
        name: "anthropic",
        format: WireFormat::Anthropic,
        base_url: "https://api.anthropic.com/v1/",
        variables: &["ANTHROPIC_API_KEY"],
        prefixes: &["claude-"],
        trial: "claude-haiku-4-5",
    },
    Known {
        name: "openai",
        format: WireFormat::OpenAi,
        base_url: "https://api.openai.com/v1/",
        variables: &["OPENAI_API_KEY"],
        prefixes: &["gpt-", "chatgpt-", "codex-", "o1", "o3", "o4"],
        trial: "gpt-5-mini",
    },
    Known {
        name: "gemini",
        format: WireFormat::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta/",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        prefixes: &["gemini-"],
        trial: "gemini-2.5-flash",
    },
];

/// Who plays models: what is built in and what the settings say, as one.
pub struct Providers {
    table: Vec<Provider>,
    keys: Keys,
    prices: Prices,
    pace: Pace,
    /// Made when the first model is; all models of a process share it.
    client: Mutex<Option<Arc<Client>>>,
}

/// One provider, as it will be asked.
#[derive(Debug, Clone)]
struct Provider {
    name: String,
    format: WireFormat,
    base_url: String,
    variables: Vec<String>,
    prefixes: &'static [&'static str],
    /// Whether it is of no use without a key.
    needs_key: bool,
    max_output_tokens: Option<u32>,
}

/// A provider, as a person is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRow {
    /// Its name.
    pub name: String,
    /// The wire format that it speaks.
    pub format: WireFormat,
    /// Where it is.
    pub base_url: String,
    /// Where its key comes from.
    pub key: KeySource,
    /// The models of it that have a price.
    pub models: Vec<(String, Price)>,
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Providers").field("table", &self.table).finish_non_exhaustive()
    }
}

impl Providers {
    /// Returns the providers of these settings.
    pub fn open(settings: &ModelSettings, keys: Keys, prices: Prices) -> Self {
        let mut table: Vec<Provider> = KNOWN
            .iter()
            .map(|known| Provider::known(known, settings.providers.get(known.name)))
            .collect();
        let others = settings.providers.iter();
        let others = others.filter(|(name, _)| !KNOWN.iter().any(|known| known.name == *name));
        table.extend(others.map(|(name, settings)| Provider::of_settings(name, settings)));
        Self { table, keys, prices, pace: Pace::of(settings), client: Mutex::new(None) }
    }

    /// Returns these providers, asked at another pace.
    #[must_use]
    pub const fn with_pace(mut self, pace: Pace) -> Self {
        self.pace = pace;
        self
    }

    /// Returns these providers, whose waits are scattered by this seed: many processes that were
    /// refused together should not come back together.
    #[must_use]
    pub const fn with_seed(mut self, seed: u64) -> Self {
        self.pace.seed = seed;
        self
    }

    /// Returns a model by its name: `claude-sonnet-4-6`, `openai/gpt-5`, `local/llama3:8b`.
    pub fn model(&self, name: &str) -> Result<Box<dyn Model>, ModelError> {
        let (provider, bare) = self.find(name)?;
        let key = self.key_of(provider, name)?;
        let client = self.client(name)?;
        Ok(Box::new(Remote::new(name, bare, provider, key, client, self.pace)))
    }

    /// Returns what a model costs, if it is known.
    pub fn price(&self, name: &str) -> Option<Price> {
        self.prices.price(name)
    }

    /// Returns a model that is cheap to try, of the first provider that there is a key for.
    pub fn trial(&self) -> Result<&'static str, ModelError> {
        let has_key = |known: &&Known| {
            let provider = self.table.iter().find(|provider| provider.name == known.name);
            let key = provider.map(|it| self.keys.key(&it.name, &it.variables));
            matches!(key, Some(Ok(Some(_))))
        };
        KNOWN.iter().find(has_key).map(|known| known.trial).ok_or_else(|| ModelError::NoProvider {
            model: "anything".into(),
            reason: "there is no key for any of those that are built in".into(),
            hint: "Set one of the variables that `spl model list` names, or name a model.".into(),
        })
    }

    /// Returns each provider, those that are built in first.
    pub fn rows(&self) -> Vec<ProviderRow> {
        self.table.iter().map(|provider| self.row(provider)).collect()
    }

    fn row(&self, provider: &Provider) -> ProviderRow {
        let own = format!("{}/", provider.name);
        let belongs = |model: &str| {
            model.starts_with(&own) || provider.prefixes.iter().any(|it| model.starts_with(it))
        };
        let models = self.prices.iter().filter(|(model, _)| belongs(model));
        ProviderRow {
            name: provider.name.clone(),
            format: provider.format,
            base_url: provider.base_url.clone(),
            key: self.keys.source(&provider.name, &provider.variables, provider.needs_key),
            models: models.map(|(model, price)| (model.to_owned(), price)).collect(),
        }
    }

    /// Returns who plays a model, and what it is called there.
    fn find<'a>(&self, name: &'a str) -> Result<(&Provider, &'a str), ModelError> {
        if let Some((provider, bare)) = name.split_once('/')
            && let Some(provider) = self.table.iter().find(|it| it.name == provider)
            && !bare.is_empty()
        {
            return Ok((provider, bare));
        }
        let begins = |it: &&Provider| it.prefixes.iter().any(|prefix| name.starts_with(prefix));
        if let Some(provider) = self.table.iter().find(begins) {
            return Ok((provider, name));
        }
        let names: Vec<&str> = self.table.iter().map(|provider| provider.name.as_str()).collect();
        Err(ModelError::NoProvider {
            model: name.to_owned(),
            reason: "its name says of no provider that it plays it".into(),
            hint: format!(
                "Write `<provider>/<model>`; the providers are {}. Others go into \
                 `[model.providers.<name>]` of config.toml.",
                names.join(", ")
            ),
        })
    }

    fn key_of(&self, provider: &Provider, model: &str) -> Result<Option<Key>, ModelError> {
        let found = self.keys.key(&provider.name, &provider.variables);
        let missing = |reason: String, hint: String| ModelError::NoProvider {
            model: model.to_owned(),
            reason,
            hint,
        };
        match found {
            Ok(None) if provider.needs_key => Err(missing(
                format!("there is no key for `{}`", provider.name),
                self.keys.advice(&provider.name, &provider.variables),
            )),
            Ok(key) => Ok(key),
            Err(refused) => Err(missing(refused.to_string(), refused.hint())),
        }
    }

    fn client(&self, model: &str) -> Result<Arc<Client>, ModelError> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = client.as_ref() {
            return Ok(Arc::clone(client));
        }
        let made = Client::new(self.pace)
            .map_err(|message| ModelError::Unavailable { model: model.to_owned(), message })?;
        let made = Arc::new(made);
        *client = Some(Arc::clone(&made));
        Ok(made)
    }
}

impl Provider {
    fn known(known: &Known, settings: Option<&ProviderSettings>) -> Self {
        let variables: Vec<String> = known.variables.iter().map(ToString::to_string).collect();
        let built_in = Self {
            name: known.name.to_owned(),
            format: known.format,
            base_url: known.base_url.to_owned(),
            variables,
            prefixes: known.prefixes,
            needs_key: true,
            max_output_tokens: None,
        };
        let Some(settings) = settings else { return built_in };
        let base_url = settings.base_url.as_deref().map_or(built_in.base_url, with_slash);
        Self {
            format: settings.format.unwrap_or(built_in.format),
            needs_key: !is_loopback(&base_url),
            base_url,
            variables: settings.key_env.clone().map_or(built_in.variables, |it| vec![it]),
            max_output_tokens: settings.max_output_tokens,
            ..built_in
        }
    }

    /// A provider without `key_env` is taken to need no key: most servers of one's own do not.
    fn of_settings(name: &str, settings: &ProviderSettings) -> Self {
        Self {
            name: name.to_owned(),
            format: settings.format.unwrap_or_default(),
            base_url: settings.base_url.as_deref().map(with_slash).unwrap_or_default(),
            variables: settings.key_env.clone().into_iter().collect(),
            prefixes: &[],
            needs_key: settings.key_env.is_some(),
            max_output_tokens: settings.max_output_tokens,
        }
    }
}

/// The clients join a path to it, which would replace what stands behind the last slash.
fn with_slash(url: &str) -> String {
    format!("{}/", url.trim_end_matches('/'))
}

/// Whether a URL is of this machine, which no proxy is asked for and which may want no key.
fn is_loopback(url: &str) -> bool {
    let host = url.split("//").nth(1).unwrap_or_default().split('/').next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Code, Coded as _};

    fn providers(toml: &str) -> Providers {
        let settings = crate::engine::Settings::parse(toml).expect("settings");
        Providers::open(&settings.model, Keys::none(), Prices::built_in())
    }

    fn found(providers: &Providers, name: &str) -> String {
        match providers.find(name) {
            Ok((provider, bare)) => format!("{} plays {bare}", provider.name),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_model_is_found_by_its_name_or_by_its_provider() {
        let all = providers("[model.providers.local]\nbase_url = \"http://localhost:1/v1\"\n");
        for (name, wanted) in [
            ("claude-sonnet-4-6", "anthropic plays claude-sonnet-4-6"),
            ("gpt-5.1", "openai plays gpt-5.1"),
            ("gemini-2.5-pro", "gemini plays gemini-2.5-pro"),
            ("openai/gpt-5", "openai plays gpt-5"),
            ("local/meta/llama3:8b", "local plays meta/llama3:8b"),
            ("local/claude-x", "local plays claude-x"),
        ] {
            assert_eq!(found(&all, name), wanted);
        }
        for name in ["llama3", "other/llama3", "local/", "", "/"] {
            assert!(found(&all, name).starts_with("no provider can play"), "{name}");
        }
    }

    #[test]
    fn what_is_missing_is_said_and_where_to_set_it() {
        let all = providers("[model.providers.far]\nbase_url=\"https://h/v1\"\nkey_env=\"FAR\"\n");
        let error = all.model("claude-sonnet-4-6").err().expect("no key");
        assert_eq!(error.code(), Code::WorkNoProvider);
        let hint = error.hint().expect("a hint");
        assert!(hint.contains("ANTHROPIC_API_KEY"), "{hint}");
        let error = all.model("far/x").err().expect("no key");
        assert!(error.hint().expect("a hint").contains("FAR"));
        let error = all.model("nobody").err().expect("nobody");
        assert!(error.hint().expect("a hint").contains("anthropic, openai, gemini, far"));
    }

    #[test]
    fn a_base_url_of_this_machine_needs_no_key() {
        let toml = "[model.providers.openai]\nbase_url = \"http://127.0.0.1:9/v1\"\n";
        assert!(providers(toml).model("gpt-5").is_ok());
        assert!(is_loopback("http://[::1]:80/v1/") && !is_loopback("https://localhost.evil/v1/"));
    }
}
