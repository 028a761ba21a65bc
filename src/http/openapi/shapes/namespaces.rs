//! The shapes of namespaces.

use super::Shape;

/// Each of them.
pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "NewNamespace",
        summary: "Which namespace is to be registered, or made active again.",
        members: &[("id", "string")],
    },
    Shape {
        name: "Namespace",
        summary: "A namespace. Records may be written there if it is `open`: it and all above it \
                  are active. `record_id` is the entry of the registry; the root has none, nor one \
                  that was in use before there was a registry.",
        members: &[
            ("object", "=namespace"),
            ("id", "string"),
            ("level", "string"),
            ("status", "string"),
            ("open", "boolean"),
            ("record_id", "string|null"),
            ("changed_at", "string|null"),
        ],
    },
    Shape {
        name: "NamespaceList",
        summary: "Namespaces, by path.",
        members: &[("object", "=list"), ("data", "[Namespace]")],
    },
];
