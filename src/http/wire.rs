//! The shapes that cross the wire (contract §2.2, §2.3).

use super::problem::{Problem, Said};
use crate::canon::{Object, Value};
use crate::code::{Class, Coded};
use crate::engine::{AskedFor, Decided, DecisionVerb, Lesson, Spoken, Swept};
use crate::fold::ThreadStatus;
use crate::object;
use crate::predicate::{Explanation, Finding, Shown, Warning};
use crate::record::ThreadId;
use crate::store::{Account, ThreadClocks, ThreadSummary, Token};

/// Returns the envelope of an error, as every answer shows it.
pub fn error(error: &dyn Coded) -> Object {
    envelope(&Problem::of(error).said())
}

/// Adds the members that there is something to say for.
fn add_known<const N: usize>(object: &mut Object, members: [(&str, Option<Value>); N]) {
    let known = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    object.extend(known);
}

pub(super) fn envelope(said: &Said) -> Object {
    let code = said.code.as_str();
    let mut object = object! {
        "object": "error",
        "type": type_of(said.code.class()),
        "code": code,
        // Some clients read `error` first, others `code`.
        "error": code,
        "message": said.message.as_str(),
    };
    let details = [
        ("field", said.field.as_deref().map(Value::from)),
        ("reason", said.reason.map(Value::from)),
        ("column", said.column.map(Value::from)),
        ("hint", said.hint.as_deref().map(Value::from)),
    ];
    add_known(&mut object, details);
    object
}

/// Returns the text of an envelope, what matters most first: some clients show people its first 200
/// characters and nothing else.
pub(super) fn envelope_text(said: &Said) -> String {
    const ORDER: [&str; 9] =
        ["code", "message", "field", "reason", "column", "hint", "error", "object", "type"];
    let envelope = envelope(said);
    let member = |key: &&str| Some(format!("{}:{}", Value::from(*key), envelope.get(*key)?));
    let members: Vec<String> = ORDER.iter().filter_map(member).collect();
    format!("{{{}}}", members.join(","))
}

/// Returns the word for what a caller can do about an error.
const fn type_of(class: Class) -> &'static str {
    match class {
        Class::Invalid
        | Class::Unprocessable
        | Class::TooLarge
        | Class::MediaType
        | Class::Timeout => "invalid_request_error",
        Class::Unauthenticated => "authentication_error",
        Class::Refused => "permission_error",
        Class::Missing => "not_found_error",
        Class::Conflict => "conflict_error",
        Class::TooMany => "rate_limit_error",
        Class::Internal => "internal_error",
        Class::Unavailable => "unavailable_error",
    }
}

/// Returns the envelope of a list.
pub fn list(data: Vec<Object>) -> Object {
    object! { "object": "list", "data": data }
}

/// Returns a thread in a list of them.
pub fn thread(summary: &ThreadSummary) -> Object {
    object! {
        "object": "thread",
        "id": &summary.id,
        "last_clock": summary.last_clock,
        "namespace": summary.namespace.as_str(),
        "record_count": summary.record_count,
    }
}

/// Returns the state of a thread. One that nobody has written to has zeros, so that a writer can
/// ask for the next clock before the first record.
pub fn thread_state(thread: &ThreadId, clocks: &ThreadClocks, status: ThreadStatus) -> Object {
    let actor_clocks: Object =
        clocks.actor_clocks.iter().map(|(actor, clock)| (actor.clone(), (*clock).into())).collect();
    let participants: Vec<&str> = clocks.actor_clocks.keys().map(String::as_str).collect();
    object! {
        "object": "thread_state",
        "thread": thread,
        "status": status.as_str(),
        "last_clock": clocks.last_clock,
        "actor_clocks": actor_clocks,
        "record_count": clocks.record_count,
        "participants": participants,
        "head": clocks.head,
    }
}

/// Returns a token, without its secret.
pub fn token(token: &Token) -> Object {
    object! {
        "object": "token",
        "id": token.id.as_str(),
        "name": token.name.as_str(),
        "service_account_id": token.account.as_str(),
        "env_tag": token.env.as_str(),
        "scopes": words(&token.scopes),
        "created_at": token.created_at.to_string(),
        "expires_at": token.expires_at.map(|at| at.to_string()),
        "revoked_at": token.revoked_at.map(|at| at.to_string()),
    }
}

/// Returns a service account, without any key.
pub fn account(account: &Account) -> Object {
    object! {
        "object": "service_account",
        "id": account.id.as_str(),
        "name": account.name.as_str(),
        "did": &account.id.did(),
        "namespace": account.namespace.as_str(),
        "scopes": words(&account.scopes),
        "actors": words(&account.actors),
        "active": account.revoked_at.is_none(),
        "api_key": Value::Null,
        "created_at": account.created_at.to_string(),
        "revoked_at": account.revoked_at.map(|at| at.to_string()),
        "reason": account.reason.as_deref(),
    }
}

