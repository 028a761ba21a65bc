//! A model that is asked over the network.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ReasoningEffort};
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};

use super::ask::{Client, Heard, Question};
use super::fault::{Fault, Teller};
use super::keys::Key;
use super::pace::Pace;
use super::{Provider, is_loopback, reply, wire};
use crate::cancel::Cancel;
use crate::engine::WireFormat;
use crate::model::{Model, ModelError, Reply, TurnRequest};

/// How often it is looked whether the turn was cancelled.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The most tokens of one reply, unless the settings say otherwise. Anthropic wants a number; this
/// is long for a turn, and short enough that a reply is not all of a budget.
const OUTPUT_TOKENS: u32 = 16_000;

/// What the oldest models that are still played write at most.
const OLD_OUTPUT_TOKENS: u32 = 4_096;

/// What stands for a key where none is needed; the client wants one.
const NO_KEY: &str = "none";

/// A model that is asked over the network.
#[derive(Debug)]
pub(super) struct Remote {
    name: String,
    format: WireFormat,
    target: ServiceTarget,
    options: ChatOptions,
    teller: Teller,
    client: Arc<Client>,
    pace: Pace,
    near: bool,
}

impl Remote {
    pub(super) fn new(
        name: &str,
        bare: &str,
        provider: &Provider,
        key: Option<Key>,
        client: Arc<Client>,
        pace: Pace,
    ) -> Self {
        let auth = key.as_ref().map_or(NO_KEY, Key::expose);
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(provider.base_url.as_str()),
            auth: AuthData::from_single(auth),
            model: ModelIden::new(adapter(provider.format), bare),
        };
        Self {
            name: name.to_owned(),
            format: provider.format,
            target,
            options: options(bare, provider, pace),
            teller: Teller { model: name.to_owned(), key, silence: pace.silence },
            client,
            pace,
            near: is_loopback(&provider.base_url),
        }
    }

    /// Makes one attempt, and tells whether anything was said before it failed.
    fn attempt(
        &self,
        request: &TurnRequest,
        cancel: &Cancel,
        said: &mut dyn FnMut(&str),
    ) -> Result<Reply, (Fault, bool)> {
        let question = Question {
            target: self.target.clone(),
            chat: wire::chat(request, self.format),
            options: self.options.clone(),
            teller: self.teller.clone(),
            near: self.near,
        };
        let mut spoke = false;
        let stopped = || self.teller.unavailable("the client has stopped");
        let (heard, task) = self.client.ask(question).ok_or_else(|| (stopped(), spoke))?;
        loop {
            match heard.recv_timeout(LOOK_EVERY) {
                Ok(Heard::Words(words)) => {
                    spoke = true;
                    said(&words);
                }
                Ok(Heard::Ended(ended)) => {
                    let reply = ended
                        .and_then(|whole| reply::reply(whole, request, self.format, &self.teller));
                    return reply.map_err(|fault| (fault, spoke));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err((stopped(), spoke)),
            }
            if cancel.is_cancelled() {
                task.abort();
                let fault = Fault { error: ModelError::Cancelled, again: false, after: None };
                return Err((fault, spoke));
            }
        }
    }
}

impl Model for Remote {
    fn turn(
        &mut self,
        request: &TurnRequest,
        cancel: &Cancel,
        said: &mut dyn FnMut(&str),
    ) -> Result<Reply, ModelError> {
        let mut attempt = 1;
        loop {
            let (fault, spoke) = match self.attempt(request, cancel, said) {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            let wait = self.pace.wait(attempt, fault.after);
            // What was said would be said again.
            let Some(wait) = wait.filter(|_| fault.again && !spoke) else {
                return Err(fault.error);
            };
            tracing::debug!(model = self.name, attempt, ?wait, "a turn is tried again");
            if cancel.wait(wait) {
                return Err(ModelError::Cancelled);
            }
            attempt += 1;
        }
    }

    fn name(&self) -> &str {
        &self.name
    }
}

const fn adapter(format: WireFormat) -> AdapterKind {
    match format {
        WireFormat::OpenAi => AdapterKind::OpenAI,
        WireFormat::Anthropic => AdapterKind::Anthropic,
        WireFormat::Gemini => AdapterKind::Gemini,
    }
}

fn options(model: &str, provider: &Provider, pace: Pace) -> ChatOptions {
    let options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_tool_calls(true)
        .with_stream_header_timeout(pace.silence)
        .with_stream_read_timeout(pace.silence);
    let most = provider.max_output_tokens.or_else(|| {
        let old = model.starts_with("claude-3-") && !model.starts_with("claude-3-7");
        let most = if old { OLD_OUTPUT_TOKENS } else { OUTPUT_TOKENS };
        (provider.format == WireFormat::Anthropic).then_some(most)
    });
    let options = match most {
        Some(most) => options.with_max_tokens(most),
        None => options,
    };
    match provider.format {
        // The client takes `-max` and the like off the end of a name, and asks for that effort; but
        // there are models that are called so. A budget is what this format has no word for, so it
        // is not sent, and the name stays.
        WireFormat::OpenAi => options.with_reasoning_effort(ReasoningEffort::Budget(0)),
        WireFormat::Anthropic | WireFormat::Gemini => options,
    }
}
