//! What is played.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

/// One turn of the model.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// The words.
    pub text: String,
    /// The calls, in order.
    pub calls: Vec<Call>,
    /// Tokens read and written; nothing is counted without it.
    pub usage: Option<(u64, u64)>,
    /// Why it stops there; as a rule what fits the calls.
    pub stop: Option<Stop>,
    /// What goes wrong in place of the turn, and how many times before it is answered.
    pub fault: Option<(Fault, u32)>,
    /// How long the answer takes.
    pub delay_ms: u64,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its id; without one it is `call_<turn>_<n>`.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments as text: JSON, or what is none.
    pub args: String,
}

/// Why a model stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It has nothing more to say.
    EndTurn,
    /// It waits for results.
    ToolUse,
    /// The output limit.
    OutputLimit,
    /// What it said was filtered.
    Filtered,
    /// No reason is given.
    Nothing,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// An HTTP status with the error body of the format, and after how long to try again.
    Status {
        /// The status.
        status: u16,
        /// What `Retry-After` says, in whole seconds.
        retry_after: Option<u64>,
        /// What the error body says; without one, `scripted fault`.
        message: Option<String>,
    },
    /// Nothing is answered, ever.
    Hang,
    /// The stream stops after this many events and stays open.
    HangAfter(usize),
    /// The connection is lost after this many events of the stream.
    CutAfter(usize),
    /// The stream ends in order after this many events, as if it were whole.
    EndAfter(usize),
    /// Status 200 with an error body.
    ErrorBody,
    /// Status 200 with an error in the middle of the stream, after this many events.
    ErrorAfter(usize),
    /// Status 200 with a page.
    Html,
    /// A reply with no choice in it.
    Empty,
    /// A plain answer to who asks for a stream.
    Plain,
    /// An event that is not JSON.
    NotJson,
}

impl Fault {
    /// Returns a status, without `Retry-After`.
    pub fn status(status: u16) -> Self {
        Self::Status { status, retry_after: None, message: None }
    }
}

impl Turn {
    /// Returns a turn that says something.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), usage: Some((100, 10)), ..Self::default() }
    }

    /// Returns a turn that calls one tool and says nothing.
    pub fn call(name: &str, args: Value) -> Self {
        Self::text("").and_call(name, args)
    }

    /// Calls one more tool.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "callers write `json!` in place")]
    pub fn and_call(mut self, name: &str, args: Value) -> Self {
        self.calls.push(Call { id: None, name: name.into(), args: args.to_string() });
        self
    }

    /// Calls one more tool, with an id and with arguments that may be no JSON.
    #[must_use]
    pub fn and_raw_call(mut self, id: &str, name: &str, args: &str) -> Self {
        self.calls.push(Call { id: Some(id.into()), name: name.into(), args: args.into() });
        self
    }

    /// Counts tokens.
    #[must_use]
    pub const fn with_usage(mut self, input: u64, output: u64) -> Self {
        self.usage = Some((input, output));
        self
    }

    /// Counts nothing.
    #[must_use]
    pub const fn without_usage(mut self) -> Self {
        self.usage = None;
        self
    }

    /// Stops for this reason.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Goes wrong this many times before it is answered.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault, times: u32) -> Self {
        self.fault = Some((fault, times));
        self
    }

    /// Goes wrong each time.
    #[must_use]
    pub fn always(self, fault: Fault) -> Self {
        self.with_fault(fault, u32::MAX)
    }

    /// Returns why it stops.
    pub(crate) fn stops(&self) -> Stop {
        let natural = if self.calls.is_empty() { Stop::EndTurn } else { Stop::ToolUse };
        self.stop.clone().unwrap_or(natural)
    }
}

/// What happens before a turn is answered.
type Before = Box<dyn FnOnce() + Send>;

/// The turns, in order.
#[derive(Default)]
pub struct Script {
    pub(crate) turns: Vec<Turn>,
    pub(crate) in_order: bool,
    pub(crate) again: bool,
    pub(crate) before: BTreeMap<usize, Before>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("turns", &self.turns).finish_non_exhaustive()
    }
}

/// Why a text is no script.
#[derive(Debug)]
pub struct ScriptError(String);

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Returns a script of these turns.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { turns: turns.into_iter().collect(), ..Self::default() }
    }

    /// Counts requests, not the replies that a request holds.
    #[must_use]
    pub const fn in_order(mut self) -> Self {
        self.in_order = true;
        self
    }

    /// Begins anew after the last turn.
    #[must_use]
    pub const fn again(mut self) -> Self {
        self.again = true;
        self
    }

    /// Does something once, before turn `turn` (from 0) is answered for the first time.
    #[must_use]
    pub fn before(mut self, turn: usize, act: impl FnOnce() + Send + 'static) -> Self {
        self.before.insert(turn, Box::new(act));
        self
    }

    /// Reads a script.
    ///
    /// ```json
    /// {"turns": [
    ///   {"text": "I look.", "tool_calls": [{"name": "bash", "args": {"command": "ls"}}]},
    ///   {"tool_calls": [{"id": "c1", "name": "bash", "raw_args": "{\"command\": "}]},
    ///   {"text": "…", "usage": {"input_tokens": 9, "output_tokens": 3}, "stop": "output_limit"},
    ///   {"text": "…", "usage": null, "delay_ms": 50},
    ///   {"text": "Done.", "fault": {"status": 503, "retry_after": 1}, "times": 2}
    /// ]}
    /// ```
    ///
    /// `stop` is `end_turn`, `tool_use`, `output_limit`, `filtered` or `nothing`. `fault` is
    /// `{"status": N}`, `{"hang_after": N}`, `{"cut_after": N}`, `{"end_after": N}`,
    /// `{"error_after": N}`, or one of `"hang"`, `"error_body"`, `"html"`, `"empty"`, `"plain"`,
    /// `"not_json"`; it comes `times` times (once, unless said), and then the turn is answered.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let script: Value =
            serde_json::from_str(text).map_err(|error| ScriptError(format!("no JSON: {error}")))?;
        let turns = script.get("turns").and_then(Value::as_array);
        let turns = turns.ok_or_else(|| ScriptError("`turns` is missing".into()))?;
        let turns = turns.iter().enumerate().map(|(at, turn)| {
            read_turn(turn).map_err(|error| ScriptError(format!("turn {}: {error}", at + 1)))
        });
        Ok(Self::new(turns.collect::<Result<Vec<_>, _>>()?))
    }
}

