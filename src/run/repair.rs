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
