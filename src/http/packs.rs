//! Packs of policy hooks: deploying them, and what this host does with them (contract-polpo §2, §15).

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, members, text};
use super::problem::Problem;
use super::wire;
use crate::canon::{Object, Value};
use crate::object;
use crate::policy::polpo::{
    self, DeployError, Deployed, Deployment, Finding, Pack, PackName, read_pack_value,
};
use crate::record::{Reason, ShapeError};

/// `GET /v1/hooks/capabilities`
#[expect(clippy::unnecessary_wraps, reason = "every route answers like this")]
pub(super) fn capabilities(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(state.runtime().capabilities()))
}

/// `GET /v1/policy/packs`
pub(super) fn list(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    let deployed = polpo::deployed(state.engine())?;
    Ok(Answer::ok(wire::list(deployed.iter().map(Deployed::to_object).collect())))
}

/// `POST /v1/policy/packs`
pub(super) fn deploy(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let request = call.json()?;
    let packs = match members(&request, &["packs"])?.get("packs") {
        None => return Err(ShapeError::missing("packs").into()),
        Some(Value::Array(packs)) => packs,
        Some(other) => {
            return Err(ShapeError::wrong_type("packs", "a list", other.type_name()).into());
        }
    };
    let mut read: Vec<Pack> = Vec::new();
    for entry in packs {
        let pack = pack(entry, &state.runtime().provider_native)?;
        if read.iter().any(|other| other.name == pack.name) {
            let message = "`packs` has a name twice";
            return Err(ShapeError::new("packs", Reason::BadValue, message).into());
        }
        read.push(pack);
    }
    let deployed = polpo::deploy(state.engine(), &call.caller, &read)?;
    let fresh = deployed.iter().any(|it| it.fresh);
    let object = object! {
        "object": "policy_packs_deployed",
        "packs": deployed.iter().map(Deployment::to_object).collect::<Vec<Object>>(),
    };
    Ok(if fresh { Answer::created(object) } else { Answer::ok(object) })
}

/// Reads a pack as strictly as its file is read.
fn pack(entry: &Value, provider_native: &[String]) -> Result<Pack, Problem> {
    let entry = members(entry, &["name", "pack"])?;
    let name = text(entry, "name")?.ok_or_else(|| ShapeError::missing("name"))?;
    let name = PackName::parse(name)
        .map_err(|fault| ShapeError::new("name", Reason::BadValue, format!("`name` {fault}")))?;
    let pack = entry.get("pack").ok_or_else(|| ShapeError::missing("pack"))?;
    let reading = read_pack_value(&name, pack, provider_native);
    match (reading.pack, reading.findings.into_iter().find(Finding::is_error)) {
        (Some(pack), None) => Ok(pack),
        (_, Some(finding)) => Err(DeployError { name: name.to_string(), finding }.into()),
        (None, None) => Err(Problem::internal("a pack is refused and nothing is wrong with it")),
    }
}
