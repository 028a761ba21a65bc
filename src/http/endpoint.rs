//! The table of routes: what each is for, what it needs, what it takes and what it answers.

use std::future::Future;
use std::pin::Pin;

use axum::response::Response;

use super::answer::Answer;
use super::call::Call;
use super::problem::Problem;
use super::{
    ApiState, ServerLimits, account_routes, blueprint_routes, bootstrap, config, decisions,
    expression, health, metrics, namespace_routes, observe, openapi, pack_routes,
    portability_routes, proof_routes, records, run_routes, session_doors, session_routes, sessions,
    threads, trust, watch,
};
use crate::engine::{Caller, IngestError, Scope};

/// One route.
pub(super) struct Endpoint {
    pub(super) method: Method,
    pub(super) path: &'static str,
    /// The name of the operation.
    pub(super) name: &'static str,
    /// One sentence.
    pub(super) summary: &'static str,
    pub(super) needs: Needs,
    /// What the permission rules know the request by (contract §3.3); they are not asked about a
    /// route that has none. Those are the routes on which nobody is asked who they are, and those by
    /// which the engine is told what it then writes itself.
    ///
    /// Reading is `record_read`, `thread_read` or `config_read`; writing `record_write`,
    /// `record_delete` or `account_write`; beside them are `dispatch`, `aitl_decide` and
    /// `task_approve`. A record that a route states in the caller's name is asked about at the
    /// records door too, as the `record_write` that it is.
    pub(super) resource: Option<&'static str>,
    pub(super) query: &'static [Parameter],
    /// The shape of the body, if the route takes one.
    pub(super) takes: Option<&'static str>,
    /// The answers that are not errors.
    pub(super) answers: &'static [Outcome],
    pub(super) does: Does,
}

/// The methods that routes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
    Delete,
}

/// Who may use a route.
#[derive(Debug, Clone, Copy)]
pub(super) enum Needs {
    /// Anybody; nobody is asked who they are.
    Nothing,
    /// Anybody who is known.
    Caller,
    /// Whoever has at least one of these scopes. The first is the one a refusal names.
    AnyOf(&'static [Scope]),
    /// Only the operator.
    Operator,
    /// Whoever has the token that the server was started with.
    Bootstrap,
}

/// A parameter behind the `?`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    /// Its type, in the words of JSON Schema.
    pub(super) kind: &'static str,
    pub(super) summary: &'static str,
}

/// An answer that is not an error: its status, and its shape or, where it is no JSON, its media
/// type.
#[derive(Debug, Clone, Copy)]
pub(super) enum Outcome {
    Json(u16, &'static str),
    Other(u16, &'static str),
}

type Streaming = Pin<Box<dyn Future<Output = Result<Response, Problem>> + Send>>;

/// What a route does.
#[derive(Clone, Copy)]
pub(super) enum Does {
    /// Answers once, on a thread that may wait for the store.
    Answers(fn(&ApiState, &Call) -> Result<Answer, Problem>),
    /// Answers for as long as somebody listens.
    Streams(fn(ApiState, Call) -> Streaming),
}

impl Endpoint {
    /// Returns a route that says the least: only the operator may use it, no permission rule is asked
    /// about it, and it takes and promises nothing. A table says what its routes have beside that.
    pub(super) const fn at(
        method: Method,
        path: &'static str,
        name: &'static str,
        does: Does,
    ) -> Self {
        Self {
            method,
            path,
            name,
            summary: "",
            needs: Needs::Operator,
            resource: None,
            query: &[],
            takes: None,
            answers: &[],
            does,
        }
    }

    /// Returns the most bytes that a body may have here: what a harness sends is as long as what a
    /// tool has printed.
    pub(super) fn body_bytes(&self, limits: &ServerLimits) -> usize {
        match self.takes {
            Some(sessions::EVENT) => limits.body_bytes.max(sessions::MAX_EVENT_BYTES),
            Some(session_routes::TRANSCRIPT) => {
                limits.body_bytes.max(session_doors::MAX_TRANSCRIPT_BYTES)
            }
            Some(portability_routes::LINES) => {
                limits.body_bytes.max(portability_routes::MAX_IMPORT_BYTES)
            }
            _ => limits.body_bytes,
        }
    }

    /// Returns what a body must be declared as. No form of a web page can be declared so.
    pub(super) fn media(&self) -> &'static str {
        match self.takes {
            Some(session_routes::TRANSCRIPT | portability_routes::LINES) => "application/x-ndjson",
            _ => "application/json",
        }
    }
}

impl Needs {
    /// Refuses a caller who may not use the route.
    pub(super) fn check(self, caller: &Caller) -> Result<(), Problem> {
        let (may, needed) = match self {
            Self::Nothing | Self::Caller | Self::Bootstrap => return Ok(()),
            Self::AnyOf(scopes) => (
                scopes.iter().any(|scope| caller.may(*scope)),
                scopes.first().copied().unwrap_or(Scope::Admin),
            ),
            Self::Operator => (caller.is_operator(), Scope::Admin),
        };
        if may { Ok(()) } else { Err(IngestError::Scope { needed }.into()) }
    }
}

pub(super) const READ: Needs = Needs::AnyOf(&[Scope::RecordsRead]);
pub(super) const WRITE: Needs = Needs::AnyOf(&[Scope::RecordsWrite]);

pub(super) const LIMIT: Parameter = Parameter {
    name: "limit",
    kind: "integer",
    summary: "At most that many; 100 if absent, never more than 1000.",
};

pub(super) const CURSOR: Parameter = Parameter {
    name: "cursor",
    kind: "integer",
    summary: "Goes on after an earlier page: its `next_cursor`, a sequence.",
};

const SINCE: Parameter = Parameter {
    name: "since",
    kind: "integer",
    summary: "Only records whose clock is this one or a later one.",
};

const TRUST_QUERY: &[Parameter] = &[
    Parameter { name: "actor", kind: "string", summary: "Only this actor." },
    Parameter { name: "domain", kind: "string", summary: "Only this domain." },
];

const DECISIONS: &[Parameter] = &[
    Parameter {
        name: "state",
        kind: "string",
        summary: "Only those that are `pending`, or only those that are `answered`.",
    },
    LIMIT,
    Parameter {
        name: "cursor",
        kind: "integer",
        summary: "Goes on after an earlier page: its `next_cursor`, a sequence.",
    },
];

/// Returns every route there is.
pub(super) fn endpoints() -> impl Iterator<Item = &'static Endpoint> {
    ENDPOINTS
        .iter()
        .chain(namespace_routes::ENDPOINTS)
        .chain(run_routes::ENDPOINTS)
        .chain(session_routes::ENDPOINTS)
        .chain(portability_routes::ENDPOINTS)
        .chain(proof_routes::ENDPOINTS)
        .chain(account_routes::ENDPOINTS)
        .chain(bootstrap::ENDPOINTS)
        .chain(blueprint_routes::ENDPOINTS)
        .chain(pack_routes::ENDPOINTS)
}

