//! The shapes of signatures and proofs.

use super::Shape;

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "UnprovenSignature",
        summary: "A signature that came with a record and that nobody here can check. `reason` is \
                  `unknown_key` or `unknown_method`.",
        members: &[("reason", "string"), ("sig", "string")],
    },
    Shape {
        name: "Proof",
        summary: "What proves that a record was accepted: its canonical text, its receipt, the link \
                  of the chain before it, the SHA-256 of each receipt after it, and the signed link \
                  that these lead to.",
        members: &[
            ("object", "=proof"),
            ("version", "integer"),
            ("record", "string"),
            ("receipt", "Receipt"),
            ("previous", "string"),
            ("following", "[string]"),
            ("end", "SignedLink"),
        ],
    },
    Shape {
        name: "Receipt",
        summary: "What an instance says about the arrival of a record, in the form that is hashed. \
                  `received_at` is in milliseconds since 1970.",
        members: &[
            ("id", "string"),
            ("judged_by", "string|null"),
            ("origin", "string"),
            ("received_at", "integer"),
            ("seq", "integer"),
            ("sig", "string"),
            ("signer", "string"),
            ("unproven?", "UnprovenSignature"),
        ],
    },
    Shape {
        name: "SignedLink",
        summary: "A link of the chain that the instance key has signed: a `checkpoint`, which says \
                  when, or the `head` where there is no checkpoint behind the record yet.",
        members: &[
            ("object", "string"),
            ("seq", "integer"),
            ("chain", "string"),
            ("at?", "integer"),
            ("signer", "string"),
            ("sig", "string"),
        ],
    },
];
