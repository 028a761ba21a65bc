//! Runs: starting them, how they stand, and what is said to them (contract §2.8).

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, members, text};
use super::decisions;
use super::permit;
use super::problem::Problem;
use super::wire;
use crate::canon::{Object, Value};
use crate::code::Code;
use crate::config::{TierName, usd_of, usd_value};
use crate::engine::{Engine, IngestError, Scope};
use crate::object;
use crate::record::{ActorId, Namespace, Reason, Sequence, ShapeError, ThreadId};
use crate::run::{self, Ask, Host, HostError, Limits, RowState, RunRow, Started, row_of};
use crate::store::RunRange;
use crate::time::Timestamp;
use crate::trust::GENERAL;

/// The most characters of a goal and of a message.
const MAX_CHARS: usize = 64 * 1024;

/// Who runs if nobody says.
const NAMELESS: &str = "did:sync:agent:spl";

/// `POST /v1/work/loop`
pub(super) fn start(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let ask = work_loop(call)?;
    let started = host(state)?.start(&call.caller, &ask)?;
    Ok(Answer::created(started_object(&started)))
}

/// `POST /v1/work/loop/preview`
pub(super) fn preview(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let ask = work_loop(call)?;
    let preview = host(state)?.preview(&call.caller, &ask)?;
    Ok(Answer::ok(preview.to_object()))
}

/// `POST /v1/actors/{id}/runs`
pub(super) fn start_of_actor(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 8] = [
        "goal",
        "budget_usd",
        "max_turns",
        "token_budget",
        "wall_clock_secs",
        "model_override",
        "namespace",
        "domain",
    ];
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let model = text(request, "model_override")?;
    let ask = ask_of(call, request, actor(&call.segment)?, model)?;
    let host = host(state)?;
    let started = host.start(&call.caller, &ask)?;
    // Whoever has begun it is told of it, whether or not they may read there.
    Ok(Answer::created(known(host.engine(), &started.thread)?.to_object()))
}

/// `GET /v1/work/loop/{id}`
pub(super) fn status(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let row = known(state.engine(), &call.thread()?)?;
    let mut object = row.to_object();
    object.insert("object".into(), "work_loop".into());
    object.insert("status".into(), row.state.as_str().into());
    Ok(Answer::ok(object))
}

/// `POST /v1/work/loop/{id}/cancel`
pub(super) fn cancel(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let request = if call.body.is_empty() { Object::new().into() } else { call.json()? };
    let request = members(&request, &["actor"])?;
    stop(state, call, request)
}

/// `GET /v1/runs/{id}`
pub(super) fn find(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(known(state.engine(), &call.thread()?)?.to_object()))
}

/// `GET /v1/runs`
pub(super) fn list(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let member = call.query.get("member").map(actor).transpose()?;
    listed(state, call, member)
}

/// `GET /v1/actors/{id}/runs`
pub(super) fn list_of_actor(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    listed(state, call, Some(actor(&call.segment)?))
}

fn listed(state: &ApiState, call: &Call, actor: Option<ActorId>) -> Result<Answer, Problem> {
    let wanted = call.query.get("state").map(|word| {
        RowState::parse(word).ok_or_else(|| {
            let words = "running, waiting_on_you, done, stopped or stopped_short";
            Problem::invalid("state", format!("`state` is {words}"))
        })
    });
    let time = |name: &str| {
        let text = call.query.get(name);
        text.map(|text| {
            Timestamp::parse(text).ok_or_else(|| {
                let message = format!("`{name}` must be a time such as `2027-01-31T12:00:00Z`");
                Problem::invalid(name, message)
            })
        })
        .transpose()
    };
    let range = RunRange {
        before: call.query.number("cursor")?.map(Sequence::new),
        actor,
        since: time("since")?,
        until: time("until")?,
    };
    let limit = call.query.limit()?;
    let (rows, next) = run::rows(state.engine(), &range, wanted.transpose()?, limit.rows)?;
    let thread = |row: &RunRow| Some(row.spec.thread.clone());
    let rows = permit::keep(state, call, "thread_read", rows, thread)?;
    let mut list = wire::list(rows.iter().map(RunRow::to_object).collect());
    if let Some(next) = next {
        list.insert("next_cursor".into(), next.to_string().into());
    }
    limit.mark(&mut list);
    Ok(Answer::ok(list))
}