/// Every route that has no table of its own.
const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        method: Method::Post,
        path: "/v1/records",
        name: "create_record",
        summary: "Stores a record. The same record again is the same success, with status 200.",
        needs: Needs::AnyOf(&[Scope::RecordsWrite, Scope::ConfigWrite]),
        resource: Some("record_write"),
        query: &[],
        takes: Some("Draft"),
        answers: &[Outcome::Json(201, "Record"), Outcome::Json(200, "Record")],
        does: Does::Answers(records::create),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/records",
        name: "list_records",
        summary: "Lists the records that match every filter, in the order of arrival.",
        needs: READ,
        resource: Some("record_read"),
        query: &[
            Parameter { name: "thread", kind: "string", summary: "Only records of this thread." },
            Parameter { name: "actor", kind: "string", summary: "Only records of this actor." },
            SINCE,
            LIMIT,
        ],
        takes: None,
        answers: &[Outcome::Json(200, "RecordList")],
        does: Does::Answers(records::list),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/records/{id}",
        name: "find_record",
        summary: "Returns one record.",
        needs: READ,
        resource: Some("record_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "Record")],
        does: Does::Answers(records::find),
    },
    Endpoint {
        method: Method::Post,
        path: "/v1/records/query",
        name: "query_records",
        summary: "Lists the records that a filter finds.",
        needs: READ,
        resource: Some("record_read"),
        query: &[],
        takes: Some("Query"),
        answers: &[Outcome::Json(200, "RecordList")],
        does: Does::Answers(records::query),
    },
    Endpoint {
        method: Method::Post,
        path: "/v1/records/search",
        name: "search_records",
        summary: "Searches by meaning. This instance has no embedder and says so.",
        needs: READ,
        resource: Some("record_read"),
        query: &[],
        takes: Some("Search"),
        answers: &[],
        does: Does::Answers(records::search),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/threads",
        name: "list_threads",
        summary: "Lists the threads by name.",
        needs: READ,
        resource: Some("thread_read"),
        query: &[
            LIMIT,
            Parameter {
                name: "cursor",
                kind: "string",
                summary: "Goes on after an earlier page: its `next_cursor`.",
            },
        ],
        takes: None,
        answers: &[Outcome::Json(200, "ThreadList")],
        does: Does::Answers(threads::list),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/threads/{id}",
        name: "find_thread",
        summary: "Returns one thread.",
        needs: READ,
        resource: Some("thread_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "Thread")],
        does: Does::Answers(threads::find),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/threads/{id}/records",
        name: "list_thread_records",
        summary: "Lists the records of a thread, in the order of arrival.",
        needs: READ,
        resource: Some("thread_read"),
        query: &[
            LIMIT,
            SINCE,
            Parameter {
                name: "cursor",
                kind: "integer",
                summary: "Goes on after an earlier page: its `next_cursor`, a sequence.",
            },
        ],
        takes: None,
        answers: &[Outcome::Json(200, "RecordList")],
        does: Does::Answers(threads::records),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/threads/{id}/state",
        name: "find_thread_state",
        summary: "Returns the state of a thread: its clocks, and whether a goal on it is open.",
        needs: READ,
        resource: Some("thread_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "ThreadState")],
        does: Does::Answers(threads::state),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/threads/{id}/watch",
        name: "watch_thread",
        summary: "Streams the records of a thread as they arrive; `Last-Event-ID` resumes it.",
        needs: READ,
        resource: Some("thread_read"),
        query: &[Parameter {
            name: "since_clock",
            kind: "integer",
            summary: "On the first connect: starts with the records from this clock on.",
        }],
        takes: None,
        answers: &[Outcome::Other(200, "text/event-stream")],
        does: Does::Streams(|state, call| Box::pin(watch::watch(state, call))),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/config/hooks",
        name: "list_hooks",
        summary: "Lists the hooks: in force, refused and built in, and how often each was asked.",
        needs: Needs::AnyOf(&[Scope::ConfigRead]),
        resource: Some("config_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "HookList")],
        does: Does::Answers(config::hooks),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/config/permission-rules",
        name: "list_permission_rules",
        summary: "Lists the permission rules: loaded and refused, whether rules are in force, and \
                  what they would leave to the operator.",
        needs: Needs::AnyOf(&[Scope::ConfigRead]),
        resource: Some("config_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "PermissionRuleList")],
        does: Does::Answers(config::permissions),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/config/permissions",
        name: "list_permissions",
        summary: "The same as `GET /v1/config/permission-rules`.",
        needs: Needs::AnyOf(&[Scope::ConfigRead]),
        resource: Some("config_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "PermissionRuleList")],
        does: Does::Answers(config::permissions),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/config/tiers",
        name: "list_tiers",
        summary: "Lists the tiers with their ceilings, and the actors that were given one.",
        needs: Needs::AnyOf(&[Scope::ConfigRead]),
        resource: Some("config_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "TierList")],
        does: Does::Answers(config::tiers),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/trust",
        name: "list_trust",
        summary: "Lists how far actors are trusted, in each domain that they were judged in.",
        needs: READ,
        resource: Some("record_read"),
        query: TRUST_QUERY,
        takes: None,
        answers: &[Outcome::Json(200, "TrustList")],
        does: Does::Answers(trust::list),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/governance/trust",
        name: "list_governance_trust",
        summary: "The same as `GET /v1/trust`.",
        needs: READ,
        resource: Some("record_read"),
        query: TRUST_QUERY,
        takes: None,
        answers: &[Outcome::Json(200, "TrustList")],
        does: Does::Answers(trust::list),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/governance/trust/{actor}/{domain}",
        name: "find_trust",
        summary: "Returns how far an actor is trusted in a domain, and by which verdicts.",
        needs: READ,
        resource: Some("record_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "TrustHistory")],
        does: Does::Answers(trust::find),
    },
    Endpoint {
        method: Method::Post,
        path: "/v1/sessions/events",
        name: "receive_session_event",
        summary: "Records an event of an agent's session, and returns what its hook is to print.",
        // It speaks for the agents of this machine.
        needs: Needs::Operator,
        resource: None,
        query: &[],
        takes: Some(sessions::EVENT),
        answers: &[Outcome::Json(200, "SessionAnswer")],
        does: Does::Answers(sessions::event),
    },
    Endpoint {
        method: Method::Post,
        path: "/v1/work/loop/{id}/review",
        name: "review_loop",
        summary: "Stores a verdict on a run that is over. That of its own actor does not count.",
        needs: WRITE,
        resource: Some("task_approve"),
        query: &[],
        takes: Some("ReviewRequest"),
        answers: &[Outcome::Json(201, "LoopReview")],
        does: Does::Answers(trust::review),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/work/compensation/review",
        name: "list_compensations",
        summary: "Lists where runs went on over something amiss, in the order of arrival.",
        needs: Needs::Operator,
        resource: Some("record_read"),
        query: &[
            LIMIT,
            Parameter {
                name: "cursor",
                kind: "integer",
                summary: "Goes on after an earlier page: its `next_cursor`, a sequence.",
            },
        ],
        takes: None,
        answers: &[Outcome::Json(200, "CompensationList")],
        does: Does::Answers(trust::compensations),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/work/compensation/review/top",
        name: "count_compensations",
        summary: "Counts them by what was assumed where, most often first.",
        needs: Needs::Operator,
        resource: Some("record_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "CompensationCounts")],
        does: Does::Answers(trust::compensation_counts),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/decisions",
        name: "list_decisions",
        summary: "Lists what runs ask of the operator, oldest first, with the answers.",
        needs: READ,
        resource: Some("record_read"),
        query: DECISIONS,
        takes: None,
        answers: &[Outcome::Json(200, "DecisionRequestList")],
        does: Does::Answers(decisions::list),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/governance/decisions",
        name: "list_governance_decisions",
        summary: "Lists the same.",
        needs: READ,
        resource: Some("record_read"),
        query: DECISIONS,
        takes: None,
        answers: &[Outcome::Json(200, "DecisionRequestList")],
        does: Does::Answers(decisions::list),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/decisions/{id}",
        name: "find_decision",
        summary: "Returns one question, with its answer if there is one.",
        needs: READ,
        resource: Some("record_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "DecisionRequest")],
        does: Does::Answers(decisions::find),
    },
    Endpoint {
        method: Method::Post,
        path: "/v1/decisions/{id}/decide",
        name: "decide",
        summary: "Answers a question, once. Only the operator does; others are refused by what they \
                  ask for.",
        // The engine refuses: a lesson that is to become a policy with the word of the config gate.
        needs: Needs::Caller,
        resource: Some("aitl_decide"),
        query: &[],
        takes: Some("DecisionAnswer"),
        answers: &[Outcome::Json(200, "Decision")],
        does: Does::Answers(decisions::decide),
    },
    Endpoint {
        method: Method::Post,
        path: "/v1/engine/sweep",
        name: "sweep",
        summary: "Puts lessons out of force whose time is over. A server does so every minute.",
        needs: Needs::Operator,
        resource: None,
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "Sweep")],
        does: Does::Answers(decisions::sweep),
    },
    Endpoint {
        method: Method::Post,
        path: "/v1/runs/{id}/observe",
        name: "observe",
        summary: "Tells of a call that returned in a loop elsewhere, and asks the hooks about it.",
        needs: WRITE,
        resource: Some("record_write"),
        query: &[],
        takes: Some("ObservedCall"),
        answers: &[Outcome::Json(200, "Observations")],
        does: Does::Answers(observe::observe),
    },
    Endpoint {
        method: Method::Post,
        path: "/v1/expr/eval",
        name: "evaluate_expression",
        summary: "Evaluates a predicate over a record that the request brings along.",
        needs: Needs::AnyOf(&[Scope::ConfigRead, Scope::RecordsRead]),
        resource: Some("config_read"),
        query: &[],
        takes: Some("Evaluation"),
        answers: &[Outcome::Json(200, "Evaluated")],
        does: Does::Answers(expression::evaluate),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/health",
        name: "find_full_health",
        summary: "Returns how the instance is, and which checks stand in front of a record.",
        needs: Needs::Caller,
        resource: Some("config_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "FullHealth")],
        does: Does::Answers(health::full),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/engine/health",
        name: "find_engine_health",
        summary: "Returns what the engine has done and what it holds.",
        needs: Needs::Caller,
        resource: Some("config_read"),
        query: &[Parameter {
            name: "details",
            kind: "boolean",
            summary: "With `true`, the counters of the expression cache too.",
        }],
        takes: None,
        answers: &[Outcome::Json(200, "EngineHealth")],
        does: Does::Answers(health::engine),
    },
    Endpoint {
        method: Method::Get,
        path: "/v1/engine/expression_cache/stats",
        name: "find_expression_cache",
        summary: "Returns the counters of the cache of compiled expressions.",
        needs: Needs::Caller,
        resource: Some("config_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "ExpressionCache")],
        does: Does::Answers(health::expression_cache),
    },
    Endpoint {
        method: Method::Get,
        path: "/health",
        name: "find_health",
        summary: "Says that the server answers.",
        needs: Needs::Nothing,
        resource: None,
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "Health")],
        does: Does::Answers(health::alive),
    },
    Endpoint {
        method: Method::Get,
        path: "/health/ready",
        name: "find_readiness",
        summary: "Says whether records can be read and written now.",
        needs: Needs::Nothing,
        resource: None,
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "Readiness")],
        does: Does::Answers(health::ready),
    },
    Endpoint {
        method: Method::Get,
        path: "/metrics",
        name: "find_metrics",
        summary: "Returns the counters in the text format of Prometheus.",
        needs: Needs::Caller,
        resource: Some("config_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Other(200, "text/plain")],
        does: Does::Answers(metrics::scrape),
    },
    Endpoint {
        method: Method::Get,
        path: "/openapi.json",
        name: "find_openapi",
        summary: "Returns this description.",
        needs: Needs::Nothing,
        resource: None,
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "OpenApi")],
        does: Does::Answers(openapi::find),
    },
];
