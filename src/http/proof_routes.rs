//! The route of proofs.

use super::ApiState;
use super::answer::Answer;
use super::call::Call;
use super::endpoint::{Does, Endpoint, Method, Outcome, READ};
use super::problem::Problem;
use super::records;

/// Each of them.
pub(super) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    method: Method::Get,
    path: "/v1/records/{id}/proof",
    name: "prove_record",
    summary: "Returns what proves to anybody that this record was accepted, when and where it \
              stands. `spl verify --proof` checks it.",
    needs: READ,
    resource: Some("record_read"),
    query: &[],
    takes: None,
    answers: &[Outcome::Json(200, "Proof")],
    does: Does::Answers(prove),
}];

/// `GET /v1/records/{id}/proof`
fn prove(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let stored = records::known(state, call)?;
    let proof = state.engine().proof(stored.record.id())?.ok_or_else(|| {
        Problem::missing("the words of this record were taken out; nothing is left to prove")
    })?;
    Ok(Answer::ok(proof.to_object()))
}
