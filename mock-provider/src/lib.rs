//! A provider of models on loopback that plays a script.
//!
//! It is a real HTTP server that speaks the wire formats of Anthropic (messages), `OpenAI` (chat
//! completions) and Gemini (`generateContent`), streaming and plain, and keeps every request. A turn
//! of its script is text, tool calls, counts of tokens, a reason to stop, or a fault.
//!
//! ```no_run
//! use mock_provider::{Fault, MockProvider, Script, Turn};
//! use serde_json::json;
//!
//! let script = Script::new([
//!     Turn::text("I look.").and_call("bash", json!({"command": "ls"})),
//!     Turn::text("Done.").with_fault(Fault::status(503), 2),
//! ])
//! .before(1, || println!("something happens before the second turn is answered"));
//! let provider = MockProvider::start(script);
//! println!("{} {} {}", provider.anthropic(), provider.openai(), provider.gemini());
//! assert!(provider.requests().is_empty());
//! ```
//!
//! Which turn answers a request is counted by the replies of the model that the request holds, so a
//! run that is resumed, and any number of runs beside each other, are told what comes next in each.
//! [`Script::in_order`] counts the requests instead. After the last turn comes the text `done`.

mod answer;
mod anthropic;
mod gemini;
mod openai;
mod script;
mod server;

pub use script::{Call, Fault, Script, ScriptError, Stop, Turn};
pub use server::{MockProvider, Request};
