//! The description of the routes as an OpenAPI document, read off the table of routes.

mod refusals;
mod shapes;

use super::ApiState;
use super::answer::Answer;
use super::call::Call;
use super::endpoint::{Endpoint, Method, Needs, Outcome, Parameter, endpoints};
use super::problem::Problem;
use crate::canon::{Object, Value};
use crate::code::Code;
use crate::object;
use shapes::{reference, schema, shapes};

/// `GET /openapi.json`
#[expect(clippy::unnecessary_wraps, reason = "every route answers like this")]
pub(super) fn find(_: &ApiState, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(document()))
}

/// Returns the OpenAPI document of this version.
pub fn document() -> Object {
    let mut paths = Object::new();
    for endpoint in endpoints() {
        let path = paths.entry(endpoint.path.into()).or_insert_with(|| Object::new().into());
        if let Value::Object(methods) = path {
            methods.insert(word(endpoint.method).into(), operation(endpoint).into());
        }
    }
    object! {
        "openapi": "3.1.0",
        "info": object! {
            "title": "spl",
            "summary": "Teach a running agent a lesson with one write.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": object! { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": vec![object! { "url": "http://127.0.0.1:9100" }],
        "paths": paths,
        "components": object! {
            "schemas": schemas(),
            "responses": refusals::meanings(),
            "securitySchemes": object! {
                "bearer": object! { "type": "http", "scheme": "bearer" },
                "api_key": object! { "type": "apiKey", "in": "header", "name": "x-api-key" },
            },
        },
    }
}

const fn word(method: Method) -> &'static str {
    match method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Delete => "delete",
    }
}

fn operation(endpoint: &Endpoint) -> Object {
    let mut parameters: Vec<Object> = Vec::new();
    let open = endpoint.path.split('/').filter_map(|segment| {
        segment.strip_prefix('{').and_then(|segment| segment.strip_suffix('}'))
    });
    parameters.extend(open.map(|name| {
        object! {
            "in": "path",
            "name": name,
            "required": true,
            "schema": object! { "type": "string" },
        }
    }));
    parameters.extend(endpoint.query.iter().map(parameter));
    let mut operation = object! {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": needs(endpoint.needs),
        "responses": responses(endpoint),
        "security": security(endpoint.needs),
    };
    if !parameters.is_empty() {
        operation.insert("parameters".into(), parameters.into());
    }
    if let Some(shape) = endpoint.takes {
        let body = object! {
            "required": true,
            "content": content(endpoint.media(), reference(shape)),
        };
        operation.insert("requestBody".into(), body.into());
    }
    operation
}

fn parameter(parameter: &Parameter) -> Object {
    object! {
        "in": "query",
        "name": parameter.name,
        "description": parameter.summary,
        "required": false,
        "schema": object! { "type": parameter.kind },
    }
}

fn needs(needs: Needs) -> String {
    match needs {
        Needs::Nothing => "Open to everybody.".into(),
        Needs::Caller => "Takes any valid bearer.".into(),
        Needs::AnyOf(scopes) => {
            let scopes: Vec<String> = scopes.iter().map(|scope| format!("`{scope}`")).collect();
            format!("Takes a bearer with {} or `admin`.", scopes.join(", "))
        }
        Needs::Operator => "Takes the operator, or a bearer with `admin`.".into(),
        Needs::Bootstrap => "Takes the token that the server was started with, as a bearer.".into(),
    }
}

/// Either header is enough.
fn security(needs: Needs) -> Vec<Object> {
    match needs {
        Needs::Nothing => Vec::new(),
        _ => vec![
            object! { "bearer": Vec::<Value>::new() },
            object! { "api_key": Vec::<Value>::new() },
        ],
    }
}

fn responses(endpoint: &Endpoint) -> Object {
    let mut responses = refusals::of(endpoint);
    responses.extend(endpoint.answers.iter().map(response));
    responses
}

fn response(outcome: &Outcome) -> (String, Value) {
    let (status, content) = match outcome {
        Outcome::Json(status, shape) => (status, content("application/json", reference(shape))),
        // Each event is one thing, of which OpenAPI 3.1 cannot speak.
        Outcome::Other(status, media @ "text/event-stream") => {
            (status, content(media, Object::new()))
        }
        Outcome::Other(status, media) => (status, content(media, object! { "type": "string" })),
    };
    let meaning = if *status == 201 { "It is new." } else { "It is there." };
    (status.to_string(), object! { "description": meaning, "content": content }.into())
}

fn content(media: &str, schema: Object) -> Object {
    let mut content = Object::new();
    content.insert(media.into(), object! { "schema": schema }.into());
    content
}

fn schemas() -> Object {
    let mut schemas: Object =
        shapes().map(|shape| (shape.name.into(), schema(shape).into())).collect();
    if let Some(Value::Object(error)) = schemas.get_mut("Error")
        && let Some(Value::Object(properties)) = error.get_mut("properties")
        && let Some(Value::Object(code)) = properties.get_mut("code")
    {
        let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        code.insert("enum".into(), codes.into());
    }
    schemas
}
