//! The names that an expression may use: those of its context, or those that were declared.

use super::suggest::nearest;
use super::types::{Shape, Type};
use crate::predicate::context::Context;
use crate::predicate::environment::Environment;

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
pub(in crate::predicate) static TASK: Shape = Shape {
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
pub(in crate::predicate) const TYPES: &[&str] = &[
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

/// The types whose names have several parts, and one part that stands for all of them.
const QUALIFIED_TYPES: &[(&str, &str)] =
    &[("duration", "google.protobuf.Duration"), ("timestamp", "google.protobuf.Timestamp")];

/// The variables of every context.
pub(in crate::predicate) const VARIABLES: &[&str] = &["record", "resource", "system"];

/// The names that an expression may use.
#[derive(Debug, Clone)]
pub(in crate::predicate) enum Names {
    /// Those of a context.
    Of(Context),
    /// Those of an environment.
    Declared(Environment),
}

/// What a name stands for.
pub(in crate::predicate) struct Meaning {
    pub(in crate::predicate) ty: Type,
    /// The full name, if the evaluator must not look for what was written.
    pub(in crate::predicate) full_name: Option<String>,
}

impl Names {
    /// Returns what `name` stands for, which may have several parts and a dot in front.
    pub(in crate::predicate) fn find(&self, name: &str) -> Option<Meaning> {
        match self {
            Self::Of(context) => {
                let name = name.strip_prefix('.').unwrap_or(name);
                if let Some(ty) = variable(name, *context) {
                    return Some(Meaning { ty, full_name: None });
                }
                Some(Meaning { ty: Type::Meta, full_name: Some(of_type(name)?.to_owned()) })
            }
            Self::Declared(environment) => {
                environment.candidates(name).into_iter().find_map(|candidate| {
                    if let Some(ty) = environment.variable(&candidate) {
                        return Some(Meaning { ty: ty.into(), full_name: Some(candidate) });
                    }
                    let full_name = Some(of_type(&candidate)?.to_owned());
                    Some(Meaning { ty: Type::Meta, full_name })
                })
            }
        }
    }

    /// Returns the names of the variables.
    pub(in crate::predicate) fn variables(&self) -> Vec<&str> {
        match self {
            Self::Of(_) => VARIABLES.to_vec(),
            Self::Declared(environment) => environment.variables().map(|(name, _)| name).collect(),
        }
    }

    /// Returns the contexts that have `name`, if this one has not.
    pub(in crate::predicate) fn elsewhere(&self, name: &str) -> Option<(Context, &'static str)> {
        let Self::Of(context) = self else { return None };
        let (_, contexts) = ELSEWHERE.iter().find(|(known, _)| *known == name)?;
        Some((*context, contexts))
    }

    /// Returns how to write a field that was written without what it belongs to, and perhaps with
    /// a slip.
    pub(in crate::predicate) fn field_path(&self, name: &str) -> Option<String> {
        let body = match self {
            Self::Of(Context::Hook) => Some(&CALL_BODY),
            Self::Of(Context::Permission) => None,
            Self::Declared(_) => return None,
        };
        let shapes = || body.into_iter().chain([&RECORD]);
        let fields = || shapes().flat_map(|shape| shape.fields).map(|(field, _)| *field);
        let name = fields().find(|field| *field == name).or_else(|| nearest(name, fields()))?;
        shapes()
            .find(|shape| shape.fields.iter().any(|(field, _)| *field == name))
            .map(|shape| format!("{}.{name}", shape.name))
    }

    /// Tells whether what the checker refuses is left to fail when it is evaluated.
    pub(in crate::predicate) const fn are_unchecked(&self) -> bool {
        match self {
            Self::Of(_) => false,
            Self::Declared(environment) => environment.is_unchecked(),
        }
    }
}

/// Returns the type of a variable.
fn variable(name: &str, context: Context) -> Option<Type> {
    match (name, context) {
        ("record", Context::Hook) => Some(Type::Shape(&CALL)),
        ("record", Context::Permission) => Some(Type::Shape(&RECORD)),
        ("resource", _) => Some(Type::Text),
        ("system", _) => Some(Type::Shape(&SYSTEM)),
        _ => None,
    }
}

/// Returns the full name of a type.
fn of_type(name: &str) -> Option<&'static str> {
    let qualified = QUALIFIED_TYPES.iter().find(|(short, full)| *short == name || *full == name);
    let short = || TYPES.iter().find(|known| **known == name).copied();
    qualified.map(|(_, full)| *full).or_else(short)
}