/// `POST /v1/runs/{id}/events`
pub(super) fn say(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let request = call.json()?;
    let kind = match request.as_object() {
        Some(request) => text(request, "type")?.ok_or_else(|| ShapeError::missing("type"))?,
        None => "",
    };
    match kind {
        "message" => message(state, call, members(&request, &["type", "text", "actor"])?),
        "stop" => stop(state, call, members(&request, &["type", "actor"])?),
        "resume" => {
            members(&request, &["type"])?;
            let thread = call.thread()?;
            own(call, &known(state.engine(), &thread)?)?;
            host(state)?.resume(&thread)?;
            Ok(Answer::ok(known(state.engine(), &thread)?.to_object()))
        }
        "decision" => {
            permit::about(state, call, "aitl_decide", Some(&call.thread()?))?;
            let mut fields = vec!["type"];
            fields.extend(decisions::ANSWER);
            decide(state, call, members(&request, &fields)?)
        }
        _ => {
            let message = "`type` must be `message`, `decision`, `stop` or `resume`";
            Err(ShapeError::new("type", Reason::BadValue, message).into())
        }
    }
}

/// `GET /v1/runs/{id}/provenance`
pub(super) fn provenance(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let thread = call.thread()?;
    let row = known(state.engine(), &thread)?;
    let spec = &row.spec;
    let track = spec.track_record;
    Ok(Answer::ok(object! {
        "object": "run_provenance",
        "thread": &thread,
        "definition": Value::Null,
        "prompt": Value::Null,
        "frame": Value::Null,
        "model": spec.model.as_str(),
        "tier": spec.tier.as_str(),
        "goal": spec.goal.as_str(),
        "opened_at_sequence": row.opened.get(),
        "track_record": object! {
            "samples": track.samples,
            "score_percent": u64::from(track.percent),
        },
    }))
}

fn message(state: &ApiState, call: &Call, request: &Object) -> Result<Answer, Problem> {
    let words = long_text(request, "text")?;
    let (thread, row) = live(state, call)?;
    let from = speaker(call, request)?;
    let record = run::steer(state.engine(), &thread, &row.spec.namespace, &from, words)?;
    Ok(Answer::created(event_object("message", &thread, record.to_string())))
}

fn stop(state: &ApiState, call: &Call, request: &Object) -> Result<Answer, Problem> {
    let (thread, row) = live(state, call)?;
    let from = speaker(call, request)?;
    let record = run::stop(state.engine(), &thread, &row.spec.namespace, &from)?;
    Ok(Answer::created(event_object("stop", &thread, record.to_string())))
}

fn decide(state: &ApiState, call: &Call, request: &Object) -> Result<Answer, Problem> {
    let row = known(state.engine(), &call.thread()?)?;
    let Some(open) = &row.ask else {
        return Err(Problem::new(Code::RunNotLive, "the run waits for no decision"));
    };
    let (by, answer) = decisions::answer(request)?;
    let decided = state.engine().decide(&call.caller, &by, open.request, &answer)?;
    Ok(Answer::created(wire::decision(&decided)))
}

/// Returns a run that goes on: only then does anybody hear what is said to it.
fn live(state: &ApiState, call: &Call) -> Result<(ThreadId, RunRow), Problem> {
    let thread = call.thread()?;
    let row = known(state.engine(), &thread)?;
    own(call, &row)?;
    match row.state {
        RowState::Running => Ok((thread, row)),
        state => Err(HostError::NotLive { thread, state }.into()),
    }
}

/// Lets nobody speak to a run on whose thread they may not write, and nobody but the operator to the
/// operator's runs: what is said there is as good as a
/// goal, to an actor that may do what the operator may.
fn own(call: &Call, row: &RunRow) -> Result<(), IngestError> {
    call.writes_on(&row.spec.thread, &row.spec.namespace)?;
    if row.spec.tier == TierName::Operator.as_str() && !call.caller.is_operator() {
        return Err(IngestError::Scope { needed: Scope::Admin });
    }
    Ok(())
}

/// Returns the row of a run, or says that there is none.
pub(super) fn known(engine: &Engine, thread: &ThreadId) -> Result<RunRow, Problem> {
    let row = row_of(engine, thread)?;
    Ok(row.ok_or_else(|| HostError::Unknown { thread: thread.clone() })?)
}

fn host(state: &ApiState) -> Result<&Host, Problem> {
    state.host().ok_or_else(|| {
        Problem::new(Code::WorkNoProvider, "this instance drives no runs: it was given no model")
            .hint("Start one with `spl serve` and a model; see `spl serve --help`.")
    })
}

