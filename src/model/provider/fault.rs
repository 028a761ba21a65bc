//! What went wrong with one attempt, and whether another is worth it.

use std::error::Error as StdError;
use std::time::Duration;

use genai::webc::StreamTimeout;
use serde_json::Value;

use super::super::ModelError;
use super::keys::Key;
use crate::secret;

/// How much of what a provider says is shown.
const SHOWN: usize = 300;

/// An attempt that failed.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) error: ModelError,
    /// Whether another attempt may do better.
    pub(super) again: bool,
    /// How long to wait before it, if the provider says so.
    pub(super) after: Option<Duration>,
}

/// Says what went wrong, of which model, and without its key.
#[derive(Debug, Clone)]
pub(super) struct Teller {
    pub(super) model: String,
    pub(super) key: Option<Key>,
    pub(super) silence: Duration,
}

impl Teller {
    /// What a provider cannot do now.
    pub(super) fn unavailable(&self, message: &str) -> Fault {
        let (model, message) = (self.model.clone(), self.line(message));
        Fault { error: ModelError::Unavailable { model, message }, again: true, after: None }
    }

    /// What is not a reply.
    pub(super) fn malformed(&self, message: &str) -> Fault {
        let (model, message) = (self.model.clone(), self.line(message));
        Fault { error: ModelError::Malformed { model, message }, again: false, after: None }
    }

    /// What a provider will not do.
    pub(super) fn refused(&self, status: Option<u16>, message: &str) -> Fault {
        let (model, message) = (self.model.clone(), self.line(message));
        let error = ModelError::Refused { model, status, message };
        Fault { error, again: false, after: None }
    }

    /// More than is taken.
    pub(super) fn too_large(&self, limit: usize) -> Fault {
        let error = ModelError::TooLarge { model: self.model.clone(), limit };
        Fault { error, again: false, after: None }
    }

    fn timed_out(&self) -> Fault {
        let error = ModelError::TimedOut { model: self.model.clone(), silent: self.silence };
        Fault { error, again: false, after: None }
    }

    /// What an error of the client says.
    pub(super) fn failed(&self, error: genai::Error) -> Fault {
        let status = error.status().map(|status| status.as_u16());
        let after = retry_after(&error);
        match error {
            genai::Error::HttpError { body, .. } => self.answered(status, &body, after),
            genai::Error::WebModelCall { webc_error, .. } => self.web(webc_error, after),
            genai::Error::WebStream { error, cause, .. } => {
                match error.downcast::<genai::Error>() {
                    Ok(error) => self.failed(*error),
                    Err(error) => self.broke_off(error.as_ref(), &cause),
                }
            }
            // The connection may be lost in the middle of an event.
            genai::Error::StreamParse { serde_error, .. } if serde_error.is_eof() => {
                self.unavailable("the reply broke off in the middle of an event")
            }
            genai::Error::StreamParse { serde_error, .. } => {
                self.malformed(&format!("an event of it is not JSON: {serde_error}"))
            }
            genai::Error::ChatResponse { body, .. } => self.told(&body),
            genai::Error::ChatResponseGeneration { response_body, cause, .. } => {
                if response_body.get("error").is_some() {
                    self.told(&response_body)
                } else {
                    self.malformed(&cause)
                }
            }
            other => self.malformed(&other.to_string()),
        }
    }

    fn web(&self, error: genai::webc::Error, after: Option<Duration>) -> Fault {
        match error {
            genai::webc::Error::ResponseFailedStatus { status, body, .. } => {
                self.answered(Some(status.as_u16()), &body, after)
            }
            genai::webc::Error::ResponseFailedNotJson { content_type, body } => {
                let kind = if content_type.is_empty() { "nothing" } else { &content_type };
                self.malformed(&format!("it answered with {kind}: {}", words_of(&body)))
            }
            genai::webc::Error::ResponseFailedInvalidJson { cause, .. } => self.malformed(&cause),
            genai::webc::Error::Reqwest(error) => self.broke_off(&error, "the connection failed"),
            genai::webc::Error::JsonValueExt(error) => self.malformed(&error.to_string()),
        }
    }

