//! The shapes of decisions, and of observing for a loop elsewhere.

use super::Shape;

/// Each of them.
pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "DecisionRequest",
        summary: "What a run asks of the operator, and the answer if there is one.",
        members: &[
            ("object", "=decision_request"),
            ("id", "string"),
            ("thread", "string"),
            ("requester", "string"),
            ("decider_role", "string"),
            ("question", "string"),
            ("options", "[string]"),
            ("context", "string"),
            ("lesson", "object|null"),
            ("asked_at", "string"),
            ("state", "string"),
            ("decision", "object|null"),
        ],
    },
    Shape {
        name: "DecisionRequestList",
        summary: "Questions, oldest first. `next_cursor` is there if there are more.",
        members: &[
            ("object", "=list"),
            ("data", "[DecisionRequest]"),
            ("next_cursor?", "string"),
            ("capped?", "boolean"),
        ],
    },
    Shape {
        name: "DecisionAnswer",
        summary: "An answer: `approve`, `reject` or `provide`. `expires` is `30d`, `12h` or a time.",
        members: &[
            ("decision", "string"),
            ("reason?", "string"),
            ("provided_value?", "string"),
            ("becomes_policy?", "boolean"),
            ("expires?", "string"),
            ("actor?", "string"),
        ],
    },
    Shape {
        name: "Decision",
        summary: "An answer. `policy` is the hook that a proposed lesson has become.",
        members: &[
            ("object", "=decision"),
            ("id", "string"),
            ("request_id", "string"),
            ("thread", "string"),
            ("decision", "string"),
            ("by", "string"),
            ("value", "string|null"),
            ("reason", "string|null"),
            ("policy", "string|null"),
            ("expires_at", "string|null"),
            ("opened_thread", "string|null"),
            ("fulfills?", "string"),
            ("cancels?", "string"),
        ],
    },
    Shape {
        name: "Sweep",
        summary: "The lessons whose time was over.",
        members: &[("object", "=sweep"), ("swept", "integer"), ("data", "[SweptPolicy]")],
    },
    Shape {
        name: "SweptPolicy",
        summary: "A lesson whose time was over, and the newer version that is not enabled.",
        members: &[
            ("object", "=swept_policy"),
            ("record_id", "string"),
            ("policy", "string"),
            ("decision", "string"),
            ("namespace", "string"),
            ("name", "string"),
            ("expires_at", "string"),
        ],
    },
    Shape {
        name: "ObservedCall",
        summary: "A call that returned in a loop elsewhere. `life` counts from 1.",
        members: &[
            ("call_id", "string"),
            ("tool", "string"),
            ("args?", "object|null"),
            ("status", "string"),
            ("content?", "string"),
            ("actor?", "string"),
            ("namespace?", "string"),
            ("domain?", "string"),
            ("life?", "integer"),
        ],
    },
    Shape {
        name: "Observations",
        summary: "What the hooks have to say about a call, in their order.",
        members: &[("object", "=list"), ("thread", "string"), ("data", "[Observation]")],
    },
    Shape {
        name: "Observation",
        summary: "The words of one hook, and how often it has spoken in this life of the run.",
        members: &[
            ("rule", "string"),
            ("text", "string"),
            ("hook", "string|null"),
            ("fire", "integer"),
            ("max", "integer"),
        ],
    },
];
