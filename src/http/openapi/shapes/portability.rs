//! The shapes of records that move between stores, and of those that go.

use super::Shape;

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "ImportLines",
        summary: "At most 1000 lines and 8 MiB: each a record with its receipt, as an export has it, \
                  or an envelope alone.",
        members: &[],
    },
    Shape {
        name: "Imported",
        summary: "What came of an import.",
        members: &[
            ("object", "=imported"),
            ("new", "integer"),
            ("known", "integer"),
            ("refused", "[RefusedLine]"),
        ],
    },
    Shape {
        name: "RefusedLine",
        summary: "A line that was refused; `line` is its number in the request, from 1.",
        members: &[
            ("line", "integer"),
            ("code", "string"),
            ("field", "string|null"),
            ("message", "string"),
        ],
    },
    Shape {
        name: "Adoption",
        summary: "Which imported record is to hold here too, and who says so.",
        members: &[("id", "string"), ("actor", "string")],
    },
    Shape {
        name: "ErasureRequest",
        summary: "What to erase, and why. `authorized_by` is `actor` if absent.",
        members: &[
            ("erases", "[string]"),
            ("reason", "string"),
            ("actor", "string"),
            ("authorized_by?", "string"),
            ("purge?", "boolean"),
        ],
    },
    Shape {
        name: "Erasure",
        summary: "The records as they are now. `scrubbed`: nothing of what was purged is left in the \
                  store's file. `remains`: other files of the home that hold it.",
        members: &[
            ("object", "=erasure"),
            ("data", "[Record]"),
            ("scrubbed", "boolean|null"),
            ("remains", "[string]"),
        ],
    },
    Shape {
        name: "Tombstone",
        summary: "What stands for the words of a record, signed by the instance.",
        members: &[
            ("erasure", "string"),
            ("at", "string"),
            ("scrubbed", "boolean"),
            ("sig", "string"),
            ("signer", "string"),
        ],
    },
];
