//! Configuration in force (contract §2.7). Whoever may read in some namespaces only is shown what was
//! written for those.

use super::ApiState;
use super::answer::Answer;
use super::call::Call;
use super::problem::Problem;
use super::wire;
use crate::canon::{Object, Value};
use crate::engine::Way;
use crate::record::{Namespace, ThreadId};

/// `GET /v1/config/hooks`
pub(super) fn hooks(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let mut rows = state.engine().hook_rows()?;
    rows.retain(|row| shows(call, row));
    Ok(Answer::ok(wire::list(rows)))
}

/// `GET /v1/config/permissions`
pub(super) fn permissions(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(shown(call, state.engine().permissions()?, &["data"])))
}

/// `GET /v1/config/tiers`
pub(super) fn tiers(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(shown(call, state.engine().tiers()?, &["data", "actors", "unknown"])))
}

/// Returns an answer without the rows of its lists that the caller may not see.
fn shown(call: &Call, mut answer: Object, lists: &[&str]) -> Object {
    for list in lists {
        if let Some(Value::Array(rows)) = answer.get_mut(*list) {
            rows.retain(|row| row.as_object().is_none_or(|row| shows(call, row)));
        }
    }
    answer
}

/// Returns whether the caller may see a row. What has no namespace was written for the root.
fn shows(call: &Call, row: &Object) -> bool {
    let path = row.get("namespace").and_then(Value::as_str);
    // What is no namespace was refused, and lies nowhere but below the root.
    let namespace =
        path.and_then(|path| Namespace::parse(path).ok()).unwrap_or_else(Namespace::root);
    call.caller.bounds(Way::Read).shows(&ThreadId::config(), &namespace)
}
