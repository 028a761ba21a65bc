//! `POST /v1/records/query`.

use spl::canon::{Limits, Value, parse};
use spl::record::{Draft, Origin};

use crate::client::{Server, note};

fn found(server: &Server, query: &str) -> Vec<i64> {
    let reply = server.post("/v1/records/query", query);
    assert_eq!(reply.status, 200, "{query}: {}", reply.text());
    reply.data().iter().filter_map(|it| it.get("clock").and_then(Value::as_i64)).collect()
}

fn filled() -> Server {
    let server = Server::start();
    // From elsewhere, so that the registry has no entry to be found.
    let body = r#"{"tool":"bash","n":1,"ok":true,"namespace":"acme"}"#;
    let record = note("th_a", 0, "BODY").replace(r#"{"text":"BODY"}"#, body);
    let draft = Draft::from_envelope(parse(record.as_bytes(), Limits::DOOR).expect("JSON"));
    let store = server.engine.store();
    let prepared = store.prepare(draft.expect("a draft")).expect("prepared");
    store.append(prepared, Origin::Import).expect("stored");
    for (clock, body) in [
        (1, r#"{"tool":"Bash","n":2,"ok":false}"#),
        (2, r#"{"tool":"read","n":2.5,"deep":{"er":"x"}}"#),
        (3, r#"{"tool":null,"n":"2","kind":"x.note.v1"}"#),
        (4, r#"{"n":-7,"tool":"b%_*sh"}"#),
    ] {
        let record = note("th_a", clock, "BODY").replace(r#"{"text":"BODY"}"#, body);
        assert_eq!(server.post("/v1/records", record).status, 201);
    }
    server
}

#[test]
fn every_operator_finds_what_it_says() {
    let server = filled();
    let table: &[(&str, &[i64])] = &[
        ("{}", &[0, 1, 2, 3, 4]),
        (r#"{"body.tool":"bash"}"#, &[0]),
        (r#"{"body.tool":{"$eq":"bash"}}"#, &[0]),
        (r#"{"body.tool":{"$ne":"bash"}}"#, &[1, 2, 3, 4]),
        (r#"{"body.tool":null}"#, &[3]),
        (r#"{"body.n":{"$gt":1}}"#, &[1, 2]),
        (r#"{"body.n":{"$gte":1}}"#, &[0, 1, 2]),
        (r#"{"body.n":{"$lt":2}}"#, &[0, 4]),
        (r#"{"body.n":{"$lte":2}}"#, &[0, 1, 4]),
        (r#"{"body.n":2.0}"#, &[1]),
        (r#"{"body.n":"2"}"#, &[3]),
        (r#"{"body.n":{"$gt":0,"$lt":2}}"#, &[0]),
        (r#"{"body.tool":{"$in":["bash","read"]}}"#, &[0, 2]),
        (r#"{"body.tool":{"$in":[]}}"#, &[]),
        (r#"{"body.tool":{"$nin":["bash","read"]}}"#, &[1, 3, 4]),
        (r#"{"body.tool":{"$like":"b%"}}"#, &[0, 4]),
        (r#"{"body.tool":{"$like":"b_sh"}}"#, &[0]),
        (r#"{"body.tool":{"$ilike":"BASH"}}"#, &[0, 1]),
        (r#"{"body.ok":true}"#, &[0]),
        (r#"{"body.ok":{"$exists":true}}"#, &[0, 1]),
        (r#"{"body.ok":{"$exists":false}}"#, &[2, 3, 4]),
        (r#"{"body.tool":{"$exists":true}}"#, &[0, 1, 2, 3, 4]),
        (r#"{"body.deep.er":"x"}"#, &[2]),
        (r#"{"$or":[{"clock":0},{"clock":3}]}"#, &[0, 3]),
        (r#"{"$and":[{"body.n":{"$gte":1}},{"body.n":{"$lte":2}}]}"#, &[0, 1]),
        (r#"{"$not":{"body.tool":"bash"}}"#, &[1, 2, 3, 4]),
        (r#"{"body.n":{"$not":{"$gt":1}}}"#, &[0, 3, 4]),
        (r#"{"act":"KNOW","thread":"th_a","clock":{"$gte":3}}"#, &[3, 4]),
        (r#"{"namespace":"acme"}"#, &[0]),
        (r#"{"body.kind":"x.note.v1"}"#, &[3]),
        (r#"{"data_type":"SCALAR","actor":"did:sync:user:vera","clock":2}"#, &[2]),
    ];
    for (filter, wanted) in table {
        assert_eq!(found(&server, &format!("{{\"filter\":{filter}}}")), *wanted, "{filter}");
    }
}

#[test]
fn a_query_sorts_and_pages() {
    let server = filled();
    let sorted = r#"{"filter":{},"sort":{"clock":-1},"limit":2"#;
    assert_eq!(found(&server, &format!("{sorted}}}")), [4, 3]);
    let page = server.post("/v1/records/query", format!("{sorted}}}"));
    let cursor = page.string("next_cursor");
    assert_eq!(found(&server, &format!("{sorted},\"cursor\":\"{cursor}\"}}")), [2, 1]);
    assert_eq!(found(&server, &format!("{sorted},\"offset\":4}}")), [0]);
    assert_eq!(
        found(&server, r#"{"filter":{},"sort":{"body.n":1},"thread":"th_b"}"#),
        [] as [i64; 0]
    );
    let capped = server.post("/v1/records/query", r#"{"filter":{},"limit":1001}"#).json();
    assert_eq!(capped.get("capped"), Some(&true.into()));
    let explained = r#"{"filter":{"thread":"th_a","body.tool":"bash"},"explain":true,"limit":0}"#;
    insta::assert_snapshot!("a_plan", server.post("/v1/records/query", explained).shown());
}

#[test]
fn a_query_that_is_none_says_why() {
    let server = filled();
    let mut said = String::new();
    for query in [
        "{}",
        r#"{"filter":[]}"#,
        r#"{"filter":{"body":1}}"#,
        r#"{"filter":{"body.":1}}"#,
        r#"{"filter":{"body.a b":1}}"#,
        r#"{"filter":{"body.a\"') OR 1=1 --":1}}"#,
        r#"{"filter":{"seq":1}}"#,
        r#"{"filter":{"clock":{"$regex":"x"}}}"#,
        r#"{"filter":{"$where":"1=1"}}"#,
        r#"{"filter":{"clock":{"a":1}}}"#,
        r#"{"filter":{"clock":[1]}}"#,
        r#"{"filter":{"clock":{"$in":1}}}"#,
        r#"{"filter":{"clock":{"$exists":1}}}"#,
        r#"{"filter":{"clock":18446744073709551616}}"#,
        r#"{"filter":{},"sort":{"clock; DROP TABLE records":1}}"#,
        r#"{"filter":{},"sort":{"clock":1,"act":1}}"#,
        r#"{"filter":{},"sort":"clock"}"#,
        r#"{"filter":{},"limit":-1}"#,
        r#"{"filter":{},"cursor":"x"}"#,
        r#"{"filter":{},"group_by":["act"]}"#,
        "not json",
    ] {
        said.push_str(&format!("{query}\n{}\n\n", server.post("/v1/records/query", query).shown()));
    }
    insta::assert_snapshot!("refused_queries", said);
}

/// Values are bound, never spelled out.
#[test]
fn values_of_a_query_are_values() {
    let server = filled();
    for text in ["' OR '1'='1", "x'); DROP TABLE records; --", "\\", "%", "?1", "\u{0}"] {
        let text = Value::from(text).to_string();
        for filter in [
            format!("{{\"thread\":{text}}}"),
            format!("{{\"body.tool\":{{\"$eq\":{text}}}}}"),
            format!("{{\"body.tool\":{{\"$in\":[{text}]}}}}"),
            format!("{{\"body.deep.er\":{{\"$like\":{text}}}}}"),
        ] {
            let all = text == "\"%\"" && filter.contains("$like");
            let wanted: &[i64] = if all { &[2] } else { &[] };
            assert_eq!(found(&server, &format!("{{\"filter\":{filter}}}")), wanted, "{filter}");
        }
    }
    assert_eq!(found(&server, r#"{"filter":{}}"#).len(), 5);
}

/// However a filter is built, the answer is one of ours.
#[test]
fn large_filters_are_answered_or_refused() {
    let server = filled();
    let nested = |depth: usize, open: &str, close: &str| {
        format!("{{\"filter\":{}{{\"clock\":1}}{}}}", open.repeat(depth), close.repeat(depth))
    };
    for depth in [10, 30, 60, 120] {
        for (open, close) in [("{\"$not\":", "}"), ("{\"$and\":[", "]}"), ("{\"$or\":[", "]}")] {
            let reply = server.post("/v1/records/query", nested(depth, open, close));
            let fine = reply.status == 200 || reply.status == 400;
            assert!(fine, "{open} {depth} deep: {} {}", reply.status, reply.text());
        }
    }
    let many = |count: usize| {
        let terms: Vec<String> = (0..count).map(|n| format!("{{\"clock\":{n}}}")).collect();
        format!("{{\"filter\":{{\"$or\":[{}]}}}}", terms.join(","))
    };
    assert_eq!(found(&server, &many(500)), [0, 1, 2, 3, 4]);
    assert_eq!(server.post("/v1/records/query", many(501)).code(), "INVALID_QUERY");
    assert_eq!(server.post("/v1/records/query", many(100_000)).code(), "INVALID_QUERY");
}
