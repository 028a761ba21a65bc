//! `spl session hook`: the process that the harness of an agent starts for each of its events.
//!
//! Comes in: one payload on standard input. Goes out: at most one JSON object on standard output,
//! in one write, and status 0 whatever happens: a harness takes any other for a verdict on the tool
//! call. What went wrong is one line on standard error, and the same line in the home's
//! `logs/session-hook.log`.
//!
//! It is started for every tool call of a person's day, so it stands apart from the other commands
//! and does nothing that it could leave: it builds no tree of commands, reads no settings (but those
//! of policy hooks, where it is asked to), starts no runtime. A running server is asked over its
//! socket, once; where none answers in time, the store is opened here, for the same attempt.
//!
//! Policy hooks are asked here as well, by an entry that says `--policy` and of an event that waits
//! for a decision; of any other, nothing of theirs is read. What they decide is told whether or not
//! the event can be recorded, and nothing that goes wrong with them refuses anything.
//!
//! **Invariant:** of decisions, a refusal is all that is ever printed.
//!
//! **Invariant:** standard input is read to its end on every path. Whoever writes a payload that
//! nobody reads is ended by it.

mod arguments;
mod direct;
mod input;
mod notice;
mod place;
mod policy;
mod server;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use spl::canon::hex;
use spl::identity::random_bytes;
use spl::session::{
    Decided, Envelope, Event, Payload, Pending, answer as words, refusal as refusal_of,
};

pub(crate) use arguments::HookArgs;
use arguments::Line;
use direct::Taken;
use input::Input;
use notice::Notice;
use place::Place;
use server::Reply;

/// Returns whether a command line is one of `spl session hook`.
///
/// What stands before it may only be the options that every command takes.
pub(crate) fn is_meant(line: &[OsString]) -> bool {
    let mut words = line.iter().skip(1);
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("-o" | "--output" | "--token" | "--server") => drop(words.next()),
            Some(option) if option.starts_with('-') => {}
            Some("session") => return words.next().is_some_and(|word| word == "hook"),
            _ => return false,
        }
    }
    false
}

/// Does what the command line asks for. Never fails, as a harness sees it.
pub(crate) fn run(line: &[OsString]) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
        let what = panic.payload_as_str().unwrap_or("no word");
        Notice::default().say(&format!("it panicked{place}: {what}"));
    }));
    // The hook has said it.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let input = input::read();
        match Line::read(line) {
            Ok(Some(args)) => answer(&args, input),
            // The help that was asked for.
            Ok(None) => {}
            Err(wrong) => Notice::default().say(&wrong),
        }
    }));
    ExitCode::SUCCESS
}

/// Takes what a harness has written to whoever keeps the records, and prints what they say.
fn answer(args: &HookArgs, input: std::io::Result<Input>) {
    let mut notice = Notice::default();
    let place = match Place::of(args) {
        Ok(place) => place,
        Err(refused) => return notice.say(&refused),
    };
    notice.keep_in(&place.home);
    let payload = match input {
        Ok(Input::Whole(payload)) => payload,
        Ok(Input::TooLong) => {
            let limit = Payload::MAX_BYTES / (1024 * 1024);
            return notice.say(&format!("the payload has more than {limit} MiB"));
        }
        Ok(Input::Terminal) => {
            return notice.say("this reads an event on standard input; a harness starts it");
        }
        Err(error) => return notice.say(&format!("standard input could not be read: {error}")),
    };
    if let Err(reason) = answer_event(args, &place, &payload, &notice) {
        notice.name(&payload, args.harness);
        notice.say(&reason);
    }
}

/// Prints the answer to an event, as soon as it is known.
fn answer_event(
    args: &HookArgs,
    place: &Place,
    payload: &[u8],
    notice: &Notice,
) -> Result<(), String> {
    let waiting = if args.policy { waiting(args, place, payload, notice)? } else { None };
    let decided = waiting.as_ref().and_then(|event| event.decided.as_ref());
    // A refusal waits for nobody, and is all that is said.
    let refused = match (&waiting, decided) {
        (Some(event), Some(Decided::Refused(refusal))) => {
            refusal_of(event, &refusal.block.reason).as_deref().map(input::print);
            true
        }
        _ => false,
    };
    let told = tell(args, place, payload, waiting.as_ref(), notice);
    let output = match (&told, &waiting, decided) {
        (Ok(told), ..) => told.output().map(str::to_owned),
        (Err(_), Some(event), Some(Decided::Added(context))) => Some(words(event, context)),
        (Err(_), ..) => None,
    };
    if let Some(output) = output.filter(|_| !refused) {
        input::print(&output);
    }
    told?.rest()
}

/// Returns an event that waits for a decision, with what was decided about it.
fn waiting(
    args: &HookArgs,
    place: &Place,
    payload: &[u8],
    notice: &Notice,
) -> Result<Option<Event>, String> {
    let (read, mut event) = event_of(args, payload)?;
    let Some(pending) = Pending::of(&read, &event) else { return Ok(None) };
    event.decided = policy::decide(args, place, &event, &pending, notice);
    Ok(Some(event))
}

/// What came of telling whoever keeps the records.
enum Told {
    /// A server has recorded the event, and this is to be printed.
    ByServer(Option<String>),
    /// It was recorded here.
    Here(Taken),
}

impl Told {
    fn output(&self) -> Option<&str> {
        match self {
            Self::ByServer(output) => output.as_deref(),
            Self::Here(taken) => taken.output(),
        }
    }

    /// Does what may be done once everything is printed.
    fn rest(self) -> Result<(), String> {
        match self {
            Self::ByServer(_) => Ok(()),
            Self::Here(taken) => taken.report(),
        }
    }
}

/// Takes an event, with what was decided about it, to whoever keeps the records.
fn tell(
    args: &HookArgs,
    place: &Place,
    payload: &[u8],
    waiting: Option<&Event>,
    notice: &Notice,
) -> Result<Told, String> {
    // It only tells this process from others, and a system without randomness has a number for it.
    let attempt = match random_bytes::<16>() {
        Ok(bytes) => hex(&bytes),
        Err(_) => std::process::id().to_string(),
    };
    let namespace = args.namespace.as_ref().map(|namespace| namespace.as_str());
    let socket = place.home.socket_path();
    match place::check_socket(&socket) {
        Ok(true) => {
            let decided = waiting.and_then(|event| event.decided.as_ref());
            let envelope = Envelope::write(args.harness, namespace, &attempt, decided, payload);
            match server::ask(&socket, &envelope) {
                Ok(Reply::Output(output)) => return Ok(Told::ByServer(output)),
                Ok(Reply::Refused(reason)) => return Err(reason),
                // Nobody answers, or not in time: the store is here too.
                Err(_) => {}
            }
        }
        Ok(false) => {}
        Err(refused) => notice.say(&refused),
    }
    let event = waiting.cloned().map_or_else(|| Ok(event_of(args, payload)?.1), Ok::<_, String>)?;
    direct::receive_here(&place.home, &event, args.namespace.as_ref(), &attempt).map(Told::Here)
}

fn event_of(args: &HookArgs, payload: &[u8]) -> Result<(Payload, Event), String> {
    let payload = Payload::read(payload).map_err(|malformed| malformed.to_string())?;
    let event = Event::read(&payload, args.harness).map_err(|malformed| malformed.to_string())?;
    Ok((payload, event))
}
