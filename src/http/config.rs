//! Configuration in force (contract §2.7).

use super::ApiState;
use super::answer::Answer;
use super::call::Call;
use super::problem::Problem;
use super::wire;

/// `GET /v1/config/hooks`
pub(super) fn hooks(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(wire::list(state.engine().hook_rows()?)))
}

/// `GET /v1/config/permissions`
pub(super) fn permissions(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(state.engine().permissions()?))
}

/// `GET /v1/config/tiers`
pub(super) fn tiers(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(state.engine().tiers()?))
}
