//! The shapes of bodies and answers, in a short notation that becomes JSON Schema.

mod accounts;
mod blueprints;
mod bootstrap;
mod captured;
mod decisions;
mod namespaces;
mod packs;
mod portability;
mod proofs;
mod runs;
mod sessions;

use crate::canon::{Object, Value};
use crate::object;

/// Returns every shape there is.
pub(super) fn shapes() -> impl Iterator<Item = &'static Shape> {
    SHAPES
        .iter()
        .chain(decisions::SHAPES)
        .chain(namespaces::SHAPES)
        .chain(runs::SHAPES)
        .chain(sessions::SHAPES)
        .chain(captured::SHAPES)
        .chain(bootstrap::SHAPES)
        .chain(portability::SHAPES)
        .chain(proofs::SHAPES)
        .chain(accounts::SHAPES)
        .chain(blueprints::SHAPES)
        .chain(packs::SHAPES)
}

/// The shape of an object.
pub(super) struct Shape {
    pub(super) name: &'static str,
    summary: &'static str,
    /// Each member and its type. A `?` behind the name says that it may be absent.
    ///
    /// A type is a word of JSON Schema, `any`, the name of another shape, `=word` for exactly that
    /// word, `[type]` for a list, or `type|null`.
    members: &'static [(&'static str, &'static str)],
}

