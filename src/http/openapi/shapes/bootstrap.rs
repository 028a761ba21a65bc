//! The shapes of the first account.

use super::Shape;

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "BootstrapRequest",
        summary: "The first account. By default `sa-bootstrap-env` with the scope `admin`.",
        members: &[
            ("service_account_id?", "string"),
            ("display_name?", "string"),
            ("scopes?", "[string]"),
            ("namespace?", "string"),
            ("with_token?", "BroughtToken"),
        ],
    },
    Shape {
        name: "BroughtToken",
        summary: "A token whose secret stays with whoever asks: `token_id` is its SHA-256.",
        members: &[("token_id", "string"), ("env_tag?", "string"), ("created_at?", "string")],
    },
    Shape {
        name: "BootstrapResult",
        summary: "The first account and its token. `bearer` is there, once, if none was brought.",
        members: &[
            ("object", "=bootstrap_result"),
            ("service_account_id", "string"),
            ("sa_record_id", "string"),
            ("namespace", "string"),
            ("token_id", "string"),
            ("token_record_id", "string"),
            ("bearer?", "string"),
        ],
    },
];
