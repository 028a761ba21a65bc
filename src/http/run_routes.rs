//! The routes of runs, in the one table of routes.

use super::endpoint::{CURSOR, Does, Endpoint, LIMIT, Method, Outcome, Parameter, READ, WRITE};
use super::{runs, watch};

const STATE: Parameter = Parameter {
    name: "state",
    kind: "string",
    summary: "Only runs that are `running`, `waiting_on_you`, `done`, `stopped` or `stopped_short`.",
};
const SINCE: Parameter = Parameter {
    name: "since",
    kind: "string",
    summary: "Only runs that began at this time or later (RFC 3339).",
};
const UNTIL: Parameter = Parameter {
    name: "until",
    kind: "string",
    summary: "Only runs that began before this time (RFC 3339).",
};
const MEMBER: Parameter =
    Parameter { name: "member", kind: "string", summary: "Only runs of this actor." };
const REPLAY: Parameter = Parameter {
    name: "replay",
    kind: "boolean",
    summary: "Whether what has happened so far comes first.",
};

const fn at(method: Method, path: &'static str, name: &'static str, does: Does) -> Endpoint {
    Endpoint {
        needs: READ,
        resource: Some("thread_read"),
        answers: &[Outcome::Json(200, "Run")],
        ..Endpoint::at(method, path, name, does)
    }
}

/// Each of them.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        summary: "Starts a run on this server, within the ceilings of the caller's tier.",
        needs: WRITE,
        takes: Some("WorkLoopRequest"),
        answers: &[Outcome::Json(201, "WorkLoop")],
        resource: Some("dispatch"),
        ..at(Method::Post, "/v1/work/loop", "start_loop", Does::Answers(runs::start))
    },
    Endpoint {
        summary: "Says what would come of starting a run, without starting it.",
        needs: WRITE,
        takes: Some("WorkLoopRequest"),
        answers: &[Outcome::Json(200, "WorkLoopPreview")],
        resource: Some("dispatch"),
        ..at(Method::Post, "/v1/work/loop/preview", "preview_loop", Does::Answers(runs::preview))
    },
    Endpoint {
        summary: "Returns how a run stands.",
        ..at(Method::Get, "/v1/work/loop/{id}", "find_loop", Does::Answers(runs::status))
    },
    Endpoint {
        summary: "Asks a run to stop, whoever drives it. It begins nothing more.",
        needs: WRITE,
        takes: Some("CancelRequest"),
        answers: &[Outcome::Json(201, "RunEvent")],
        resource: Some("dispatch"),
        ..at(Method::Post, "/v1/work/loop/{id}/cancel", "cancel_loop", Does::Answers(runs::cancel))
    },
    Endpoint {
        summary: "Streams the records of a run and how it stands, until it is over.",
        query: &[REPLAY],
        answers: &[Outcome::Other(200, "text/event-stream")],
        ..at(
            Method::Get,
            "/v1/work/loop/{id}/stream",
            "stream_loop",
            Does::Streams(|state, call| Box::pin(watch::watch_run(state, call))),
        )
    },
    Endpoint {
        summary: "Lists runs, the newest first.",
        query: &[STATE, MEMBER, SINCE, UNTIL, LIMIT, CURSOR],
        answers: &[Outcome::Json(200, "RunList")],
        ..at(Method::Get, "/v1/runs", "list_runs", Does::Answers(runs::list))
    },
    Endpoint {
        summary: "Returns what there is to say about a run.",
        ..at(Method::Get, "/v1/runs/{id}", "find_run", Does::Answers(runs::find))
    },
    Endpoint {
        summary: "Streams the records of a run and how it stands, until it is over.",
        query: &[REPLAY],
        answers: &[Outcome::Other(200, "text/event-stream")],
        ..at(
            Method::Get,
            "/v1/runs/{id}/events",
            "stream_run",
            Does::Streams(|state, call| Box::pin(watch::watch_run(state, call))),
        )
    },
    Endpoint {
        summary: "Says something to a run, answers its question, stops it or takes it up.",
        needs: WRITE,
        takes: Some("RunEventRequest"),
        answers: &[Outcome::Json(201, "RunEvent"), Outcome::Json(200, "Run")],
        resource: Some("dispatch"),
        ..at(Method::Post, "/v1/runs/{id}/events", "say_to_run", Does::Answers(runs::say))
    },
    Endpoint {
        summary: "Returns what a run was made of.",
        answers: &[Outcome::Json(200, "RunProvenance")],
        ..at(
            Method::Get,
            "/v1/runs/{id}/provenance",
            "find_run_provenance",
            Does::Answers(runs::provenance),
        )
    },
    Endpoint {
        summary: "Starts a run of an actor.",
        needs: WRITE,
        takes: Some("RunRequest"),
        answers: &[Outcome::Json(201, "Run")],
        resource: Some("dispatch"),
        ..at(Method::Post, "/v1/actors/{id}/runs", "start_run", Does::Answers(runs::start_of_actor))
    },
    Endpoint {
        summary: "Lists the runs of an actor, the newest first.",
        query: &[STATE, SINCE, UNTIL, LIMIT, CURSOR],
        answers: &[Outcome::Json(200, "RunList")],
        ..at(
            Method::Get,
            "/v1/actors/{id}/runs",
            "list_actor_runs",
            Does::Answers(runs::list_of_actor),
        )
    },
];
