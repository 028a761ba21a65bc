//! The routes of namespaces, in the one table of routes.

use super::endpoint::{Does, Endpoint, Method, Needs, Outcome, Parameter};
use super::namespaces;
use crate::engine::Scope;

const STATUS: Parameter = Parameter {
    name: "status",
    kind: "string",
    summary: "Only those that are `active`, `archived` or `deleted` [default: all but deleted].",
};

const fn at(method: Method, path: &'static str, name: &'static str, does: Does) -> Endpoint {
    Endpoint {
        needs: Needs::AnyOf(&[Scope::ConfigWrite]),
        resource: Some("record_write"),
        answers: &[Outcome::Json(200, "Namespace")],
        ..Endpoint::at(method, path, name, does)
    }
}

/// Each of them.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        summary: "Lists namespaces by path. Records may be written into those that are `open`.",
        needs: Needs::AnyOf(&[Scope::ConfigRead, Scope::RecordsRead]),
        resource: Some("config_read"),
        query: &[STATUS],
        answers: &[Outcome::Json(200, "NamespaceList")],
        ..at(Method::Get, "/v1/namespaces", "list_namespaces", Does::Answers(namespaces::list))
    },
    Endpoint {
        summary: "Registers a namespace, or makes one active again. Its parent must take records.",
        takes: Some("NewNamespace"),
        answers: &[Outcome::Json(201, "Namespace"), Outcome::Json(200, "Namespace")],
        ..at(Method::Post, "/v1/namespaces", "create_namespace", Does::Answers(namespaces::create))
    },
    Endpoint {
        summary: "Archives a namespace: it and all below it take no more records.",
        ..at(
            Method::Post,
            "/v1/namespaces/{id}/archive",
            "archive_namespace",
            Does::Answers(namespaces::archive),
        )
    },
    Endpoint {
        summary: "Archives a namespace and lists it no more. Its records stay.",
        ..at(
            Method::Delete,
            "/v1/namespaces/{id}",
            "delete_namespace",
            Does::Answers(namespaces::delete),
        )
    },
];
