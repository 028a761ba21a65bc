//! The shapes of sessions.

use super::Shape;

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "SessionEvent",
        summary: "An event of an agent's session, as its harness sends it to a hook. `attempt` tells \
                  one process of a hook from another: the same attempt is answered the same, another \
                  one for the same event is answered with nothing. `decided` is what policy hooks \
                  have decided: `{context}` that a prompt goes with, or `{refused}`.",
        members: &[
            ("harness?", "string|null"),
            ("namespace?", "string|null"),
            ("attempt", "string"),
            ("decided?", "object|null"),
            ("payload", "object"),
        ],
    },
    Shape {
        name: "SessionAnswer",
        summary: "What the hook is to print, in the form that the harness takes; null for nothing.",
        members: &[("object", "=session_answer"), ("thread", "string"), ("output", "object|null")],
    },
];