const SHAPES: &[Shape] = &[
    Shape {
        name: "Error",
        summary: "A refusal or a failure.",
        members: &[
            ("object", "=error"),
            ("type", "string"),
            ("code", "string"),
            ("error", "string"),
            ("message", "string"),
            ("field?", "string"),
            ("reason?", "string"),
            ("column?", "integer"),
            ("hint?", "string"),
        ],
    },
    Shape {
        name: "Draft",
        summary: "A record as a client sends it.",
        members: &[
            ("act", "string"),
            ("actor", "string"),
            ("thread", "string"),
            ("body?", "object"),
            ("clock?", "integer"),
            ("data_type?", "string"),
            ("parents?", "[string]"),
            ("judged_by?", "string|null"),
            ("sig?", "string|null"),
        ],
    },
    Shape {
        name: "Record",
        summary: "An immutable statement, named by the SHA-256 of its content. One that was purged \
                  has an empty `body`.",
        members: &[
            ("object", "=record"),
            ("id", "string"),
            ("sequence", "integer"),
            ("act", "string"),
            ("actor", "string"),
            ("thread", "string"),
            ("body", "object"),
            ("clock", "integer"),
            ("data_type", "string"),
            ("parents", "[string]"),
            ("judged_by?", "string"),
            ("sig", "string"),
            ("signed_by", "string"),
            ("signer", "string"),
            ("unproven?", "UnprovenSignature"),
            ("erased?", "boolean"),
            ("erased_by?", "string"),
            ("purged?", "boolean"),
            ("tombstone?", "Tombstone"),
        ],
    },
    Shape {
        name: "RecordList",
        summary: "Records. `next_cursor` is there if there are more.",
        members: &[
            ("object", "=list"),
            ("data", "[Record]"),
            ("next_cursor?", "string"),
            ("capped?", "boolean"),
            ("plan?", "object"),
        ],
    },
    Shape {
        name: "Query",
        summary: "What to look for, in the operators of document stores.",
        members: &[
            ("filter", "object"),
            ("thread?", "string"),
            ("sort?", "object"),
            ("limit?", "integer"),
            ("offset?", "integer"),
            ("cursor?", "string"),
            ("explain?", "boolean"),
        ],
    },
    Shape {
        name: "Search",
        summary: "What to search for by meaning.",
        members: &[
            ("query", "string"),
            ("k?", "integer"),
            ("thread?", "string"),
            ("actor?", "string"),
            ("kind?", "string"),
            ("after_clock?", "integer"),
        ],
    },
    Shape {
        name: "Thread",
        summary: "A thread, from its index.",
        members: &[
            ("object", "=thread"),
            ("id", "string"),
            ("last_clock", "integer"),
            ("namespace", "string"),
            ("record_count", "integer"),
        ],
    },
    Shape {
        name: "ThreadList",
        summary: "Threads by name. `next_cursor` is there if there are more.",
        members: &[
            ("object", "=list"),
            ("data", "[Thread]"),
            ("next_cursor?", "string"),
            ("capped?", "boolean"),
        ],
    },
    Shape {
        name: "ThreadState",
        summary: "What the records of a thread add up to.",
        members: &[
            ("object", "=thread_state"),
            ("thread", "string"),
            ("status", "string"),
            ("last_clock", "integer"),
            ("actor_clocks", "object"),
            ("record_count", "integer"),
            ("participants", "[string]"),
            ("head", "string|null"),
        ],
    },
    Shape {
        name: "Hook",
        summary: "A hook: in force, refused or built in. `refused` says why its newest record is not.",
        members: &[
            ("object", "=hook"),
            ("name", "string"),
            ("namespace", "string"),
            ("source", "string"),
            ("enabled", "boolean"),
            ("loaded", "boolean"),
            ("compiled", "boolean"),
            ("record_id", "string|null"),
            ("refused", "object|null"),
            ("asked", "integer"),
            ("matched", "integer"),
            ("fires", "integer"),
            ("errors", "integer"),
            ("errors_by_kind", "HookErrors"),
            ("overruns", "integer"),
            ("timing", "HookTiming"),
            ("last_fire", "string|null"),
        ],
    },
    Shape {
        name: "HookErrors",
        summary: "How often a predicate failed, and why. Over budget and too large are overruns.",
        members: &[
            ("error", "integer"),
            ("not_boolean", "integer"),
            ("over_budget", "integer"),
            ("panicked", "integer"),
            ("too_large", "integer"),
        ],
    },
    Shape {
        name: "HookTiming",
        summary: "What evaluating a predicate took, in about one call of 64.",
        members: &[("mean_nanos", "integer|null"), ("nanos", "integer"), ("samples", "integer")],
    },
    Shape {
        name: "HookList",
        summary: "Hooks, in the order of their words.",
        members: &[("object", "=list"), ("data", "[Hook]")],
    },
    Shape {
        name: "PermissionRule",
        summary: "A permission rule: loaded or refused. `errors` are since this process began.",
        members: &[
            ("object", "=permission_rule"),
            ("name", "string"),
            ("namespace", "string"),
            ("action", "string|null"),
            ("expression", "string|null"),
            ("priority", "integer|null"),
            ("enabled", "boolean"),
            ("loaded", "boolean"),
            ("compiled", "boolean"),
            ("record_id", "string|null"),
            ("refused", "object|null"),
            ("errors", "integer"),
            ("last_error", "string|null"),
        ],
    },
    Shape {
        name: "PermissionRuleList",
        summary: "Permission rules, from the root down. `enabled`: whether they are in force.",
        members: &[
            ("object", "=list"),
            ("data", "[PermissionRule]"),
            ("enabled", "boolean"),
            ("preflight", "Preflight"),
            ("record_id", "string|null"),
            ("refused", "object|null"),
        ],
    },
    Shape {
        name: "Preflight",
        summary: "What the loaded rules leave to the operator, or would once they are in force.",
        members: &[("actor", "string"), ("passes", "boolean"), ("rulings", "[PreflightRuling]")],
    },
    Shape {
        name: "PreflightRuling",
        summary: "What they say about one resource. `rule`: the one that decides, if one does.",
        members: &[("resource", "string"), ("allowed", "boolean"), ("rule", "string|null")],
    },
    Shape {
        name: "Tier",
        summary: "The ceilings of a tier. `null` is none.",
        members: &[
            ("object", "=tier"),
            ("tier", "string"),
            ("max_turns", "integer|null"),
            ("wall_clock_secs", "integer|null"),
            ("token_budget", "integer|null"),
            ("default_budget_usd", "number|null"),
            ("daily_cost_cap_usd", "number|null"),
            ("daily_loop_cap", "integer|null"),
            ("concurrency", "integer|null"),
            ("max_depth", "integer|null"),
            ("max_children", "integer|null"),
            ("max_tree_loops", "integer|null"),
            ("forbidden_tools", "[string]"),
            ("record_id", "string|null"),
            ("refused", "object|null"),
        ],
    },
    Shape {
        name: "ActorTier",
        summary: "The tier that an actor was given; `null` if it was taken back.",
        members: &[
            ("object", "=actor_tier"),
            ("actor", "string"),
            ("tier", "string|null"),
            ("record_id", "string|null"),
            ("refused", "object|null"),
        ],
    },
    Shape {
        name: "TierList",
        summary: "Tiers, from the narrowest to the widest. `unknown`: records about no tier.",
        members: &[
            ("object", "=list"),
            ("data", "[Tier]"),
            ("actors", "[ActorTier]"),
            ("unknown", "[object]"),
        ],
    },
    Shape {
        name: "Trust",
        summary: "How far an actor is trusted in a domain, from 0 to 1.",
        members: &[
            ("object", "=trust"),
            ("actor", "string"),
            ("domain", "string"),
            ("score", "number"),
            ("samples", "integer"),
        ],
    },
    Shape {
        name: "TrustList",
        summary: "How far actors are trusted, by actor and domain.",
        members: &[("object", "=list"), ("data", "[Trust]")],
    },
    Shape {
        name: "TrustHistory",
        summary: "How far an actor is trusted in a domain, and the verdicts, oldest first.",
        members: &[
            ("object", "=trust"),
            ("actor", "string"),
            ("domain", "string"),
            ("score", "number"),
            ("samples", "integer"),
            ("history", "[Verdict]"),
        ],
    },
    Shape {
        name: "Verdict",
        summary: "A verdict, and what it weighs now.",
        members: &[
            ("record_id", "string"),
            ("evaluator", "string"),
            ("verdict", "string"),
            ("received_at", "string"),
            ("weight", "number"),
            ("imported", "boolean"),
        ],
    },
    Shape {
        name: "ReviewRequest",
        summary: "A verdict on a run: `accept` or `reject`. Without a domain, in the run's own.",
        members: &[
            ("verdict", "string"),
            ("actor", "string"),
            ("domain?", "string"),
            ("notes?", "string"),
        ],
    },
    Shape {
        name: "LoopReview",
        summary: "A verdict that was stored, and how the run's actor stands from here on.",
        members: &[
            ("object", "=loop_review"),
            ("record_id", "string"),
            ("thread", "string"),
            ("actor", "string"),
            ("evaluator", "string"),
            ("domain", "string"),
            ("verdict", "string"),
            ("counted", "boolean"),
            ("score", "number"),
            ("samples", "integer"),
        ],
    },
    Shape {
        name: "Compensation",
        summary: "Where a run went on over something amiss, and what it assumed.",
        members: &[
            ("object", "=compensation"),
            ("record_id", "string"),
            ("thread", "string"),
            ("sequence", "integer"),
            ("received_at", "string"),
            ("seam", "string"),
            ("assumption", "string"),
            ("context", "any"),
        ],
    },
    Shape {
        name: "CompensationList",
        summary: "Compensations. `next_cursor` is there if there are more.",
        members: &[
            ("object", "=list"),
            ("data", "[Compensation]"),
            ("next_cursor?", "string"),
            ("capped?", "boolean"),
        ],
    },
    Shape {
        name: "CompensationCount",
        summary: "How often something was assumed at a seam.",
        members: &[
            ("object", "=compensation_count"),
            ("seam", "string"),
            ("assumption", "string"),
            ("count", "integer"),
            ("last_at", "string|null"),
            ("last_thread", "string|null"),
        ],
    },
    Shape {
        name: "CompensationCounts",
        summary: "Counts of compensations, most often first.",
        members: &[("object", "=list"), ("data", "[CompensationCount]")],
    },
    Shape {
        name: "Evaluation",
        summary: "An expression and what to evaluate it over.",
        members: &[
            ("context", "string"),
            ("expression", "string"),
            ("record?", "object"),
            ("resource?", "string"),
            ("timeout_ms?", "integer"),
            ("explain?", "boolean"),
        ],
    },
    Shape {
        name: "Evaluated",
        summary: "The result of an expression. Only where it is explained may there be a failure.",
        members: &[
            ("object", "=evaluation"),
            ("context", "string"),
            ("result?", "any"),
            ("failure?", "string"),
            ("elapsed_us", "integer"),
            ("explanation?", "Explanation"),
        ],
    },
    Shape {
        name: "Explanation",
        summary: "A part of an expression, or all of it, and what came of it.",
        members: &[
            ("source", "string"),
            ("column?", "integer"),
            ("finding", "string"),
            ("type?", "string"),
            ("value?", "any"),
            ("size?", "integer"),
            ("message?", "string"),
            ("round?", "object"),
            ("rounds?", "integer"),
            ("parts", "[Explanation]"),
            ("hidden?", "integer"),
        ],
    },
    Shape {
        name: "Health",
        summary: "The server answers.",
        members: &[
            ("object", "=health"),
            ("status", "=ok"),
            ("version", "string"),
            ("instance_did", "string"),
        ],
    },
    Shape {
        name: "Readiness",
        summary: "Records can be read and written.",
        members: &[("object", "=readiness"), ("status", "=ready")],
    },
    Shape {
        name: "FullHealth",
        summary: "How the instance is, and what decides about a record.",
        members: &[
            ("object", "=health"),
            ("status", "=ok"),
            ("version", "string"),
            ("instance_did", "string"),
            ("engine", "EngineHealth"),
            ("authorization", "object"),
        ],
    },
    Shape {
        name: "EngineHealth",
        summary: "What the engine has done and what it holds.",
        members: &[
            ("object", "=engine_health"),
            ("admission_available", "integer"),
            ("admission_capacity", "integer"),
            ("decisions_pending", "integer"),
            ("runs_live", "integer"),
            ("ingested_total", "integer"),
            ("uptime_secs", "integer"),
            ("work_loop", "object"),
            ("store", "object"),
            ("expression_cache?", "ExpressionCache"),
        ],
    },
    Shape {
        name: "ExpressionCache",
        summary: "The counters of the cache of compiled expressions.",
        members: &[
            ("object", "=expression_cache"),
            ("hits", "integer"),
            ("misses", "integer"),
            ("compile_errors", "integer"),
            ("hit_rate_pct", "number"),
            ("avg_compile_micros", "number"),
            ("size", "integer"),
            ("capacity", "integer"),
        ],
    },
    Shape {
        name: "OpenApi",
        summary: "An OpenAPI document.",
        members: &[("openapi", "string"), ("info", "object"), ("paths", "object")],
    },
];