fn work_loop(call: &Call) -> Result<Ask, Problem> {
    const KNOWN: [&str; 10] = [
        "goal",
        "max_turns",
        "token_budget",
        "wall_clock_secs",
        "workspace",
        "budget_usd",
        "actor",
        "namespace",
        "domain",
        "model",
    ];
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let by = if let Some(name) = text(request, "actor")? {
        actor(name)?
    } else {
        let nameless = actor(NAMELESS)?;
        call.acts_for(&nameless).unwrap_or(nameless)
    };
    let workspace = text(request, "workspace")?.map(str::to_owned);
    Ok(Ask { workspace, ..ask_of(call, request, by, text(request, "model")?)? })
}

fn ask_of(
    call: &Call,
    request: &Object,
    actor: ActorId,
    model: Option<&str>,
) -> Result<Ask, Problem> {
    call.speaks_as(&actor)?;
    let namespace = text(request, "namespace")?.map(Namespace::parse).transpose();
    let turns = count(request, "max_turns")?;
    Ok(Ask {
        actor,
        goal: long_text(request, "goal")?.to_owned(),
        namespace: namespace
            .map_err(|error| Problem::not_a_name("namespace", &error))?
            .unwrap_or_else(Namespace::root),
        domain: text(request, "domain")?.unwrap_or(GENERAL).to_owned(),
        model: model.map(str::to_owned),
        limits: Limits {
            max_turns: turns.map(|turns| u32::try_from(turns).unwrap_or(u32::MAX)),
            token_budget: count(request, "token_budget")?,
            wall_clock_secs: count(request, "wall_clock_secs")?,
            usd_budget: money(request, "budget_usd")?,
        },
        workspace: None,
    })
}

/// Returns in whose name something is said to a run.
fn speaker(call: &Call, request: &Object) -> Result<ActorId, Problem> {
    let by = if let Some(name) = text(request, "actor")? {
        actor(name)?
    } else {
        let caller = &call.caller;
        let engine = caller.is_operator().then(ActorId::engine);
        let by = caller.claimed().cloned().or(engine).or_else(|| caller.acting().cloned());
        by.ok_or_else(|| ShapeError::missing("actor"))?
    };
    call.speaks_as(&by)?;
    Ok(by)
}

fn actor(name: &str) -> Result<ActorId, Problem> {
    ActorId::parse(name).map_err(|error| Problem::not_a_name("actor", &error))
}

fn long_text<'a>(request: &'a Object, field: &str) -> Result<&'a str, Problem> {
    let text = text(request, field)?.ok_or_else(|| ShapeError::missing(field))?;
    if text.trim().is_empty() || text.chars().count() > MAX_CHARS {
        let message = format!("`{field}` must say something, in at most {MAX_CHARS} characters");
        return Err(ShapeError::new(field, Reason::BadValue, message).into());
    }
    Ok(text)
}

fn count(request: &Object, field: &str) -> Result<Option<u64>, ShapeError> {
    let Some(value) = request.get(field) else { return Ok(None) };
    let count = value.as_u64().filter(|count| *count > 0);
    count.map(Some).ok_or_else(|| {
        let message = format!("`{field}` must be an integer from 1 on");
        ShapeError::new(field, Reason::BadValue, message)
    })
}

fn money(request: &Object, field: &str) -> Result<Option<u64>, ShapeError> {
    let bad = |why: &str| ShapeError::new(field, Reason::BadValue, format!("`{field}` {why}"));
    match request.get(field) {
        None => Ok(None),
        Some(Value::Number(number)) => match usd_of(number) {
            Ok(0) => Err(bad("must be more than nothing")),
            Ok(micros) => Ok(Some(micros)),
            Err(error) => Err(bad(&error.to_string())),
        },
        Some(other) => Err(ShapeError::wrong_type(field, "a number", other.type_name())),
    }
}

fn started_object(started: &Started) -> Object {
    let Started { thread, tier, limits, forbidden } = started;
    object! {
        "object": "work_loop",
        "status": "started",
        "thread": thread,
        "tier": tier.as_str(),
        "effective_config": object! {
            "budget_usd": limits.usd_budget.map_or(Value::Null, usd_value),
            "forbidden_tools": forbidden.clone(),
            "max_turns": limits.max_turns,
            "token_budget": limits.token_budget,
            "wall_clock_secs": limits.wall_clock_secs,
        },
        "watch": format!("/v1/runs/{thread}/events?replay=true"),
    }
}

fn event_object(kind: &str, thread: &ThreadId, record: String) -> Object {
    object! { "object": "run_event", "type": kind, "thread": thread, "record_id": record }
}