fn read_turn(turn: &Value) -> Result<Turn, String> {
    let turn = turn.as_object().ok_or("must be an object")?;
    known(turn, &["text", "tool_calls", "usage", "stop", "fault", "times", "delay_ms"])?;
    let mut read = Turn::text(turn.get("text").and_then(Value::as_str).unwrap_or_default());
    for call in turn.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        read.calls.push(read_call(call)?);
    }
    match turn.get("usage") {
        None => {}
        Some(Value::Null) => read.usage = None,
        Some(usage) => {
            let count = |key| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
            read.usage = Some((count("input_tokens"), count("output_tokens")));
        }
    }
    read.stop = match turn.get("stop").map(Value::as_str) {
        None => None,
        Some(Some("end_turn")) => Some(Stop::EndTurn),
        Some(Some("tool_use")) => Some(Stop::ToolUse),
        Some(Some("output_limit")) => Some(Stop::OutputLimit),
        Some(Some("filtered")) => Some(Stop::Filtered),
        Some(Some("nothing")) => Some(Stop::Nothing),
        Some(other) => return Err(format!("`stop` is none: {other:?}")),
    };
    if let Some(fault) = turn.get("fault") {
        let times = turn.get("times").and_then(Value::as_u64).unwrap_or(1);
        read.fault = Some((read_fault(fault)?, u32::try_from(times).unwrap_or(u32::MAX)));
    }
    read.delay_ms = turn.get("delay_ms").and_then(Value::as_u64).unwrap_or_default();
    Ok(read)
}

fn read_call(call: &Value) -> Result<Call, String> {
    let call = call.as_object().ok_or("a call must be an object")?;
    known(call, &["id", "name", "args", "raw_args"])?;
    let text = |key| call.get(key).and_then(Value::as_str).map(str::to_owned);
    let args = call.get("args").map_or_else(|| "{}".to_owned(), Value::to_string);
    Ok(Call {
        id: text("id"),
        name: text("name").ok_or("a call needs a `name`")?,
        args: text("raw_args").unwrap_or(args),
    })
}

fn read_fault(fault: &Value) -> Result<Fault, String> {
    if let Some(word) = fault.as_str() {
        return Ok(match word {
            "hang" => Fault::Hang,
            "error_body" => Fault::ErrorBody,
            "html" => Fault::Html,
            "empty" => Fault::Empty,
            "plain" => Fault::Plain,
            "not_json" => Fault::NotJson,
            other => return Err(format!("`{other}` is no fault")),
        });
    }
    let number = |key: &str| fault.get(key).and_then(Value::as_u64);
    let count = |key: &str| number(key).and_then(|number| usize::try_from(number).ok());
    if let Some(status) = number("status").and_then(|status| u16::try_from(status).ok()) {
        let message = fault.get("message").and_then(Value::as_str).map(str::to_owned);
        return Ok(Fault::Status { status, retry_after: number("retry_after"), message });
    }
    None.or_else(|| count("hang_after").map(Fault::HangAfter))
        .or_else(|| count("cut_after").map(Fault::CutAfter))
        .or_else(|| count("end_after").map(Fault::EndAfter))
        .or_else(|| count("error_after").map(Fault::ErrorAfter))
        .ok_or_else(|| format!("`{fault}` is no fault"))
}

/// Refuses a member that nobody reads: a typing error would be a test that tests nothing.
fn known(members: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    match members.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(format!("`{unknown}` is not known; `{}` are", known.join("`, `"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reads_and_what_is_not_known_is_named() {
        let script = Script::parse(
            r#"{"turns":[
                {"text":"a","tool_calls":[{"name":"b","args":{"c":1}},{"name":"d","raw_args":"{"}]},
                {"usage":null,"stop":"output_limit","fault":{"status":429},"times":3},
                {"fault":{"cut_after":2}},{"fault":"hang"}]}"#,
        )
        .expect("a script");
        assert_eq!(script.turns[0].calls[0].args, r#"{"c":1}"#);
        assert_eq!(script.turns[0].calls[1].args, "{");
        assert_eq!(script.turns[1].fault, Some((Fault::status(429), 3)));
        assert_eq!(script.turns[1].usage, None);
        assert_eq!(script.turns[2].fault, Some((Fault::CutAfter(2), 1)));
        let error = Script::parse(r#"{"turns":[{},{"txt":"a"}]}"#).expect_err("no script");
        assert!(error.to_string().starts_with("turn 2: `txt` is not known"), "{error}");
    }
}
