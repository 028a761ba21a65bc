//! One tiny turn.

use spl::cancel::Cancel;
use spl::canon::{Object, Value};
use spl::model::{Message, Providers, Reply, ToolDescription, TurnRequest};
use spl::object;
use spl::time::Stopwatch;

use super::super::WELL;
use super::super::work_loop::cancel_when_told;
use super::dollars;
use crate::failure::Failure;
use crate::output::{GOOD, WARN, cut, plural, printable};
use crate::session::Session;

/// What the model is to call, and with which word.
const TOOL: &str = "report";
const WORD: &str = "ready";

/// The exit status of a model that answers and does not call.
const MUTE: u8 = 1;

/// Takes one tiny turn.
pub(super) fn test(
    session: &mut Session,
    providers: &Providers,
    name: Option<&str>,
) -> Result<u8, Failure> {
    let coded = |error: spl::model::ModelError| Failure::coded(&error);
    let name = name.map_or_else(|| providers.trial(), Ok).map_err(coded)?;
    let mut model = providers.model(name).map_err(coded)?;
    let cancel = Cancel::new();
    cancel_when_told(&cancel)?;
    let mut pieces = 0_u32;
    let watch = Stopwatch::start();
    let mut first = None;
    let mut said = |_: &str| {
        pieces += 1;
        first.get_or_insert_with(|| watch.elapsed());
    };
    let reply = model.turn(&request(), &cancel, &mut said).map_err(coded)?;
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let took = millis(watch.elapsed());
    let called = reply.calls.iter().any(|call| call.name == TOOL && call.malformed.is_none());
    let cost = providers.price(name).map(|price| price.cost(&reply.usage));
    let answer = object! {
        "called_tool": called,
        "cost_usd_micros": cost.map_or(Value::Null, Value::from),
        "estimated": reply.usage.estimated,
        "first_word_ms": first.map_or(Value::Null, |first| millis(first).into()),
        "input_tokens": reply.usage.input_tokens,
        "model": name,
        "object": "model_test",
        "output_tokens": reply.usage.output_tokens,
        "stop": reply.stop.as_str(),
        "streamed": pieces > 1,
        "took_ms": took,
    };
    session.out.answer(&answer, |out| {
        let mark = if called {
            format!("{GOOD}✓{GOOD:#} {} called the tool", printable(name))
        } else {
            format!("{WARN}!{WARN:#} {} answered without calling the tool", printable(name))
        };
        writeln!(out, "{mark} in {took} ms")?;
        if !reply.text.is_empty() {
            writeln!(out, "  it said    {}", cut(&reply.text, 80))?;
        }
        writeln!(out, "  streamed   {}", if pieces > 1 { "yes" } else { "no, or in one piece" })?;
        writeln!(out, "  tokens     {}", tokens(&reply))?;
        match cost {
            Some(cost) => writeln!(out, "  cost       ${}", dollars(cost)),
            None => writeln!(out, "  cost       not known: the model has no price"),
        }
    })?;
    Ok(if called { WELL } else { MUTE })
}

fn tokens(reply: &Reply) -> String {
    let usage = &reply.usage;
    let guessed = if usage.estimated { ", estimated: the provider counts none" } else { "" };
    format!(
        "{} read, {} written{guessed}",
        plural(usage.input_tokens, "token"),
        usage.output_tokens
    )
}

fn request() -> TurnRequest {
    let word = object! { "type": "string", "description": "The word to report." };
    let parameters: Object = object! {
        "properties": object! { "word": word },
        "required": vec![Value::from("word")],
        "type": "object",
    };
    TurnRequest {
        system: "You are tried out. Be brief.".into(),
        messages: vec![Message::User {
            text: format!(
                "Say in one short sentence what you will do, and call `{TOOL}` with the word \
                 `{WORD}`."
            ),
        }],
        tools: vec![ToolDescription {
            name: TOOL.into(),
            description: "Reports one word.".into(),
            parameters: parameters.into(),
        }],
    }
}
