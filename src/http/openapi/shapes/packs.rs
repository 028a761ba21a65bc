//! The shapes of packs of policy hooks.

use super::Shape;

/// Each of them.
pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "HookCapabilities",
        summary: "What packs may ask of this host. `managed` is null where it does not say that it is \
                  a managed one; `killSwitch` is the variable that switches hooks off; `applied` says \
                  whether runs ask packs.",
        members: &[
            ("version", "integer"),
            ("applied", "boolean"),
            ("envelopeVersion", "integer"),
            ("portable", "object"),
            ("managed", "object|null"),
            ("killSwitch", "object"),
        ],
    },
    Shape {
        name: "NamedPolicyPack",
        summary: "A pack, and the stem of its file. `schema/polpo-pack.json` has its shape.",
        members: &[("name", "string"), ("pack", "object")],
    },
    Shape {
        name: "PolicyPackRequest",
        summary: "The packs that are to be deployed.",
        members: &[("packs", "[NamedPolicyPack]")],
    },
    Shape {
        name: "PolicyPackDeployed",
        summary: "A pack that is in force. It is `fresh` if another revision was before, or none.",
        members: &[
            ("name", "string"),
            ("sha256", "string"),
            ("id", "string"),
            ("fresh", "boolean"),
        ],
    },
    Shape {
        name: "PolicyPacksDeployed",
        summary: "What came of deploying packs, in the order of the request.",
        members: &[("object", "=policy_packs_deployed"), ("packs", "[PolicyPackDeployed]")],
    },
    Shape {
        name: "PolicyPack",
        summary: "A pack that is deployed, in its revision in force: record `id`, as it is written, \
                  and the SHA-256 of its canonical bytes.",
        members: &[
            ("object", "=policy_pack"),
            ("id", "string"),
            ("name", "string"),
            ("sha256", "string"),
            ("hooks", "integer"),
            ("pack", "object"),
            ("deployed_at", "string"),
        ],
    },
    Shape {
        name: "PolicyPackList",
        summary: "Packs, by name.",
        members: &[("object", "=list"), ("data", "[PolicyPack]")],
    },
];
