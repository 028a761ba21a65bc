//! `POST /v1/expr/eval`, and the cache behind it.

use spl::canon::Value;

use crate::client::Server;

fn evaluate(server: &Server, context: &str, expression: &str, record: &str) -> Value {
    let request = spl::object! {
        "context": context,
        "expression": expression,
        "record": spl::canon::parse(record.as_bytes(), spl::canon::Limits::DOOR).expect("JSON"),
    };
    let reply = server.post("/v1/expr/eval", Value::from(request).to_string());
    assert_eq!(reply.status, 200, "{expression}: {}", reply.text());
    reply.json().get("result").expect("a result").clone()
}

#[test]
fn an_expression_is_evaluated_over_the_record_it_is_given() {
    let server = Server::start();
    let call = r#"{"actor":"did:sync:agent:clerk","clock":7,
        "body":{"tool":"bash","args":{"cmd":"make"},"status":"error","content":"no rule"}}"#;
    for (expression, wanted) in [
        (r#"record.body.tool == "bash" && record.body.status != "ok""#, Value::from(true)),
        (r#"resource == "tool:bash""#, true.into()),
        (r#"record.act == "CALL" && record.clock == 7"#, true.into()),
        (r"current_actor()", "did:sync:agent:clerk".into()),
        (r"record.body.args.cmd", "make".into()),
        (r"size(record.body.content)", 7.into()),
        (r#"trust("did:sync:user:vera", "code") > 0.0"#, false.into()),
    ] {
        assert_eq!(evaluate(&server, "hook", expression, call), wanted, "{expression}");
    }
    let record = r#"{"act":"KNOW","actor":"did:sync:user:vera","thread":"th_a",
        "body":{"namespace":"acme","n":18446744073709551615}}"#;
    for (expression, wanted) in [
        (r#"resource == "record_write" && record.thread == "th_a""#, Value::from(true)),
        (r"current_namespace()", "acme".into()),
        (r"record.body.n", u64::MAX.into()),
        (r"has(record.body.missing)", false.into()),
    ] {
        assert_eq!(evaluate(&server, "permission", expression, record), wanted, "{expression}");
    }
}

#[test]
fn an_expression_that_is_none_says_where_and_why() {
    let server = Server::start();
    let mut said = String::new();
    for request in [
        r#"{"context":"hook"}"#,
        r#"{"expression":"true"}"#,
        r#"{"context":"trigger","expression":"true"}"#,
        r#"{"context":"kitchen","expression":"true"}"#,
        r#"{"context":"hook","expression":"true &&"}"#,
        r#"{"context":"hook","expression":"record.body.tol == \"bash\""}"#,
        r#"{"context":"permission","expression":"record.body.missing == 1"}"#,
        r#"{"context":"permission","expression":"1 / 0 == 1"}"#,
        r#"{"context":"hook","expression":"true","record":[]}"#,
        r#"{"context":"hook","expression":"true","record":{"body":{"tool":1}}}"#,
        r#"{"context":"hook","expression":"true","timeout_ms":0}"#,
        r#"{"context":"hook","expression":"true","explain":1}"#,
        r#"{"context":"hook","expression":"true","colour":"red"}"#,
    ] {
        said.push_str(&format!("{request}\n{}\n\n", server.post("/v1/expr/eval", request).shown()));
    }
    insta::assert_snapshot!("refused_expressions", said);
}

#[test]
fn an_answer_explains_itself_where_it_is_asked_to() {
    let server = Server::start();
    let ask = |expression: &str| {
        let call =
            r#"{"body":{"tool":"bash","args":{"n":2},"status":"error","content":"CONTENT"}}"#;
        let call = call.replace("CONTENT", &"x".repeat(5_000));
        let record = spl::canon::parse(call.as_bytes(), spl::canon::Limits::DOOR).expect("JSON");
        let request = spl::object! {
            "context": "hook", "expression": expression, "explain": true, "record": record,
        };
        let reply = server.post("/v1/expr/eval", Value::from(request).to_string());
        assert_eq!(reply.status, 200, "{expression}: {}", reply.text());
        reply.json()
    };
    let answer = ask(r#"record.body.status == "ok" || record.body.args.n > 1"#);
    assert_eq!(answer.get("result"), Some(&true.into()));
    insta::assert_snapshot!(
        "explanation",
        serde_json::to_string_pretty(
            &serde_json::from_str::<serde_json::Value>(
                &answer.get("explanation").expect("an explanation").to_string(),
            )
            .expect("JSON")
        )
        .expect("text")
    );
    let answer = ask("record.body.args.none == 1");
    assert_eq!(answer.get("result"), None);
    assert_eq!(answer.get("failure"), Some(&"there is no key `none`".into()));
    // A hook sees no more of an answer, so neither does who tries one out.
    let answer = ask("size(record.body.content) == 4096");
    assert_eq!(answer.get("result"), Some(&true.into()));
}

#[test]
fn the_cache_counts() {
    let server = Server::start();
    let stats = |key: &str| {
        let stats = server.get("/v1/engine/expression_cache/stats").json();
        stats.get(key).and_then(Value::as_u64)
    };
    assert_eq!((stats("hits"), stats("misses"), stats("size")), (Some(0), Some(0), Some(0)));
    for _ in 0..3 {
        evaluate(&server, "hook", "true", "{}");
    }
    server.post("/v1/expr/eval", r#"{"context":"hook","expression":"("}"#);
    assert_eq!((stats("hits"), stats("misses"), stats("size")), (Some(2), Some(2), Some(1)));
    assert_eq!((stats("compile_errors"), stats("capacity")), (Some(1), Some(1024)));
    assert_eq!(stats("hit_rate_pct"), Some(50));
    let detailed = server.get("/v1/engine/health?details=true").json();
    let inside = detailed.get("expression_cache").and_then(|it| it.get("hits"));
    assert_eq!(inside, Some(&2.into()));
    assert_eq!(server.get("/v1/engine/health").json().get("expression_cache"), None);
}
