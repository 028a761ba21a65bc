//! An answer before it is in any format.

use serde_json::Value;

use crate::script::{Call, Stop, Turn};

/// How many bytes of a text one event of a stream has, at least.
const PIECE: usize = 16;

/// What a format has to say.
pub(crate) struct Answer<'a> {
    pub(crate) model: &'a str,
    pub(crate) text: &'a str,
    pub(crate) calls: Vec<(String, &'a Call)>,
    pub(crate) usage: Option<(u64, u64)>,
    pub(crate) stop: Stop,
    /// Whether usage is wanted in a stream.
    pub(crate) counted: bool,
}

impl<'a> Answer<'a> {
    pub(crate) fn of(turn: &'a Turn, number: usize, model: &'a str, counted: bool) -> Self {
        let id = |at: usize, call: &Call| {
            call.id.clone().unwrap_or_else(|| format!("call_{number}_{}", at + 1))
        };
        let calls = turn.calls.iter().enumerate().map(|(at, call)| (id(at, call), call));
        Self {
            model,
            text: &turn.text,
            calls: calls.collect(),
            usage: turn.usage,
            stop: turn.stops(),
            counted,
        }
    }
}

/// A wire format.
pub(crate) trait Format {
    /// Returns the name of the model that a request asks for.
    fn model(path: &str, request: &Value) -> String;
    /// Returns how many replies of the model a request holds.
    fn replies(request: &Value) -> usize;
    /// Tells whether a request asks for a stream.
    fn streams(path: &str, request: &Value) -> bool;
    /// Returns a whole answer.
    fn plain(answer: &Answer<'_>) -> Value;
    /// Returns the events of an answer, each as its lines without the empty one behind them.
    fn events(answer: &Answer<'_>) -> Vec<String>;
    /// Returns an error body.
    fn error(status: u16, message: &str) -> Value;
    /// Returns the event of an error in a stream.
    fn error_event(message: &str) -> String;
    /// Returns an answer without any choice.
    fn empty() -> (Value, Vec<String>);
}

/// Cuts a text into pieces, as a stream has them.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    // A long text comes in fewer, larger pieces.
    let size = PIECE.max(text.len() / 256);
    let mut rest = text;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let mut end = size.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, after) = rest.split_at(end);
        found.push(piece);
        rest = after;
    }
    found
}

/// Returns the elements of a list in a request that have this role.
pub(crate) fn of_role(request: &Value, list: &str, role: &str) -> usize {
    let elements = request.get(list).and_then(Value::as_array).into_iter().flatten();
    elements.filter(|it| it.get("role").and_then(Value::as_str) == Some(role)).count()
}

/// Returns a text member of a request.
pub(crate) fn text(request: &Value, key: &str) -> String {
    request.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
