//! How the instance is (contract §2.7).

use super::ApiState;
use super::answer::Answer;
use super::call::Call;
use super::problem::Problem;
use crate::canon::{Object, Value};
use crate::code::Code;
use crate::engine::Engine;
use crate::object;
use crate::permission::PERMISSIONS_ENABLED_TOPIC;
use crate::run::{Admission, Host};
use crate::store::StoreError;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `GET /health`
#[expect(clippy::unnecessary_wraps, reason = "every route answers like this")]
pub(super) fn alive(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(summary(state, "health")))
}

fn summary(state: &ApiState, object: &str) -> Object {
    object! {
        "object": object,
        "status": "ok",
        "version": VERSION,
        "instance_did": state.engine().store().keyring().instance().did(),
    }
}

/// `GET /health/ready`
pub(super) fn ready(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    if *state.leaving().borrow() {
        return Err(Problem::new(Code::ShuttingDown, "the server is going away"));
    }
    if state.engine().store().is_poisoned() {
        return Err(StoreError::Poisoned.into());
    }
    state.engine().store().read(|reader| reader.last())?;
    Ok(Answer::ok(object! { "object": "readiness", "status": "ready" }))
}

/// `GET /v1/health`
pub(super) fn full(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    let mut health = summary(state, "health");
    health.insert("engine".into(), engine_health(state)?.into());
    health.insert("authorization".into(), authorization(state.engine())?.into());
    Ok(Answer::ok(health))
}

/// Returns which of the deciders of the protocol stand in front of a request here.
fn authorization(engine: &Engine) -> Result<Object, Problem> {
    const NOT_BUILT: &str = "this instance does not have it; nothing is decided by it";
    const SWITCHED_OFF: &str = "no record puts the permission rules in force";
    let live = |decider: &str| {
        object! { "decider": decider, "state": "live", "fidelity": "exact" }
    };
    let disabled = |decider: &str, because: &str| {
        object! { "decider": decider, "state": "disabled", "because": because }
    };
    let mut rules = if engine.permissions_in_force()? {
        live("permission_rules")
    } else {
        disabled("permission_rules", SWITCHED_OFF)
    };
    rules.insert("switch".into(), PERMISSIONS_ENABLED_TOPIC.into());
    let deciders = vec![
        live("scope"),
        live("actor_claim"),
        disabled("capability_grant", NOT_BUILT),
        rules,
        disabled("impersonation", NOT_BUILT),
        disabled("principal_proof", NOT_BUILT),
    ];
    let is_live = |it: &&Object| it.get("state").and_then(Value::as_str) == Some("live");
    Ok(object! {
        "live": deciders.iter().filter(is_live).count(),
        "of": deciders.len(),
        "deciders": deciders,
    })
}

/// `GET /v1/engine/health`
pub(super) fn engine(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let details = match call.query.get("details") {
        None | Some("false" | "0") => false,
        Some("true" | "1") => true,
        Some(_) => return Err(Problem::invalid("details", "`details` is `true` or `false`")),
    };
    let mut health = engine_health(state)?;
    if details {
        health.insert("expression_cache".into(), cache(state.engine()).into());
    }
    Ok(Answer::ok(health))
}

/// Returns what the engine says about itself, and what room there is for runs.
fn engine_health(state: &ApiState) -> Result<Object, Problem> {
    let mut health = state.engine().health()?;
    let admission = state.host().map(Host::admission);
    let none = Admission { capacity: 0, live: 0 };
    let admission = admission.unwrap_or(none);
    health.insert("admission_available".into(), admission.available().into());
    health.insert("admission_capacity".into(), admission.capacity.into());
    health.insert("runs_live".into(), admission.live.into());
    Ok(health)
}

/// `GET /v1/engine/expression_cache/stats`
#[expect(clippy::unnecessary_wraps, reason = "every route answers like this")]
pub(super) fn expression_cache(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(cache(state.engine())))
}

fn cache(engine: &Engine) -> Object {
    let stats = engine.expressions().stats();
    let micros = stats.compile_nanos / 1000;
    object! {
        "object": "expression_cache",
        "hits": stats.hits,
        "misses": stats.misses,
        "compile_errors": stats.compile_errors,
        "hit_rate_pct": ratio(stats.hits, stats.hits + stats.misses, 100.0),
        "avg_compile_micros": ratio(micros, stats.misses, 1.0),
        "size": stats.size,
        "capacity": stats.capacity,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn ratio(part: u64, whole: u64, scale: f64) -> Value {
    if whole == 0 {
        return Value::from(0);
    }
    Value::from_float((part as f64 * scale / whole as f64 * 10.0).round() / 10.0)
}
