//! Observing for a loop written in any language.

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, members, text};
use super::problem::Problem;
use super::wire;
use crate::canon::{Object, Value};
use crate::engine::ObservedCall;
use crate::record::{ActorId, Namespace, Reason, ShapeError};

/// `POST /v1/runs/{id}/observe`
pub(super) fn observe(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 9] =
        ["call_id", "tool", "args", "status", "content", "actor", "namespace", "domain", "life"];
    let thread = call.thread()?;
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let needed = |field: &str| {
        let text = text(request, field)?.ok_or_else(|| ShapeError::missing(field))?;
        Ok::<_, Problem>(text.to_owned())
    };
    let actor = text(request, "actor")?.map(ActorId::parse).transpose();
    let actor = actor.map_err(|error| Problem::not_a_name("actor", &error))?;
    let namespace = text(request, "namespace")?.map(Namespace::parse).transpose();
    let observed = ObservedCall {
        call_id: needed("call_id")?,
        tool: needed("tool")?,
        args: args(request)?,
        status: needed("status")?,
        content: text(request, "content")?.unwrap_or_default().to_owned(),
        actor: actor.or_else(|| call.acts_for(&ObservedCall::nameless())),
        namespace: namespace.map_err(|error| Problem::not_a_name("namespace", &error))?,
        domain: text(request, "domain")?.map(str::to_owned),
        life: life(request)?,
    };
    let spoken = state.engine().observe(&call.caller, &thread, &observed)?;
    let mut list = wire::list(spoken.iter().map(wire::spoken).collect());
    list.insert("thread".into(), (&thread).into());
    Ok(Answer::ok(list))
}

fn args(request: &Object) -> Result<Object, ShapeError> {
    match request.get("args") {
        None | Some(Value::Null) => Ok(Object::new()),
        Some(Value::Object(args)) => Ok(args.clone()),
        Some(other) => Err(ShapeError::wrong_type("args", "an object", other.type_name())),
    }
}

fn life(request: &Object) -> Result<u32, ShapeError> {
    let Some(value) = request.get("life") else { return Ok(1) };
    let Value::Number(number) = value else {
        return Err(ShapeError::wrong_type("life", "an integer", value.type_name()));
    };
    let life = number.as_u64().and_then(|life| u32::try_from(life).ok()).filter(|life| *life > 0);
    life.ok_or_else(|| {
        let message = "`life` must be an integer from 1 to 4294967295";
        ShapeError::new("life", Reason::BadValue, message)
    })
}
