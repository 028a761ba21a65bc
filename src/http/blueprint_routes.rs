//! The routes of blueprints, in the one table of routes.

use super::blueprints;
use super::endpoint::{Does, Endpoint, Method, Needs, Outcome};
use crate::engine::Scope;

/// Whoever writes records may install content. What else a blueprint brings is gated as it is at the
/// records door.
const INSTALLS: Needs = Needs::AnyOf(&[Scope::RecordsWrite, Scope::ConfigWrite]);

/// Each of them.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        method: Method::Get,
        path: "/v1/blueprints",
        name: "list_blueprints",
        summary: "Lists what was installed, in the order of arrival.",
        needs: Needs::AnyOf(&[Scope::ConfigRead]),
        resource: Some("config_read"),
        query: &[],
        takes: None,
        answers: &[Outcome::Json(200, "BlueprintInstallationList")],
        does: Does::Answers(blueprints::list),
    },
    Endpoint {
        method: Method::Post,
        path: "/v1/blueprints/plan",
        name: "plan_blueprint",
        summary: "Shows what installing a blueprint would do. Writes nothing.",
        needs: INSTALLS,
        resource: Some("record_write"),
        query: &[],
        takes: Some("BlueprintPlanRequest"),
        answers: &[Outcome::Json(200, "BlueprintPlan")],
        does: Does::Answers(blueprints::plan),
    },
    Endpoint {
        method: Method::Post,
        path: "/v1/blueprints/materialize",
        name: "materialize_blueprint",
        summary: "Installs a blueprint: all of it or nothing. Twice changes nothing, with status 200.",
        needs: INSTALLS,
        resource: Some("record_write"),
        query: &[],
        takes: Some("BlueprintInstallRequest"),
        answers: &[
            Outcome::Json(201, "BlueprintInstalled"),
            Outcome::Json(200, "BlueprintInstalled"),
        ],
        does: Does::Answers(blueprints::materialize),
    },
];
