//! The routes of captured sessions, in the one table of routes.

use super::endpoint::{
    CURSOR, Does, Endpoint, LIMIT, Method, Needs, Outcome, Parameter, READ, WRITE,
};
use super::{rooms, session_doors, session_list};

/// The shape of a transcript: what a harness logs, a line each, and no JSON as a whole.
pub(super) const TRANSCRIPT: &str = "Transcript";

const HARNESS: Parameter =
    Parameter { name: "harness", kind: "string", summary: "Only sessions of this harness." };
const STATE: Parameter = Parameter {
    name: "state",
    kind: "string",
    summary: "Only sessions that are `open`, `ended` or `idle`.",
};
const AGENTS: Parameter =
    Parameter { name: "agents", kind: "boolean", summary: "With `true`, subagents too." };

const fn at(method: Method, path: &'static str, name: &'static str, does: Does) -> Endpoint {
    Endpoint {
        // Whoever speaks here speaks for the agents of this machine.
        needs: Needs::Operator,
        answers: &[Outcome::Json(200, "SessionWords")],
        ..Endpoint::at(method, path, name, does)
    }
}

/// Each of them.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        summary: "Says that an agent's session began or was taken up, or a subagent of one.",
        takes: Some("SessionStart"),
        ..at(
            Method::Post,
            "/v1/sessions/start",
            "start_session",
            Does::Answers(session_doors::start),
        )
    },
    Endpoint {
        summary: "Tells of a tool call that returned in a session, and asks the hooks about it.",
        takes: Some("SessionTool"),
        ..at(
            Method::Post,
            "/v1/sessions/{thread}/tool",
            "tell_session_tool",
            Does::Answers(session_doors::tool),
        )
    },
    Endpoint {
        summary: "Tells of the closing words of a turn.",
        takes: Some("SessionTurn"),
        ..at(
            Method::Post,
            "/v1/sessions/{thread}/turn",
            "tell_session_turn",
            Does::Answers(session_doors::turn),
        )
    },
    Endpoint {
        summary: "Says that a session is over. The engine writes its report.",
        takes: Some("SessionEnd"),
        ..at(
            Method::Post,
            "/v1/sessions/{thread}/end",
            "end_session",
            Does::Answers(session_doors::end),
        )
    },
    Endpoint {
        summary: "Keeps a masked copy of the transcript of a session. Nothing does so by itself.",
        takes: Some(TRANSCRIPT),
        answers: &[Outcome::Json(201, "RetainedTranscript")],
        resource: Some("record_write"),
        ..at(
            Method::Post,
            "/v1/sessions/{thread}/retain",
            "retain_transcript",
            Does::Answers(session_doors::retain),
        )
    },
    Endpoint {
        summary: "Deletes the copy of the transcript of a session, and says what remains.",
        answers: &[Outcome::Json(200, "ForgottenTranscript")],
        resource: Some("record_delete"),
        ..at(
            Method::Delete,
            "/v1/sessions/{thread}/source",
            "forget_transcript",
            Does::Answers(session_doors::forget),
        )
    },
    Endpoint {
        summary: "Lists captured sessions, the newest first.",
        needs: READ,
        query: &[HARNESS, STATE, AGENTS, LIMIT, CURSOR],
        answers: &[Outcome::Json(200, "SessionList")],
        resource: Some("thread_read"),
        ..at(Method::Get, "/v1/sessions", "list_sessions", Does::Answers(session_list::list))
    },
    Endpoint {
        summary: "Returns all there is to say about a captured session.",
        needs: READ,
        answers: &[Outcome::Json(200, "Session")],
        resource: Some("thread_read"),
        ..at(
            Method::Get,
            "/v1/sessions/{thread}",
            "find_session",
            Does::Answers(session_list::find),
        )
    },
    Endpoint {
        summary: "Lists the checkpoints of a thread, the newest first.",
        needs: READ,
        query: &[LIMIT, CURSOR],
        answers: &[Outcome::Json(200, "RecordList")],
        resource: Some("thread_read"),
        ..at(
            Method::Get,
            "/v1/threads/{id}/checkpoints",
            "list_checkpoints",
            Does::Answers(rooms::checkpoints),
        )
    },
    Endpoint {
        summary: "Notes a checkpoint down; with `draft`, what closed, is open, waits and moved is \
                  filled in.",
        needs: WRITE,
        takes: Some("Checkpoint"),
        answers: &[Outcome::Json(201, "Record")],
        resource: Some("record_write"),
        ..at(
            Method::Post,
            "/v1/threads/{id}/checkpoint",
            "create_checkpoint",
            Does::Answers(rooms::checkpoint),
        )
    },
    Endpoint {
        summary: "Returns what to know on coming back: of a room, which is a thread or the beginning \
                  of its name, or with `th_attention` of the whole instance.",
        needs: READ,
        answers: &[Outcome::Json(200, "Resume")],
        resource: Some("thread_read"),
        ..at(Method::Get, "/v1/threads/{id}/resume", "find_resume", Does::Answers(rooms::resume))
    },
    Endpoint {
        summary: "Returns the same.",
        needs: READ,
        takes: Some("ResumeRequest"),
        answers: &[Outcome::Json(200, "Resume")],
        resource: Some("thread_read"),
        ..at(Method::Post, "/v1/threads/{id}/resume", "post_resume", Does::Answers(rooms::resume))
    },
];
