//! The shapes of blueprints.

use super::Shape;

/// Each of them.
pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "BlueprintPlanRequest",
        summary: "A blueprint as its file has it, and those that it extends in any order. `actor` is \
                  in whose name it would be installed; of the operator, the engine's if absent.",
        members: &[("blueprint", "object"), ("extends?", "[object]"), ("actor?", "string")],
    },
    Shape {
        name: "BlueprintInstallRequest",
        summary: "The same, and the plan that was seen and accepted, by its hash.",
        members: &[
            ("blueprint", "object"),
            ("extends?", "[object]"),
            ("actor?", "string"),
            ("accept_plan", "string"),
        ],
    },
    Shape {
        name: "BlueprintPlan",
        summary: "What installing would do. `plan` is the hash to accept; it covers hooks and rules.",
        members: &[
            ("object", "=blueprint_plan"),
            ("name", "string"),
            ("version", "string"),
            ("author", "string"),
            ("description", "string|null"),
            ("hash", "string"),
            ("extends", "[string]"),
            ("plan", "string"),
            ("vouched_by", "string"),
            ("because", "string|null"),
            ("signed_by", "string|null"),
            ("hooks", "[BlueprintSeed]"),
            ("rules", "[BlueprintSeed]"),
            ("content", "[BlueprintSeed]"),
            ("to_write", "integer"),
            ("may_install", "boolean"),
            ("refused", "object|null"),
            ("installed", "string|null"),
        ],
    },
    Shape {
        name: "BlueprintSeed",
        summary: "A record that a blueprint brings. `state` is `new`, `there` or `replaces`, or null \
                  where it is not the caller's to know.",
        members: &[
            ("at", "string"),
            ("act", "string"),
            ("actor?", "string"),
            ("body", "object"),
            ("data_type", "string"),
            ("thread", "string"),
            ("state", "string|null"),
            ("record", "string|null"),
        ],
    },
    Shape {
        name: "BlueprintInstalled",
        summary: "What was written, what was there already, and the record of the installation.",
        members: &[
            ("object", "=blueprint_installed"),
            ("id", "string"),
            ("plan", "string"),
            ("written", "[string]"),
            ("there", "[string]"),
        ],
    },
    Shape {
        name: "BlueprintInstallation",
        summary: "A blueprint that was installed.",
        members: &[
            ("object", "=blueprint_installation"),
            ("id", "string"),
            ("name", "string"),
            ("version", "string"),
            ("author", "string"),
            ("blueprint", "string"),
            ("plan", "string"),
            ("by", "string"),
            ("vouched_by", "string"),
            ("records", "integer"),
            ("installed_at", "string"),
        ],
    },
    Shape {
        name: "BlueprintInstallationList",
        summary: "What was installed, in the order of arrival.",
        members: &[("object", "=list"), ("data", "[BlueprintInstallation]")],
    },
];