/// Returns the JSON Schema of a shape. More members than these may come with a later version.
pub(super) fn schema(shape: &Shape) -> Object {
    let mut properties = Object::new();
    let mut required: Vec<&str> = Vec::new();
    for (name, kind) in shape.members {
        let bare = name.strip_suffix('?');
        if bare.is_none() {
            required.push(name);
        }
        properties.insert(bare.unwrap_or(name).into(), type_of(kind).into());
    }
    object! {
        "type": "object",
        "description": shape.summary,
        "properties": properties,
        "required": required,
    }
}

/// Returns a reference to a shape.
pub(super) fn reference(name: &str) -> Object {
    object! { "$ref": format!("#/components/schemas/{name}") }
}

fn type_of(kind: &str) -> Object {
    if kind == "any" {
        return Object::new();
    }
    if let Some(word) = kind.strip_prefix('=') {
        return object! { "const": word };
    }
    if let Some(element) = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']')) {
        return object! { "type": "array", "items": type_of(element) };
    }
    if let Some(kind) = kind.strip_suffix("|null") {
        return object! { "type": vec![Value::from(kind), Value::from("null")] };
    }
    if kind.starts_with(|first: char| first.is_ascii_uppercase()) {
        return reference(kind);
    }
    object! { "type": kind }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::super::endpoint::{Outcome, endpoints};
    use super::*;

    #[test]
    fn every_shape_that_is_named_is_there_and_every_one_there_is_named() {
        let mut named: BTreeSet<&str> = BTreeSet::from(["Error"]);
        for endpoint in endpoints() {
            named.extend(endpoint.takes);
            named.extend(endpoint.answers.iter().filter_map(|outcome| match outcome {
                Outcome::Json(_, shape) => Some(*shape),
                Outcome::Other(..) => None,
            }));
        }
        for (_, kind) in shapes().flat_map(|shape| shape.members) {
            let kind = kind.trim_matches(['[', ']']);
            named.extend(Some(kind).filter(|kind| kind.starts_with(char::is_uppercase)));
        }
        let there: BTreeSet<&str> = shapes().map(|shape| shape.name).collect();
        assert_eq!(named, there);
        assert_eq!(there.len(), shapes().count(), "two shapes of one name");
    }
}
