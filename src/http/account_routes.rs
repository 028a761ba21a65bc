//! The routes of service accounts, tokens and identity, in the one table of routes.

use super::endpoint::{Does, Endpoint, Method, Needs, Outcome, Parameter};
use super::{accounts, identity, tokens};

const REASON: Parameter =
    Parameter { name: "reason", kind: "string", summary: "Why; it stands in the records." };

const fn at(method: Method, path: &'static str, name: &'static str, does: Does) -> Endpoint {
    Endpoint {
        resource: Some("account_write"),
        answers: &[Outcome::Json(200, "ServiceAccount")],
        ..Endpoint::at(method, path, name, does)
    }
}

/// Each of them.
pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        summary: "Makes a service account, and a key of it that is in this answer and nowhere else.",
        takes: Some("ServiceAccountRequest"),
        answers: &[Outcome::Json(201, "ServiceAccount")],
        ..at(
            Method::Post,
            "/v1/service-accounts",
            "create_service_account",
            Does::Answers(accounts::create),
        )
    },
    Endpoint {
        summary: "Lists the service accounts, revoked ones too, without any key.",
        answers: &[Outcome::Json(200, "ServiceAccountList")],
        resource: Some("config_read"),
        ..at(
            Method::Get,
            "/v1/service-accounts",
            "list_service_accounts",
            Does::Answers(accounts::list),
        )
    },
    Endpoint {
        summary: "Returns a service account by its id or its name, with its tokens.",
        answers: &[Outcome::Json(200, "ServiceAccountDetails")],
        resource: Some("config_read"),
        ..at(
            Method::Get,
            "/v1/service-accounts/{id}",
            "find_service_account",
            Does::Answers(accounts::find),
        )
    },
    Endpoint {
        summary: "Revokes a service account: none of its tokens opens anything from then on.",
        query: &[REASON],
        answers: &[Outcome::Json(200, "RevokedServiceAccount")],
        ..at(
            Method::Delete,
            "/v1/service-accounts/{id}",
            "revoke_service_account",
            Does::Answers(accounts::revoke),
        )
    },
    Endpoint {
        summary: "Puts one new key in the place of every token of an account. Whoever holds one of \
                  them may, and the operator.",
        needs: Needs::Caller,
        answers: &[Outcome::Json(200, "RotatedKey")],
        ..at(
            Method::Post,
            "/v1/service-accounts/{id}/rotate-key",
            "rotate_service_account_key",
            Does::Answers(accounts::rotate),
        )
    },
    Endpoint {
        summary: "Makes a token of an account, or of a new account that has its name. Its secret is \
                  in this answer and nowhere else.",
        takes: Some("TokenRequest"),
        answers: &[Outcome::Json(201, "MintedToken")],
        ..at(Method::Post, "/v1/tokens", "create_token", Does::Answers(tokens::create))
    },
    Endpoint {
        summary: "Lists the tokens, revoked ones too, without their secrets.",
        answers: &[Outcome::Json(200, "TokenList")],
        resource: Some("config_read"),
        ..at(Method::Get, "/v1/tokens", "list_tokens", Does::Answers(tokens::list))
    },
    Endpoint {
        summary: "Revokes the live tokens with this id or name.",
        answers: &[Outcome::Json(200, "RevokedTokens")],
        ..at(Method::Delete, "/v1/tokens/{id}", "revoke_token", Does::Answers(tokens::revoke))
    },
    Endpoint {
        summary: "Gives a token a new secret: the same account, scopes and end. Whoever holds it may, \
                  and the operator.",
        needs: Needs::Caller,
        answers: &[Outcome::Json(200, "RotatedToken")],
        ..at(Method::Post, "/v1/tokens/{id}/rotate", "rotate_token", Does::Answers(tokens::rotate))
    },
    Endpoint {
        summary: "Returns who the caller is to this instance.",
        needs: Needs::Caller,
        answers: &[Outcome::Json(200, "Identity")],
        resource: None,
        ..at(Method::Get, "/v1/identity", "find_identity", Does::Answers(identity::find))
    },
];
