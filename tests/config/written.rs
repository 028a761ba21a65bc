//! Records of the configuration, as people write them.

use spl::canon::{Object, Value};
use spl::config::{ConfigState, HookRow};
use spl::fold::Fold;
use spl::object;
use spl::record::{Act, ActorId, Clock, Draft, RecordId, ThreadId};

use crate::log::Log;

/// The body of a good hook.
pub(crate) fn hook(namespace: &str, name: &str, text: &str) -> Object {
    object! {
        "kind": "core.hook.v1",
        "topic": "hook",
        "namespace": namespace,
        "name": name,
        "when": "true",
        "text": text,
    }
}

/// The same body with another field.
pub(crate) fn with(mut body: Object, field: &str, value: impl Into<Value>) -> Object {
    body.insert(field.into(), value.into());
    body
}

/// What is learned as configuration at a clock.
pub(crate) fn learned(clock: usize, body: Object) -> Draft {
    stated(Act::Learn, clock, body)
}

/// The erasure of a record.
pub(crate) fn erasure(clock: usize, id: RecordId) -> Draft {
    let erases = vec![Value::from(id)];
    stated(Act::Put, clock, object! { "kind": "core.erasure", "erases": erases, "reason": "r" })
}

pub(crate) fn stated(act: Act, clock: usize, body: Object) -> Draft {
    let clock = i64::try_from(clock).ok().and_then(Clock::new).expect("a clock");
    Draft::new(ThreadId::config(), ActorId::engine(), act, body).with_clock(clock)
}

pub(crate) fn fold(log: &Log) -> ConfigState {
    ConfigState::default().fold(log.since(0))
}

/// Returns the rows of what records state.
pub(crate) fn stated_rows(state: &ConfigState) -> Vec<HookRow> {
    state.rows().split_off(state.hooks_builtin())
}