    /// What a failed connection says. The URL in its own words may be long; the last cause is not.
    fn broke_off(&self, error: &(dyn StdError + 'static), cause: &str) -> Fault {
        if error.downcast_ref::<StreamTimeout>().is_some() {
            return self.timed_out();
        }
        let Some(error) = error.downcast_ref::<reqwest::Error>() else {
            return self.malformed(cause);
        };
        if error.is_timeout() && !error.is_connect() {
            return self.timed_out();
        }
        let what =
            if error.is_connect() { "it cannot be reached" } else { "the connection was lost" };
        let mut root: &dyn StdError = error;
        while let Some(source) = root.source() {
            root = source;
        }
        let root = if root.source().is_none() && root.is::<reqwest::Error>() {
            String::new()
        } else {
            format!(": {root}")
        };
        self.unavailable(&format!("{what}{root}"))
    }

    /// What a status and a body say. Of the statuses that blame the request, only "too many" is
    /// worth another attempt.
    fn answered(&self, status: Option<u16>, body: &str, after: Option<Duration>) -> Fault {
        let said = serde_json::from_str::<Value>(body)
            .ok()
            .and_then(|body| message_of(&body))
            .unwrap_or_else(|| words_of(body));
        match status {
            Some(status @ (429 | 500..)) => {
                let after_words = match after {
                    Some(after) if after.as_secs() > 0 => {
                        format!(" (to be asked again in {} s)", after.as_secs())
                    }
                    _ => String::new(),
                };
                let fault = self.unavailable(&format!("HTTP {status}: {said}{after_words}"));
                Fault { after, ..fault }
            }
            status => self.refused(status, &said),
        }
    }

    /// What an error in a body of status 200 says.
    pub(super) fn told(&self, body: &Value) -> Fault {
        let said = message_of(body).unwrap_or_else(|| body.to_string());
        if is_passing(body) { self.unavailable(&said) } else { self.refused(None, &said) }
    }

    /// Returns a text as one line without a key, and not too long.
    fn line(&self, text: &str) -> String {
        let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(key) = &self.key {
            text = text.replace(key.expose(), "[key]");
        }
        let text = secret::mask(&text);
        if text.chars().count() <= SHOWN {
            return text.into_owned();
        }
        let mut cut: String = text.chars().take(SHOWN).collect();
        cut.push('…');
        cut
    }
}

/// Returns the words of an error body, as any of the formats has them.
fn message_of(body: &Value) -> Option<String> {
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").unwrap_or(body);
    let said = error.get("message").or_else(|| body.get("message")).unwrap_or(error);
    said.as_str().filter(|said| !said.is_empty()).map(str::to_owned)
}

/// Whether an error in a body is one that passes.
fn is_passing(body: &Value) -> bool {
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").unwrap_or(body);
    let words = ["type", "code", "status"].iter().filter_map(|key| error.get(key)?.as_str());
    let passing = [
        "overloaded_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "api_error",
        "timeout_error",
        "server_error",
        "internal_server_error",
        "RESOURCE_EXHAUSTED",
        "UNAVAILABLE",
        "INTERNAL",
        "DEADLINE_EXCEEDED",
    ];
    let number = error.get("code").and_then(Value::as_u64);
    words.into_iter().any(|word| passing.contains(&word))
        || number.is_some_and(|code| code == 429 || (500..600).contains(&code))
}

/// Returns the words of a page.
fn words_of(page: &str) -> String {
    let mut words = String::new();
    let mut in_tag = false;
    for c in page.chars().take(10 * SHOWN) {
        match c {
            '<' => in_tag = true,
            '>' => {
                in_tag = false;
                words.push(' ');
            }
            c if !in_tag => words.push(c),
            _ => {}
        }
    }
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() { "an empty body".into() } else { words }
}

fn retry_after(error: &genai::Error) -> Option<Duration> {
    let inner = match error {
        genai::Error::WebStream { error, .. } => error.downcast_ref::<genai::Error>()?,
        other => other,
    };
    let headers = inner.headers()?;
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
    number("retry-after-ms")
        .map(Duration::from_millis)
        .or_else(|| number("retry-after").map(Duration::from_secs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_that_a_provider_repeats_is_not_repeated() {
        let key = super::super::Keys::new("/nowhere", |_| Some("k-5up3r/5ecret".into()));
        let key = key.key("x", &["X".into()]).expect("a key");
        let teller = Teller { model: "m".into(), key, silence: Duration::from_secs(1) };
        let body = r#"{"error":{"message":"bad key\n k-5up3r/5ecret given"}}"#;
        let fault = teller.answered(Some(401), body, None);
        assert!(!fault.again);
        assert_eq!(
            fault.error.to_string(),
            "the provider of `m` refused the turn (HTTP 401): bad key [key] given"
        );
        assert!(!format!("{fault:?} {teller:?}").contains("5ecret"));
    }

    #[test]
    fn an_error_body_of_any_format_is_understood() {
        for (body, passing) in [
            (json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}), true),
            (json!({"type": "overloaded_error", "message": "m"}), true),
            (json!({"error": {"message": "m", "type": "invalid_request_error"}}), false),
            (json!({"message": "m", "type": "server_error"}), true),
            (json!([{"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}}]), true),
            (json!({"error": {"code": 400, "message": "m"}}), false),
            (json!({"error": "m"}), false),
        ] {
            assert_eq!(message_of(&body).as_deref(), Some("m"), "{body}");
            assert_eq!(is_passing(&body), passing, "{body}");
        }
    }

    #[test]
    fn a_page_is_read_as_its_words() {
        assert_eq!(words_of("<html><h1>502</h1>\n<p>Bad  Gateway</html>"), "502 Bad Gateway");
        assert_eq!(words_of(""), "an empty body");
    }
}
