//! The names that an expression may use, by context.

use super::context::Context;
use super::suggest::nearest;
use super::types::{Shape, Type};

const BODY: Shape = Shape {
    name: "record.body",
    open: false,
    fields: &[
        ("tool", Type::Text),
        ("args", Type::Map),
        ("status", Type::Text),
        ("content", Type::Text),
    ],
};

macro_rules! record {
    ($open:literal, $body:expr) => {
        Shape {
            name: "record",
            open: $open,
            fields: &[
                ("act", Type::Text),
                ("actor", Type::Text),
                ("thread", Type::Text),
                ("data_type", Type::Text),
                ("clock", Type::Int),
                ("parents", Type::List),
                ("body", $body),
            ],
        }
    };
}

static CALL: Shape = record!(false, Type::Shape(&CALL_BODY));
static CALL_BODY: Shape = BODY;
static RECORD: Shape = record!(true, Type::Map);

static SYSTEM: Shape = Shape {
    name: "system",
    open: false,
    fields: &[
        ("uptime_secs", Type::Int),
        ("records_total", Type::Int),
        ("threads_total", Type::Int),
        ("daemon_version", Type::Text),
        ("active_dispatches", Type::List),
        ("today", Type::Shape(&TODAY)),
    ],
};

static TODAY: Shape = Shape {
    name: "system.today",
    open: false,
    fields: &[
        ("dispatches", Type::Int),
        ("cost_usd", Type::Double),
        ("tasks_completed", Type::Int),
    ],
};

/// What `task(alias)` returns.
pub(super) static TASK: Shape = Shape {
    name: "task()",
    open: false,
    fields: &[
        ("status", Type::Text),
        ("priority", Type::Text),
        ("assigned_to", Type::Text),
        ("age_secs", Type::Int),
        ("cost_usd", Type::Double),
        ("exists", Type::Bool),
    ],
};

/// The names of types.
pub(super) const TYPES: &[&str] = &[
    "bool",
    "bytes",
    "double",
    "duration",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "timestamp",
    "type",
    "uint",
];

/// Names that other contexts have, and where.
const ELSEWHERE: &[(&str, &str)] = &[
    ("children", "join"),
    ("fleet_instances_live", "health_check"),
    ("meta_trust", "aitl"),
    ("parent", "join"),
    ("proposal_confidence", "aitl"),
    ("records", "trigger, precondition and fold_rule"),
    ("tasks", "precondition and health_check"),
    ("thread", "trigger, routing, precondition and fold_rule"),
];

/// Returns the type of a variable.
pub(super) fn variable(name: &str, context: Context) -> Option<Type> {
    match (name, context) {
        ("record", Context::Hook) => Some(Type::Shape(&CALL)),
        ("record", Context::Permission) => Some(Type::Shape(&RECORD)),
        ("resource", _) => Some(Type::Text),
        ("system", _) => Some(Type::Shape(&SYSTEM)),
        _ => None,
    }
}

/// The variables of every context.
pub(super) const VARIABLES: &[&str] = &["record", "resource", "system"];

/// Returns the contexts that have `name`, if these do not.
pub(super) fn elsewhere(name: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(known, _)| *known == name).map(|(_, contexts)| *contexts)
}

/// Returns how to write a field that was written without what it belongs to, and perhaps with a
/// slip.
pub(super) fn field_path(name: &str, context: Context) -> Option<String> {
    let body = match context {
        Context::Hook => Some(&CALL_BODY),
        Context::Permission => None,
    };
    let shapes = || body.into_iter().chain([&RECORD]);
    let names = || shapes().flat_map(|shape| shape.fields).map(|(field, _)| *field);
    let name = names().find(|field| *field == name).or_else(|| nearest(name, names()))?;
    shapes()
        .find(|shape| shape.fields.iter().any(|(field, _)| *field == name))
        .map(|shape| format!("{}.{name}", shape.name))
}
