//! Homes in which many hooks have been written.

use std::path::Path;

use spl::canon::Object;
use spl::engine::{Engine, EngineOptions, Home};
use spl::object;
use spl::record::{Act, ActorId, Draft, Origin, ThreadId};
use spl::store::AppendError;

/// Makes a home in `folder` in which `count` hooks have been written.
pub fn home(folder: &Path, count: usize, body: fn(usize) -> Object) -> Home {
    let home = Home::at(folder);
    home.initialise("vera").expect("a home");
    let engine = Engine::open(&home, EngineOptions::default()).expect("an engine");
    for first in (0..count).step_by(1000) {
        let write = move |tx: &mut spl::store::Tx<'_>| -> Result<(), AppendError> {
            for number in first..(first + 1000).min(count) {
                tx.append_next(learned(body(number)), Origin::Door)?;
            }
            Ok(())
        };
        engine.store().write(write).expect("hooks");
    }
    home
}

fn learned(body: Object) -> Draft {
    let actor = ActorId::parse("did:sync:user:vera").expect("an actor");
    Draft::new(ThreadId::config(), actor, Act::Learn, body)
}

/// The plain hook with this number: about a tool of its own that failed.
pub fn plain(number: usize) -> Object {
    body(
        number,
        &format!(r#"record.body.tool == "tool-{number}" && record.body.status == "error""#),
    )
}

/// The hook with this number, of which seven in ten are plain.
pub fn mixed(number: usize) -> Object {
    let tool = format!(r#"record.body.tool == "tool-{number}""#);
    let when = match number % 10 {
        0 => format!(r#"{tool} && record.body.content.contains("E{number}")"#),
        1 => format!(r#"{tool} && record.body.content.matches("error: [A-Z]+[0-9]{{3}}")"#),
        2 => format!(
            r#"{tool} && has(record.body.args.path) && record.body.args.path.startsWith("/etc")"#
        ),
        _ => return plain(number),
    };
    body(number, &when)
}

fn body(number: usize, when: &str) -> Object {
    object! {
        "kind": "core.hook.v1",
        "topic": "hook",
        "name": format!("hook-{number}"),
        "when": when,
        "text": "${tool} ended with ${status}: read what it says before you call it again.",
    }
}

/// The envelope of the hook with this number, as a client sends it.
pub fn envelope(number: usize) -> String {
    let body = spl::canon::Value::Object(plain(number));
    format!(
        r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","clock":{number},"body":{body}}}"#
    )
}
