//! One attempt: a request goes out, and what comes back is handed on as it comes.
//!
//! It runs on a thread of the client's own, so that whoever waits for it can go away at once, and
//! may itself stand on a thread of another runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use futures_util::StreamExt as _;
use genai::ServiceTarget;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent, StreamEnd};
use tokio::runtime::Runtime;
use tokio::task::AbortHandle;

use super::fault::{Fault, Teller};
use super::pace::Pace;
use super::reply::Whole;

/// The most bytes of words and arguments in one reply.
pub(super) const MOST: usize = 4 * 1024 * 1024;

/// The most bytes of all events of one reply: each word has some thirty bytes around it.
const MOST_ON_THE_WIRE: usize = 16 * MOST;

/// The client of all models, and the thread that it works on.
#[derive(Debug)]
pub(super) struct Client {
    /// Asks through the proxy of the system, if there is one.
    far: genai::Client,
    /// Asks this machine.
    near: genai::Client,
    runtime: Option<Runtime>,
}

/// What is heard of an attempt.
#[derive(Debug)]
pub(super) enum Heard {
    /// Words, as they come.
    Words(String),
    /// The end.
    Ended(Result<Whole, Fault>),
}

/// All that an attempt is made of.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) target: ServiceTarget,
    pub(super) chat: ChatRequest,
    pub(super) options: ChatOptions,
    pub(super) teller: Teller,
    pub(super) near: bool,
}

impl Client {
    pub(super) fn new(pace: Pace) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("spl-model")
            .enable_all()
            .build()
            .map_err(|error| format!("the runtime could not be started: {error}"))?;
        let http = || {
            reqwest::Client::builder()
                .connect_timeout(pace.connect)
                .read_timeout(pace.silence)
                // A key would go wherever a provider points to.
                .redirect(reqwest::redirect::Policy::none())
        };
        let build = |http: reqwest::ClientBuilder| {
            let http = http.build().map_err(|error| error.to_string())?;
            genai::Client::builder().with_reqwest(http).build().map_err(|error| error.to_string())
        };
        let (far, near) = (build(http())?, build(http().no_proxy())?);
        Ok(Self { far, near, runtime: Some(runtime) })
    }

    /// Begins an attempt. It ends when it is done, or aborted.
    pub(super) fn ask(&self, question: Question) -> Option<(Receiver<Heard>, AbortHandle)> {
        let client = if question.near { self.near.clone() } else { self.far.clone() };
        let (out, heard) = channel();
        let task = self.runtime.as_ref()?.spawn(async move {
            let ended = attempt(&client, question, &out).await;
            // Whoever asked may have gone.
            let _ = out.send(Heard::Ended(ended));
        });
        Some((heard, task.abort_handle()))
    }
}

impl Drop for Client {
    /// To wait for the thread would not be allowed where the last model may be dropped.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn attempt(
    client: &genai::Client,
    question: Question,
    out: &Sender<Heard>,
) -> Result<Whole, Fault> {
    match stream(client, &question, out).await? {
        Some(whole) => Ok(whole),
        None => plain(client, question, out).await,
    }
}

/// Asks for a stream. Returns nothing if what came was none at all: the answer of a server that does
/// not stream, an error in a body of status 200, or a page. The client shows no such body, so it is
/// asked once more without a stream.
async fn stream(
    client: &genai::Client,
    question: &Question,
    out: &Sender<Heard>,
) -> Result<Option<Whole>, Fault> {
    let Question { target, chat, options, teller, .. } = question;
    let bytes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&bytes);
    let options = options.clone().with_raw_frame_fn(move |_, frame| {
        counter.fetch_add(frame.data.len(), Ordering::Relaxed);
    });
    let failed = |error| teller.failed(error);
    let asked = client.exec_chat_stream(target.clone(), chat.clone(), Some(&options));
    let mut events = asked.await.map_err(failed)?.stream;
    let (mut text, mut ended) = (String::new(), None);
    while let Some(event) = events.next().await {
        match event.map_err(failed)? {
            ChatStreamEvent::Chunk(chunk) => {
                text.push_str(&chunk.content);
                // Whoever asked may have gone.
                let _ = out.send(Heard::Words(chunk.content));
            }
            ChatStreamEvent::ToolCallChunk(chunk) => {
                let args = chunk.tool_call.fn_arguments.as_str().map_or(0, str::len);
                if args > MOST {
                    return Err(teller.too_large(MOST));
                }
            }
            ChatStreamEvent::End(end) => {
                ended = Some(end);
                break;
            }
            _ => {}
        }
        if text.len() > MOST || bytes.load(Ordering::Relaxed) > MOST_ON_THE_WIRE {
            return Err(teller.too_large(MOST));
        }
    }
    match ended {
        _ if bytes.load(Ordering::Relaxed) == 0 => Ok(None),
        Some(end) => Ok(Some(whole(text, end))),
        None => Err(teller.unavailable("the reply broke off")),
    }
}

fn whole(text: String, end: StreamEnd) -> Whole {
    let StreamEnd { captured_usage, captured_stop_reason, captured_content, .. } = end;
    Whole {
        text,
        calls: captured_content.map(|content| content.into_tool_calls()).unwrap_or_default(),
        usage: captured_usage,
        stop: captured_stop_reason,
    }
}

async fn plain(
    client: &genai::Client,
    question: Question,
    out: &Sender<Heard>,
) -> Result<Whole, Fault> {
    let Question { target, chat, options, teller, .. } = question;
    let options = options.with_capture_raw_body(true);
    let asked = client.exec_chat(target, chat, Some(&options));
    let reply = asked.await.map_err(|error| teller.failed(error))?;
    // A body may hold an error where the client looks for a reply and finds none.
    if let Some(body) = reply.captured_raw_body.filter(|body| body.get("error").is_some()) {
        return Err(teller.told(&body));
    }
    let text = reply.content.texts().concat();
    if text.len() > MOST {
        return Err(teller.too_large(MOST));
    }
    if !text.is_empty() {
        let _ = out.send(Heard::Words(text.clone()));
    }
    Ok(Whole {
        text,
        calls: reply.content.into_tool_calls(),
        usage: Some(reply.usage),
        stop: reply.stop_reason,
    })
}
