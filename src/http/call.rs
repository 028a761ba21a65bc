//! One request, after everything in front of its route has let it pass.

use axum::body::Bytes;
use axum::http::HeaderMap;
use percent_encoding::percent_decode_str;

use super::problem::Problem;
use crate::canon::{Limits, Object, Value, parse};
use crate::code::Code;
use crate::engine::{Caller, IngestError};
use crate::record::{ActorId, Namespace, Reason, ShapeError, ThreadId};

/// The most records, threads or tokens of one answer.
pub(super) const MAX_LIMIT: usize = 1000;

/// How many there are if the request does not say.
const DEFAULT_LIMIT: usize = 100;

/// A request that reached its route.
pub(super) struct Call {
    /// Who makes it.
    pub(super) caller: Caller,
    /// The segment of the path that the route leaves open, decoded once; empty if there is none.
    pub(super) segment: String,
    /// The one after it, of a route that leaves two open.
    pub(super) second: String,
    /// What stands behind the `?`.
    pub(super) query: Parameters,
    /// The headers.
    pub(super) headers: HeaderMap,
    /// The body, whole.
    pub(super) body: Bytes,
}

impl Call {
    /// Returns the thread that the path names.
    pub(super) fn thread(&self) -> Result<ThreadId, Problem> {
        ThreadId::parse(&self.segment).map_err(|error| Problem::not_a_name("thread", &error))
    }

    /// Refuses a caller who may not speak as this actor, as the records door does.
    pub(super) fn speaks_as(&self, actor: &ActorId) -> Result<(), IngestError> {
        if self.caller.may_speak_as(actor) { Ok(()) } else { Err(IngestError::ActorClaim) }
    }

    /// Returns in whose name a request speaks that names nobody, unless that is `nameless`: whom the
    /// caller says it acts for, and itself if it may not speak as `nameless`.
    pub(super) fn acts_for(&self, nameless: &ActorId) -> Option<ActorId> {
        let caller = &self.caller;
        let own = || caller.acting().filter(|_| !caller.may_speak_as(nameless));
        caller.claimed().or_else(own).cloned()
    }

    /// Refuses a caller who may not write on this thread, in this namespace.
    pub(super) fn writes_on(
        &self,
        thread: &ThreadId,
        namespace: &Namespace,
    ) -> Result<(), IngestError> {
        if self.caller.writes(thread, namespace) { Ok(()) } else { Err(IngestError::OutOfBounds) }
    }

    /// Returns the body of a request that is no record, which must be an object.
    pub(super) fn json(&self) -> Result<Value, Problem> {
        let value = parse(&self.body, Limits::DOOR)
            .map_err(|error| Problem::new(Code::InvalidRequest, error.to_string()))?;
        match value {
            Value::Object(_) => Ok(value),
            other => Err(ShapeError::wrong_type("body", "an object", other.type_name()).into()),
        }
    }
}

/// Returns the members of a request, none of which may be unknown.
pub(super) fn members<'a>(request: &'a Value, known: &[&str]) -> Result<&'a Object, Problem> {
    let Some(members) = request.as_object() else {
        return Err(ShapeError::wrong_type("body", "an object", request.type_name()).into());
    };
    match members.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(members),
        Some(unknown) => {
            let shown: String = unknown.chars().take(64).collect();
            let message =
                format!("`{shown}` is not taken here; this request has {}", known.join(", "));
            Err(ShapeError::new(shown, Reason::UnknownField, message).into())
        }
    }
}

/// Returns a text of a request.
pub(super) fn text<'a>(members: &'a Object, field: &str) -> Result<Option<&'a str>, Problem> {
    match members.get(field) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(ShapeError::wrong_type(field, "a string", other.type_name()).into()),
    }
}

/// Returns a truth value of a request; what is absent is not true.
pub(super) fn flag(members: &Object, field: &str) -> Result<bool, Problem> {
    match members.get(field) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => {
            Err(ShapeError::wrong_type(field, "true or false", other.type_name()).into())
        }
    }
}

/// What stands behind the `?` of a request.
#[derive(Debug, Default)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads a query string whose parameters must be among `known`.
    pub(super) fn parse(query: &str, known: &[&str]) -> Result<Self, Problem> {
        let mut parameters: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name)?, decode(value)?);
            if !known.contains(&name.as_str()) {
                return Err(unknown(&name, known));
            }
            if parameters.iter().any(|(earlier, _)| *earlier == name) {
                return Err(Problem::invalid(&name, format!("`{name}` stands twice in the query")));
            }
            parameters.push((name, value));
        }
        Ok(Self(parameters))
    }

    /// Returns a parameter, unless it is missing or empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(given, _)| given == name)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns a parameter that is an integer from 0 on.
    pub(super) fn number(&self, name: &str) -> Result<Option<i64>, Problem> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let number = text.parse::<i64>().ok().filter(|number| *number >= 0);
        number
            .map(Some)
            .ok_or_else(|| Problem::invalid(name, format!("`{name}` must be an integer from 0 on")))
    }

    /// Returns how much of a list is wanted.
    pub(super) fn limit(&self) -> Result<Limit, Problem> {
        let asked = match self.number("limit")? {
            None => DEFAULT_LIMIT,
            Some(limit) => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        Ok(Limit { rows: asked.min(MAX_LIMIT), capped: asked > MAX_LIMIT })
    }
}

/// How much of a list is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// At most that many.
    pub(super) rows: usize,
    /// Whether more were asked for than any answer holds.
    pub(super) capped: bool,
}

impl Limit {
    /// Says so, if more were asked for than any answer holds.
    pub(super) fn mark(self, list: &mut Object) {
        if self.capped {
            list.insert("capped".into(), true.into());
        }
    }
}

fn decode(text: &str) -> Result<String, Problem> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8();
    decoded
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| Problem::new(Code::InvalidRequest, "the query string is not UTF-8"))
}

fn unknown(name: &str, known: &[&str]) -> Problem {
    let shown: String = name.chars().take(64).collect();
    let message = if known.is_empty() {
        format!("`{shown}` is not a parameter; this path has none")
    } else {
        format!("`{shown}` is not a parameter; this path has {}", known.join(", "))
    };
    Problem::invalid(&shown, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_once() {
        let known = ["thread", "actor"];
        let query = Parameters::parse("thread=a%2Fb%2520c+d&actor=did%3Ax", &known).expect("read");
        assert_eq!(query.get("thread"), Some("a/b%20c d"));
        assert_eq!(query.get("actor"), Some("did:x"));
    }

    #[test]
    fn a_query_that_does_not_read_is_refused() {
        for bad in ["tread=x", "thread=a&thread=b", "thread=%ff", "%ff=a"] {
            assert!(Parameters::parse(bad, &["thread"]).is_err(), "{bad}");
        }
        for bad in ["limit=-1", "limit=x", "limit=1.0", "limit=99999999999999999999"] {
            let query = Parameters::parse(bad, &["limit"]).expect("read");
            assert!(query.limit().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_limit_is_capped_and_says_so() {
        let limit = |query: &str| {
            let query = Parameters::parse(query, &["limit"]).expect("read");
            let limit = query.limit().expect("a limit");
            (limit.rows, limit.capped)
        };
        assert_eq!(limit(""), (100, false));
        assert_eq!(limit("limit="), (100, false));
        assert_eq!(limit("limit=0"), (0, false));
        assert_eq!(limit("limit=1000"), (1000, false));
        assert_eq!(limit("limit=1001"), (1000, true));
    }
}
