//! What a run makes good when something it counts on does not hold, and says so in its records
//! (`core.work.compensation.v1`, contract §5.1).

use std::collections::BTreeSet;

use super::body;
use super::state::RunState;
use crate::model::{Reply, StopReason};
use crate::object;
use crate::record::Draft;

/// Makes a reply one that the run can go on with, and returns what had to be made good.
///
/// An id that was used before would make two results one, so each call gets an id of its own.
/// Calls that were cut or cannot be read stay: they are answered, and not executed.
pub(super) fn reply(state: &RunState, reply: &mut Reply) -> Vec<Draft> {
    let mut made_good = Vec::new();
    let mut note = |assumption: &str, context| {
        made_good.push(body::compensation(state, "model_reply", assumption, context));
    };
    let mut taken: BTreeSet<String> = state.call_ids.clone();
    for call in &mut reply.calls {
        if call.id.is_empty() || taken.contains(&call.id) {
            let given = std::mem::take(&mut call.id);
            call.id = free_id(&given, &taken);
            let context = object! { "given": given, "taken": call.id.as_str() };
            note("each call has an id of its own", context);
        }
        taken.insert(call.id.clone());
        if let Some(why) = &call.malformed {
            let context = object! { "call_id": call.id.as_str(), "why": why.as_str() };
            note("the arguments of a call can be read", context);
        }
    }
    if reply.stop == StopReason::OutputLimit && !reply.calls.is_empty() {
        let context = object! { "calls": reply.calls.len() };
        note("a reply that calls tools is whole", context);
    }
    if reply.usage.estimated {
        let context = object! {
            "input_tokens": reply.usage.input_tokens,
            "output_tokens": reply.usage.output_tokens,
        };
        note("the provider counts tokens", context);
    }
    made_good
}

fn free_id(given: &str, taken: &BTreeSet<String>) -> String {
    let stem = if given.is_empty() { "call" } else { given };
    let mut ids = (2_u64..).map(|n| format!("{stem}-{n}"));
    ids.find(|id| !taken.contains(id)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::{Object, Value};
    use crate::model::{CallRequest, Usage};
    use crate::record::{ActorId, ThreadId};
    use crate::run::RunSpec;

    fn state() -> RunState {
        let thread = ThreadId::parse("th_run").expect("a thread");
        let actor = ActorId::parse("did:sync:agent:clerk").expect("an actor");
        let mut state = RunState::new(RunSpec::new(thread, actor, "a goal", "m"), Vec::new());
        state.call_ids.insert("a".into());
        state
    }

    fn replied(calls: Vec<CallRequest>, stop: StopReason, estimated: bool) -> Reply {
        let usage = Usage { estimated, ..Usage::default() };
        Reply { text: String::new(), calls, usage, stop }
    }

    fn call(id: &str) -> CallRequest {
        CallRequest { id: id.into(), name: "x".into(), args: Object::new(), malformed: None }
    }

    fn assumptions(drafts: &[Draft]) -> Vec<&str> {
        drafts.iter().filter_map(|draft| draft.body.get("assumption")?.as_str()).collect()
    }

    /// Two results with one id would be one result to a provider.
    #[test]
    fn each_call_gets_an_id_of_its_own() {
        let calls = vec![call("a"), call("b"), call("b"), call(""), call("a-2")];
        let mut said = replied(calls, StopReason::ToolUse, false);
        let made_good = reply(&state(), &mut said);
        let ids: Vec<&str> = said.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["a-2", "b", "b-2", "call-2", "a-2-2"]);
        assert_eq!(assumptions(&made_good), ["each call has an id of its own"; 4]);
        let context = made_good[0].body.get("context").expect("a context");
        assert_eq!(context.get("given").and_then(Value::as_str), Some("a"));
    }

    #[test]
    fn what_else_does_not_hold_is_said() {
        let mut whole = replied(vec![call("b")], StopReason::ToolUse, false);
        assert_eq!(reply(&state(), &mut whole), []);
        let malformed = CallRequest { malformed: Some("not JSON".into()), ..call("b") };
        let mut cut = replied(vec![malformed], StopReason::OutputLimit, true);
        assert_eq!(
            assumptions(&reply(&state(), &mut cut)),
            [
                "the arguments of a call can be read",
                "a reply that calls tools is whole",
                "the provider counts tokens",
            ]
        );
    }
}
