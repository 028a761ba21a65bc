//! Blueprints: what they would do, and installing them (contract §7.6).

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, members, text};
use super::problem::Problem;
use super::wire;
use crate::blueprint::{self, BlueprintSet, Installation, Installed, Plan, Planned, Sort, Vouched};
use crate::canon::{Object, Value, hex};
use crate::object;
use crate::record::{ActorId, RecordId, ShapeError};

/// What a request says of what is to be installed.
const OF_PLAN: [&str; 3] = ["actor", "blueprint", "extends"];
const OF_INSTALL: [&str; 4] = ["accept_plan", "actor", "blueprint", "extends"];

/// `GET /v1/blueprints`
pub(super) fn list(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    let installed = blueprint::installations(state.engine())?;
    Ok(Answer::ok(wire::list(installed.iter().map(Installation::to_object).collect())))
}

/// `POST /v1/blueprints/plan`
pub(super) fn plan(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let request = call.json()?;
    let (by, set) = read(members(&request, &OF_PLAN)?, call)?;
    let plan = blueprint::plan(state.engine(), &call.caller, &by, &set)?;
    Ok(Answer::ok(plan_object(&plan, &set)))
}

/// `POST /v1/blueprints/materialize`
pub(super) fn materialize(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let request = call.json()?;
    let request = members(&request, &OF_INSTALL)?;
    let accepted =
        text(request, "accept_plan")?.ok_or_else(|| ShapeError::missing("accept_plan"))?;
    let (by, set) = read(request, call)?;
    let installed = blueprint::install(state.engine(), &call.caller, &by, &set, accepted)?;
    let object = installed_object(&installed);
    Ok(if installed.fresh { Answer::created(object) } else { Answer::ok(object) })
}

/// Reads in whose name what is to be installed.
fn read(request: &Object, call: &Call) -> Result<(ActorId, BlueprintSet), Problem> {
    let by = match text(request, "actor")? {
        Some(actor) => {
            ActorId::parse(actor).map_err(|error| Problem::not_a_name("actor", &error))?
        }
        None => match call.caller.acting() {
            Some(actor) => actor.clone(),
            None if call.caller.is_operator() => ActorId::engine(),
            None => {
                let hint = "Say in whose name it is to be installed.";
                return Err(ShapeError::missing("actor").with_hint(hint).into());
            }
        },
    };
    let blueprint = request.get("blueprint").ok_or_else(|| ShapeError::missing("blueprint"))?;
    let extended = match request.get("extends") {
        None => Vec::new(),
        Some(Value::Array(extended)) => extended.clone(),
        Some(other) => {
            return Err(ShapeError::wrong_type("extends", "a list", other.type_name()).into());
        }
    };
    Ok((by, BlueprintSet::read(blueprint.clone(), extended)?))
}

fn plan_object(plan: &Plan, set: &BlueprintSet) -> Object {
    let of = |sort: Sort| -> Vec<Object> {
        let of_sort = plan.seeds.iter().filter(|it| it.placed.seed.sort() == sort);
        of_sort.map(planned_object).collect()
    };
    let blueprint = set.blueprint();
    let because = match &plan.vouched {
        Vouched::By(_) => None,
        Vouched::Nobody(because) => Some(because.as_str()),
    };
    let extended: Vec<String> = set.extended().iter().map(|hash| hex(hash)).collect();
    object! {
        "object": "blueprint_plan",
        "name": blueprint.name.as_str(),
        "version": blueprint.version.as_str(),
        "author": &blueprint.author,
        "description": blueprint.description.as_deref(),
        "hash": hex(&blueprint.hash()),
        "extends": extended,
        "plan": hex(&plan.hash),
        "vouched_by": plan.vouched.as_str(),
        "because": because,
        "signed_by": blueprint.signature.as_ref().map(|signature| signature.key_id.as_str()),
        "hooks": of(Sort::Hook),
        "rules": of(Sort::Rule),
        "content": of(Sort::Content),
        "to_write": plan.to_write(),
        "may_install": plan.may_install(),
        "refused": plan.refused.as_ref().map(|refused| wire::error(refused)),
        "installed": plan.installed,
    }
}

fn planned_object(planned: &Planned) -> Object {
    let mut object = planned.placed.seed.to_object();
    object.insert("at".into(), planned.placed.place.to_string().into());
    object.insert("state".into(), planned.state.map(|state| state.as_str()).into());
    let record = planned.state.and_then(|state| state.record());
    object.insert("record".into(), record.into());
    object
}

fn installed_object(installed: &Installed) -> Object {
    let ids = |ids: &[RecordId]| ids.to_vec();
    object! {
        "object": "blueprint_installed",
        "id": installed.record,
        "plan": hex(&installed.plan),
        "written": ids(&installed.written),
        "there": ids(&installed.there),
    }
}
