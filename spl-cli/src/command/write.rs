//! `spl know|do|intend|learn`: write one record.

use std::io::Read as _;

use clap::Args;
use spl::canon::{Limits, Object, ParseError, Value, hash_of, hex, parse};
use spl::code::Code;
use spl::hook::HOOK_KIND;
use spl::identity::random_bytes;
use spl::object;
use spl::record::{Act, RecordId};

use super::record::find;
use crate::client::{Client, Reply, Target};
use crate::failure::{Exit, Failure};
use crate::output::{GOOD, printable};
use crate::session::{self, Session};
use crate::statement::Statement;
use crate::warning;

/// Write one record
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl intend \"paint the shed\"
  spl do \"primed the walls\" --thread th_…
  spl know \"painted\" --thread th_… --fulfills
  spl know --thread th_notes --body '{\"kind\":\"x.note.text\",\"text\":\"hello\"}'
  spl learn --thread th_engine_config --body @hook.json

The first line of the answer is a check mark, the thread and the record. The clock is the next
one of the actor on the thread.")]
pub(crate) struct WriteArgs {
    /// What is stated, in words
    #[arg(required_unless_present = "body")]
    text: Option<String>,
    /// The thread to write to [default: a new one]
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Who states it [default: `SPL_ACTOR`, else the owner of the instance]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
    /// Another act than the command's: INTEND, DO, KNOW, LEARN, GET, PUT, CALL or MAP
    #[arg(long, value_name = "ACT", value_parser = read_act)]
    act: Option<Act>,
    /// The body as JSON, from a file with `@FILE`, or from standard input with `-`; replaces TEXT
    #[arg(long, value_name = "JSON", allow_hyphen_values = true, conflicts_with = "text")]
    body: Option<String>,
    /// The record that this fulfils; without ID, the goal that opened the thread
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    fulfills: Option<String>,
}

fn read_act(word: &str) -> Result<Act, String> {
    Act::parse(&word.to_ascii_uppercase()).ok_or_else(|| {
        let acts: Vec<&str> = Act::ALL.iter().map(|act| act.as_str()).collect();
        format!("an act is one of {}", acts.join(", "))
    })
}

/// Writes one record.
pub(crate) fn write(session: &mut Session, act: Act, args: &WriteArgs) -> Result<(), Failure> {
    let act = args.act.unwrap_or(act);
    let mut body = match &args.body {
        Some(body) => read_object("body", body)?,
        None => body_of(act, args.text.as_deref().unwrap_or_default()),
    };
    if args.fulfills.is_some() && body.contains_key("fulfills") {
        return Err(Failure::usage("the body and --fulfills both say what is fulfilled"));
    }
    let client = session.writer()?;
    let actor = session::actor(args.actor.as_deref())?;
    let thread = match &args.thread {
        Some(thread) => thread.clone(),
        None => new_thread(&actor, &body)?,
    };
    let mut parents = Vec::new();
    if let Some(fulfilled) = &args.fulfills {
        let id = fulfilled_id(&client, &thread, fulfilled)?;
        body.insert("fulfills".into(), id.into());
        parents.push(id);
    }
    let statement = Statement { thread, actor, act, body, parents };
    let when = statement.body.get("when").and_then(Value::as_str).unwrap_or_default();
    let reply = statement.write(&client).map_err(|failure| failure.pointing_into(when))?;
    show_written(session, &reply)?;
    if statement.body.get("kind").and_then(Value::as_str) == Some(HOOK_KIND) {
        warning::tell(when);
    }
    Ok(())
}

/// Prints what was written: a check mark, the thread and the record.
pub(super) fn show_written(session: &mut Session, reply: &Reply) -> Result<(), Failure> {
    let text = |key| reply.body.get(key).and_then(Value::as_str).unwrap_or_default();
    let repeated = if reply.status == 200 { " (it was there already)" } else { "" };
    session.out.answer(&reply.body, |out| {
        let (thread, id) = (printable(text("thread")), text("id"));
        writeln!(out, "{GOOD}✓{GOOD:#} thread {thread} record {id}{repeated}")
    })
}

/// A goal is a goal; anything else that is said in words is text.
fn body_of(act: Act, text: &str) -> Object {
    if act == Act::Intend {
        object! { "goal": text }
    } else {
        object! { "text": text }
    }
}

/// Reads an object: JSON as it stands, `@FILE`, or `-` for standard input. Says what a door would.
pub(super) fn read_object(what: &str, given: &str) -> Result<Object, Failure> {
    let bytes = read_argument(given)?;
    let refused = |code: Code, why: String| {
        Failure::new(Exit::Invalid, code.as_str(), format!("the {what} does not read: {why}"))
    };
    match parse(&bytes, Limits::DOOR) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => {
            let message = format!("the {what} must be an object, not {}", other.type_name());
            Err(Failure::new(Exit::Invalid, Code::InvalidBody.as_str(), message))
        }
        Err(error @ ParseError::TooLarge { .. }) => {
            Err(refused(Code::BodyTooLarge, error.to_string()))
        }
        Err(error) => Err(refused(Code::IngestFailed, error.to_string())
            .with_hint("Quote it for the shell, or put it into a file and use `@FILE`.")),
    }
}

/// Reads an argument that may be a file or standard input.
fn read_argument(given: &str) -> Result<Vec<u8>, Failure> {
    // A byte more than is taken, so that the reader sees that it is too much.
    let most = Limits::DOOR.bytes as u64 + 1;
    let mut bytes = Vec::new();
    let read = if given == "-" {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else if let Some(path) = given.strip_prefix('@') {
        std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    } else {
        return Ok(given.as_bytes().to_vec());
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Failure::usage(format!("`{given}` could not be read: {error}"))),
    }
}

/// Mints the id of a thread (contract §1.9).
fn new_thread(actor: &str, body: &Object) -> Result<String, Failure> {
    let nonce = random_bytes::<32>()
        .map_err(|error| Failure::local("a thread could not be named", &error))?;
    let purpose = Value::from(body.clone()).to_string();
    Ok(format!("th_{}", hex(&hash_of(&[actor.as_bytes(), purpose.as_bytes(), &nonce]))))
}

/// Finds the record that is fulfilled: the one named, or the goal that opened the thread.
fn fulfilled_id(client: &Client, thread: &str, named: &str) -> Result<RecordId, Failure> {
    let record = if named.is_empty() { opening(client, thread)? } else { find(client, named)? };
    let id = record.get("id").and_then(Value::as_str).and_then(RecordId::parse);
    id.ok_or_else(|| Failure::missing(format!("`{named}` has no id")))
}

fn opening(client: &Client, thread: &str) -> Result<Object, Failure> {
    let query = object! {
        "filter": object! { "act": Act::Intend.as_str() },
        "limit": 1,
        "thread": thread,
    };
    let found = client.post(&Target::of(&["v1", "records", "query"]), query)?.body;
    let first = found.get("data").and_then(Value::as_array).and_then(<[Value]>::first);
    first.and_then(Value::as_object).cloned().ok_or_else(|| {
        Failure::missing(format!("thread `{thread}` has no goal to fulfil"))
            .with_hint("Name the record: `--fulfills ID`.")
    })
}
