//! A provider that plays a script, and a model that asks it.

use std::time::Duration;

use mock_provider::{MockProvider, Script};
use spl::cancel::Cancel;
use spl::engine::Settings;
use spl::model::{
    CallRequest, Keys, Message, Model, ModelError, Pace, Prices, Providers, Reply, ToolDescription,
    TurnRequest,
};
use spl::object;

/// Each format, as the name of a provider and of a model.
pub(crate) const FORMATS: [&str; 3] =
    ["anthropic/claude-sonnet-4-6", "openai/gpt-5.1", "gemini/gemini-2.5-pro"];

/// What no answer, no error and no URL may hold.
pub(crate) const KEY: &str = "k-9c41d0aa17";

/// A model, and who plays it.
pub(crate) struct Stage {
    pub(crate) provider: MockProvider,
    pub(crate) model: Box<dyn Model>,
}

/// Waits that a test can afford.
pub(crate) fn pace() -> Pace {
    Pace {
        connect: Duration::from_secs(5),
        silence: Duration::from_secs(20),
        attempts: 3,
        first_wait: Duration::from_millis(2),
        longest_wait: Duration::from_secs(5),
        seed: 1,
    }
}

impl Stage {
    /// Plays a script for the model of this name; the nth request is answered by the nth turn.
    pub(crate) fn new(model: &str, script: Script) -> Self {
        Self::paced(model, script, pace())
    }

    pub(crate) fn paced(model: &str, script: Script, pace: Pace) -> Self {
        let provider = MockProvider::start(script.in_order());
        let model = providers(&provider.url()).with_pace(pace).model(model).expect("a model");
        Self { provider, model }
    }

    pub(crate) fn turn(&mut self, request: &TurnRequest) -> Result<Reply, ModelError> {
        self.heard(request).0
    }

    /// Takes a turn, and returns what was heard while it was taken.
    pub(crate) fn heard(
        &mut self,
        request: &TurnRequest,
    ) -> (Result<Reply, ModelError>, Vec<String>) {
        let mut heard = Vec::new();
        let turn =
            self.model.turn(request, &Cancel::new(), &mut |words| heard.push(words.to_owned()));
        if let Err(error) = &turn {
            assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
        }
        (turn, heard)
    }
}

pub(crate) fn providers(url: &str) -> Providers {
    let settings = format!(
        "[model.providers.anthropic]\nbase_url = \"{url}/v1\"\n\
         [model.providers.openai]\nbase_url = \"{url}/v1\"\n\
         [model.providers.gemini]\nbase_url = \"{url}/v1beta\"\n\
         [model.providers.local]\nbase_url = \"{url}/v1\"\n"
    );
    let settings = Settings::parse(&settings).expect("settings");
    let keys = Keys::new("/nowhere", |name| name.ends_with("_API_KEY").then(|| KEY.to_owned()));
    Providers::open(&settings.model, keys, Prices::built_in())
}

/// A request with one thing said.
pub(crate) fn hello() -> TurnRequest {
    TurnRequest { messages: vec![Message::User { text: "hello".into() }], ..TurnRequest::default() }
}

/// A request in the middle of a run: two calls in one turn, of which one failed, what two hooks and
/// the loop say about it, and a turn before it.
pub(crate) fn whole() -> TurnRequest {
    let call = |id: &str, command: &str| CallRequest {
        id: id.into(),
        name: "bash".into(),
        args: object! { "command": command },
        malformed: None,
    };
    let result = |id: &str, text: &str, failed| Message::ToolResult {
        call_id: id.into(),
        tool: "bash".into(),
        text: text.into(),
        failed,
    };
    let heard =
        |rule: &str, text: &str| Message::Observation { rule: rule.into(), text: text.into() };
    TurnRequest {
        system: "You work towards one goal.".into(),
        messages: vec![
            Message::User { text: "count the files".into() },
            Message::Assistant { text: "I look.".into(), calls: vec![call("c1", "ls")] },
            result("c1", "a\nb\n", false),
            Message::Assistant {
                text: String::new(),
                calls: vec![call("c2", "wc"), call("c3", "x")],
            },
            result("c2", "2", false),
            heard("count-twice", "Count again.\nThen answer."),
            result("c3", "x: not found\n[exit 127]", true),
            heard("shell-failed", "bash ended with error; read stderr first."),
            Message::Notice { text: "3 turns are left.".into() },
        ],
        tools: vec![ToolDescription {
            name: "bash".into(),
            description: "Runs a command.".into(),
            parameters: object! {
                "type": "object",
                "properties": object! { "command": object! { "type": "string" } },
                "required": vec![spl::canon::Value::from("command")],
            }
            .into(),
        }],
    }
}
