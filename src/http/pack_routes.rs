//! The routes of packs of policy hooks, in the one table of routes.

use super::endpoint::{Does, Endpoint, Method, Needs, Outcome};
use super::packs;
use crate::engine::Scope;

/// Each of them.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        summary: "Says what packs may ask of this host, and how far their hooks count here.",
        needs: Needs::AnyOf(&[Scope::ConfigRead, Scope::RecordsRead]),
        resource: Some("config_read"),
        answers: &[Outcome::Json(200, "HookCapabilities")],
        ..Endpoint::at(
            Method::Get,
            "/v1/hooks/capabilities",
            "find_hook_capabilities",
            Does::Answers(packs::capabilities),
        )
    },
    Endpoint {
        summary: "Lists the packs that are deployed, by name, each in its revision in force.",
        needs: Needs::AnyOf(&[Scope::ConfigRead]),
        resource: Some("config_read"),
        answers: &[Outcome::Json(200, "PolicyPackList")],
        ..Endpoint::at(
            Method::Get,
            "/v1/policy/packs",
            "list_policy_packs",
            Does::Answers(packs::list),
        )
    },
    Endpoint {
        summary: "Deploys packs: all of them or none. What is in force already stays, with status \
                  200 if that is all of it.",
        resource: Some("record_write"),
        takes: Some("PolicyPackRequest"),
        answers: &[
            Outcome::Json(201, "PolicyPacksDeployed"),
            Outcome::Json(200, "PolicyPacksDeployed"),
        ],
        ..Endpoint::at(
            Method::Post,
            "/v1/policy/packs",
            "deploy_policy_packs",
            Does::Answers(packs::deploy),
        )
    },
];
