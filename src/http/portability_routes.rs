//! The routes by which records move between stores, and go from this one.

use super::endpoint::{Does, Endpoint, Method, Needs, Outcome, Parameter};
use super::portability;

/// The shape of lines to import: a record each, and no JSON as a whole.
pub(super) const LINES: &str = "ImportLines";

/// The most bytes of lines that are imported at once.
pub(super) const MAX_IMPORT_BYTES: usize = 8 * 1024 * 1024;

const fn at(method: Method, path: &'static str, name: &'static str, does: Does) -> Endpoint {
    Endpoint {
        // It is about the instance as a whole.
        needs: Needs::Operator,
        resource: Some("record_write"),
        ..Endpoint::at(method, path, name, does)
    }
}

/// Each of them.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        summary: "Streams records with their receipts, a line each, in the order of arrival. What was \
                  erased is left out.",
        query: &[
            Parameter {
                name: "thread",
                kind: "string",
                summary: "Only records of this thread; of several with a line end between them.",
            },
            Parameter {
                name: "since",
                kind: "integer",
                summary: "Only records that arrived after this sequence.",
            },
        ],
        resource: Some("record_read"),
        answers: &[Outcome::Other(200, "application/x-ndjson")],
        ..at(
            Method::Get,
            "/v1/portability/export",
            "export_records",
            Does::Streams(|state, call| Box::pin(portability::export(state, call))),
        )
    },
    Endpoint {
        summary: "Takes over records of another store, a line each, in one commit. A line that is \
                  none refuses itself alone.",
        query: &[Parameter {
            name: "strict",
            kind: "boolean",
            summary: "With `true`, nothing from the first refused line on is taken.",
        }],
        takes: Some(LINES),
        answers: &[Outcome::Json(200, "Imported")],
        ..at(
            Method::Post,
            "/v1/portability/import",
            "import_records",
            Does::Answers(portability::import),
        )
    },
    Endpoint {
        summary: "Writes an imported record of the configuration once more, as one of this instance.",
        takes: Some("Adoption"),
        answers: &[Outcome::Json(201, "Record")],
        ..at(
            Method::Post,
            "/v1/portability/adopt",
            "adopt_record",
            Does::Answers(portability::adopt),
        )
    },
    Endpoint {
        summary: "Erases records, and with `purge` takes their words out of the store.",
        resource: Some("record_delete"),
        takes: Some("ErasureRequest"),
        answers: &[Outcome::Json(200, "Erasure")],
        ..at(Method::Post, "/v1/erasure", "erase_records", Does::Answers(portability::erase))
    },
];