fn words(csv: &str) -> Vec<&str> {
    csv.split(',').filter(|word| !word.is_empty()).collect()
}

/// Returns a question of a run, with its answer if there is one.
pub fn decision_request(asked: &AskedFor) -> Object {
    let request = &asked.request;
    object! {
        "object": "decision_request",
        "id": asked.id,
        "thread": &asked.thread,
        "requester": asked.requester.as_str(),
        "decider_role": "operator",
        "question": request.question.as_str(),
        "options": request.options.clone(),
        "context": request.context.as_str(),
        "lesson": request.lesson.as_ref().map(Lesson::to_object),
        "asked_at": asked.asked_at.to_string(),
        "state": asked.state().as_str(),
        "decision": asked.decided.as_ref().map(decision),
    }
}

/// Returns the answer to a question (contract §2.9). No answer opens a thread here.
pub fn decision(decided: &Decided) -> Object {
    let closes = match decided.verb {
        DecisionVerb::Approved | DecisionVerb::Provided => "fulfills",
        DecisionVerb::Rejected => "cancels",
    };
    let mut object = object! {
        "object": "decision",
        "id": decided.record,
        "request_id": decided.request,
        "thread": &decided.thread,
        "decision": decided.verb.as_str(),
        "by": decided.by.as_str(),
        "value": decided.value.as_deref(),
        "reason": decided.reason.as_deref(),
        "policy": decided.policy,
        "expires_at": decided.expires_at.map(|at| at.to_string()),
        "opened_thread": Value::Null,
    };
    object.insert(closes.into(), decided.request.into());
    object
}

/// Returns a lesson whose time was over.
pub fn swept(swept: &Swept) -> Object {
    object! {
        "object": "swept_policy",
        "record_id": swept.record,
        "policy": swept.policy,
        "decision": swept.decision,
        "namespace": swept.namespace.as_str(),
        "name": swept.name.as_str(),
        "expires_at": swept.expires_at.to_string(),
    }
}

/// Returns the words of a hook about a call of somebody else's run.
pub fn spoken(spoken: &Spoken) -> Object {
    object! {
        "rule": spoken.rule.as_str(),
        "text": spoken.text.as_str(),
        "hook": spoken.hook,
        "fire": spoken.fire,
        "max": spoken.max,
    }
}

/// Returns a warning about an expression.
pub fn warning(warning: &Warning) -> Object {
    let mut object = object! {
        "word": warning.oddity.as_str(),
        "message": warning.message.as_str(),
    };
    let details = [
        ("column", warning.column.map(Value::from)),
        ("hint", warning.hint.as_deref().map(Value::from)),
    ];
    add_known(&mut object, details);
    object
}

/// Returns the explanation of an expression, or of a part of one.
pub fn explanation(part: &Explanation) -> Object {
    let parts: Vec<Object> = part.parts.iter().map(explanation).collect();
    let mut object = object! { "source": part.source.as_str(), "parts": parts };
    let finding = match &part.finding {
        Finding::Value(value) => {
            object.extend(shown(value));
            "value"
        }
        Finding::Failed(message) => {
            object.insert("message".into(), message.as_str().into());
            "failed"
        }
        Finding::Skipped => "skipped",
    };
    object.insert("finding".into(), finding.into());
    let round = part.round.as_ref().map(|round| {
        let mut object = shown(&round.value);
        object.insert("number".into(), round.number.into());
        object.insert("variable".into(), round.variable.as_str().into());
        object
    });
    let details = [
        ("column", part.column.map(Value::from)),
        ("round", round.map(Value::from)),
        ("rounds", part.rounds.map(Value::from)),
        ("hidden", (part.hidden > 0).then(|| part.hidden.into())),
    ];
    add_known(&mut object, details);
    object
}

fn shown(shown: &Shown) -> Object {
    let mut object = object! { "type": shown.ty.as_str(), "value": shown.value.clone() };
    add_known(&mut object, [("size", shown.size.map(Value::from))]);
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::{Limits, parse};
    use crate::record::{Reason, ShapeError};

    #[test]
    fn the_text_of_an_envelope_says_all_of_it_and_the_message_first() {
        let mut shape = ShapeError::new("body.when", Reason::BadCel, "x".repeat(100));
        shape.column = Some(7);
        let problem = Problem::of(&shape.with_hint("y".repeat(300)));
        let text = envelope_text(&problem.said());
        let read = parse(text.as_bytes(), Limits::DOOR).expect("JSON");
        assert_eq!(read, Value::from(envelope(&problem.said())));
        assert!(text.find("xxx").is_some_and(|at| at < 100), "{text}");
    }
}
