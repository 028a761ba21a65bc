//! The route of proofs.

use super::ApiState;
use super::answer::Answer;
use super::call::Call;
use super::endpoint::{Does, Endpoint, Method, Outcome, READ};
use super::problem::Problem;
use super::records::unknown;
use crate::record::RecordId;

/// Each of them.
pub(super) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    method: Method::Get,
    path: "/v1/records/{id}/proof",
    name: "prove_record",
    summary: "Returns what proves to anybody that this record was accepted, when and where it \
              stands. `spl verify --proof` checks it.",
    needs: READ,
    query: &[],
    takes: None,
    answers: &[Outcome::Json(200, "Proof")],
    does: Does::Answers(prove),
}];

/// `GET /v1/records/{id}/proof`
fn prove(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let id = RecordId::parse(&call.segment).ok_or_else(unknown)?;
    let (stored, proof) =
        state.engine().store().read(|reader| Ok((reader.record(id)?, reader.proof(id)?)))?;
    match (stored, proof) {
        (Some(_), Some(proof)) => Ok(Answer::ok(proof.to_object())),
        (Some(_), None) => Err(Problem::missing(
            "the words of this record were taken out, so there is nothing left to prove",
        )),
        (None, _) => Err(unknown()),
    }
}
