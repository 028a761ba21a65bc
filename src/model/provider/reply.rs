//! From what came of an attempt to a reply.

use genai::chat::{StopReason as Stop, ToolCall, Usage as Counted};

use super::super::{CallRequest, Reply, StopReason, TurnRequest, Usage};
use super::ask::MOST;
use super::fault::{Fault, Teller};
use super::wire;
use crate::canon::{Limits, Object, Value, parse};
use crate::engine::WireFormat;

/// What came of an attempt that came to its end.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) usage: Option<Counted>,
    pub(super) stop: Option<Stop>,
}

/// Reads a reply.
pub(super) fn reply(
    whole: Whole,
    request: &TurnRequest,
    format: WireFormat,
    teller: &Teller,
) -> Result<Reply, Fault> {
    let stop = stop_of(&whole, format, teller)?;
    let Whole { text, calls, usage, .. } = whole;
    let written = calls.iter().fold(text.len(), |sum, call| sum + size_of(&call.fn_arguments));
    if written > MOST {
        return Err(teller.too_large(MOST));
    }
    let usage = counted(usage).unwrap_or_else(|| Usage {
        input_tokens: wire::estimate(request),
        output_tokens: wire::tokens(written),
        estimated: true,
    });
    let calls = calls.into_iter().map(call).collect();
    Ok(Reply { text, calls, usage, stop })
}

fn size_of(args: &serde_json::Value) -> usize {
    args.as_str().map_or_else(|| args.to_string().len(), str::len)
}

/// A stream of Gemini has no end but its reason to stop, so without one it broke off.
fn stop_of(whole: &Whole, format: WireFormat, teller: &Teller) -> Result<StopReason, Fault> {
    let calls = !whole.calls.is_empty();
    let nothing = !calls && whole.text.is_empty();
    let natural = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
    match &whole.stop {
        Some(Stop::MaxTokens(_)) => Ok(StopReason::OutputLimit),
        Some(Stop::ContentFilter(word)) => {
            Err(teller.refused(None, &format!("the reply was filtered (`{word}`)")))
        }
        Some(Stop::ToolCall(word)) if !calls => {
            Err(teller.malformed(&format!("it stopped for `{word}` and calls nothing")))
        }
        // The model called a tool in a way that its own provider could not read.
        Some(Stop::Other(word)) if nothing => Err(Fault {
            again: word.contains("FUNCTION_CALL") || word.contains("TOOL_CALL"),
            ..teller.malformed(&format!("it stopped for `{word}` and says nothing"))
        }),
        None if nothing => Err(teller.malformed("there is nothing in it")),
        None if format == WireFormat::Gemini => Err(teller.unavailable("the reply broke off")),
        Some(_) | None => Ok(natural),
    }
}

fn counted(usage: Option<Counted>) -> Option<Usage> {
    let usage = usage?;
    let thought = usage.completion_tokens_details.and_then(|details| details.reasoning_tokens);
    let output = usage.completion_tokens.or(thought);
    let of = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or_default()).unwrap_or_default();
    let (input_tokens, output_tokens) = (of(usage.prompt_tokens), of(output));
    // Zeros are how some servers say that they count nothing.
    (input_tokens > 0 || output_tokens > 0).then_some(Usage {
        input_tokens,
        output_tokens,
        estimated: false,
    })
}

fn call(call: ToolCall) -> CallRequest {
    let (args, malformed) = match arguments(&call.fn_arguments) {
        Ok(args) => (args, None),
        Err(why) => (Object::new(), Some(why)),
    };
    CallRequest { id: call.call_id, name: call.fn_name, args, malformed }
}

/// The client leaves arguments that are not JSON as the text that they are; no text at all is how
/// some models call a tool that takes nothing.
fn arguments(args: &serde_json::Value) -> Result<Object, String> {
    let text = match args {
        serde_json::Value::Null => return Ok(Object::new()),
        serde_json::Value::String(text) if text.trim().is_empty() => return Ok(Object::new()),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match parse(text.as_bytes(), Limits::DOOR) {
        Ok(Value::Object(args)) => Ok(args),
        Ok(other) => Err(format!("the arguments must be an object, not {}", other.type_name())),
        Err(error) => Err(format!("the arguments are {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_an_object_or_it_is_said_what_they_are() {
        for (args, wanted) in [
            (json!({"a": 1}), Ok(crate::object! { "a": 1 })),
            (json!(null), Ok(Object::new())),
            (json!(""), Ok(Object::new())),
            (json!("{\"a\":1}"), Ok(crate::object! { "a": 1 })),
            (json!([1]), Err("the arguments must be an object, not array")),
            (json!(7), Err("the arguments must be an object, not number")),
        ] {
            assert_eq!(arguments(&args), wanted.map_err(str::to_owned), "{args}");
        }
        let error = arguments(&json!("{\"a\": ")).expect_err("cut");
        assert!(error.starts_with("the arguments are not JSON: "), "{error}");
    }
}
