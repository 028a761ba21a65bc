//! Who gets in where: each route asked by each kind of caller.

mod rows;

use std::collections::{BTreeMap, BTreeSet};

use spl::canon::Value;

use crate::client::{Reply, Request, Server};
use rows::{Opens, ROWS, Row};

/// A kind of caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Nobody,
    BadToken,
    Expired,
    Revoked,
    /// Whoever has these scopes and grains, and may speak as every actor.
    Scoped(&'static str),
    /// An account for one actor.
    Member,
    /// An account that speaks as itself alone.
    Mute,
    /// A process of the same user, inside of a run.
    Agent,
    Admin,
    Insecure,
    Socket,
}

/// Tells whether a route takes lines instead of one object.
fn takes_lines(row: &Row) -> bool {
    row.route.ends_with("/retain") || row.route.ends_with("/portability/import")
}

impl Who {
    const ALL: &[Self] = &[
        Self::Nobody,
        Self::BadToken,
        Self::Expired,
        Self::Revoked,
        Self::Scoped("records:read"),
        Self::Scoped("records:write"),
        Self::Scoped("config:read"),
        Self::Scoped("config:write"),
        Self::Scoped("records:read,records:write,config:read,config:write"),
        Self::Scoped("thread:th_a:read"),
        Self::Scoped("thread:th_a:write"),
        Self::Scoped("thread:th_b:read"),
        Self::Scoped("thread:th_b:write"),
        Self::Scoped("namespace:default:read"),
        Self::Scoped("namespace:team:read"),
        Self::Scoped("namespace:team:write"),
        Self::Member,
        Self::Mute,
        Self::Agent,
        Self::Admin,
        Self::Insecure,
        Self::Socket,
    ];

    const STRANGERS: &[Self] = &[Self::Nobody, Self::BadToken, Self::Expired, Self::Revoked];

    const OPERATORS: &[Self] = &[Self::Admin, Self::Insecure, Self::Socket];

    fn is_stranger(self) -> bool {
        Self::STRANGERS.contains(&self)
    }

    fn is_operator(self) -> bool {
        Self::OPERATORS.contains(&self)
    }

    /// The scopes that it has everywhere, and those that it has somewhere.
    fn scopes(self) -> (&'static str, &'static str) {
        match self {
            Self::Scoped(words) if words.starts_with("thread:") || words.starts_with("namesp") => {
                // The root has every namespace below it.
                let everywhere = if words.contains(":default:") { "records:read" } else { "" };
                let way = if words.ends_with("read") { "records:read" } else { "records:write" };
                (everywhere, way)
            }
            Self::Scoped(words) => (words, words),
            Self::Member | Self::Mute | Self::Agent => {
                ("records:read,records:write", "records:read,records:write")
            }
            _ => ("", ""),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Scoped(words) => words.to_owned(),
            other => format!("{other:?}").to_lowercase(),
        }
    }
}

/// A server, and a way to it for one kind of caller.
struct Seat {
    server: Server,
    who: Who,
    bearer: Option<String>,
    /// A record on `th_a`.
    a: String,
}

impl Seat {
    fn new(who: Who) -> Self {
        let server = Server::start();
        let a = server.note("th_a", 0, "a");
        server.note("th_b", 0, "b");
        let bearer = match who {
            Who::Nobody | Who::Agent | Who::Insecure | Who::Socket => None,
            Who::BadToken => Some(format!("spl_prod_sa-ci_{}", "0".repeat(64))),
            Who::Expired => Some(server.expired_token()),
            Who::Revoked => Some(server.revoked_token()),
            Who::Scoped(scopes) => Some(server.token(scopes)),
            Who::Member => Some(server.member("did:sync:user:vera")),
            Who::Mute => Some(server.member("")),
            Who::Admin => Some(server.token("admin")),
        };
        Self { server, who, bearer, a }
    }

    fn request(&self, method: &str, path: &str) -> Request {
        let path = path.replace("{a}", &self.a);
        match (self.who, &self.bearer) {
            (Who::Socket, _) => self.server.request(method, &path),
            (Who::Agent, _) => self.server.agent(method, &path),
            (Who::Insecure, _) => self.server.insecure(method, &path),
            (_, Some(bearer)) => self.server.tcp(method, &path).bearer(bearer),
            (_, None) => self.server.tcp(method, &path),
        }
    }

    fn ask(&self, row: &Row) -> Reply {
        let method = row.route.split(' ').next().expect("a method");
        let request = self.request(method, row.path);
        match row.body {
            Some(body) if takes_lines(row) => {
                request.header("content-type", "application/x-ndjson").body(body).send()
            }
            Some(body) => request.json(body).send(),
            None => request.send(),
        }
    }
}

/// Returns callers in words, those that are of one kind and all there as that kind.
fn together(mut callers: Vec<Who>) -> String {
    let mut words = Vec::new();
    for (kind, of_kind) in [("strangers", Who::STRANGERS), ("operators", Who::OPERATORS)] {
        if of_kind.iter().all(|who| callers.contains(who)) {
            callers.retain(|who| !of_kind.contains(who));
            words.push(kind.to_owned());
        }
    }
    words.extend(callers.into_iter().map(Who::name));
    words.join(" | ")
}

/// Returns the status, and the code of a refusal.
fn told(reply: &Reply) -> String {
    if reply.status < 400 {
        reply.status.to_string()
    } else {
        format!("{} {}", reply.status, reply.code())
    }
}

/// What can be said of an answer by who asks and whom the route is for; `None` if the route itself
/// decides, as it does for whoever may come in.
fn expected(who: Who, opens: Opens) -> Option<&'static str> {
    const UNKNOWN: Option<&str> = Some("401 AUTH_REQUIRED");
    const REFUSED: Option<&str> = Some("403 SCOPE_FORBIDDEN");
    let has = |scopes: &str, wanted: &[&str]| scopes.split(',').any(|it| wanted.contains(&it));
    match opens {
        Opens::All => None,
        _ if who.is_stranger() => UNKNOWN,
        _ if who.is_operator() => None,
        Opens::Known => None,
        Opens::To(wanted) if has(who.scopes().1, wanted) => None,
        Opens::To(_) | Opens::Operator => REFUSED,
    }
}

#[test]
fn every_route_has_a_row() {
    let document = Value::from(spl::http::document());
    let paths = document.get("paths").and_then(Value::as_object).expect("paths");
    let mut routes = BTreeSet::new();
    for (path, methods) in paths {
        for method in methods.as_object().expect("methods").keys() {
            routes.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    let rows: BTreeSet<String> = ROWS.iter().map(|row| row.route.to_owned()).collect();
    assert_eq!(rows.len(), ROWS.len(), "a route has one row");
    let missing: Vec<_> = routes.difference(&rows).collect();
    let gone: Vec<_> = rows.difference(&routes).collect();
    assert!(missing.is_empty(), "routes without a row in tests/http/matrix/rows.rs: {missing:?}");
    assert!(gone.is_empty(), "rows of routes that are not there: {gone:?}");
}

#[test]
fn each_caller_gets_in_where_it_may() {
    let columns: Vec<(Who, Vec<String>)> = std::thread::scope(|scope| {
        let ask = |who: Who| {
            // Each has an instance of its own, so that what one writes is new to the next.
            let seat = Seat::new(who);
            (who, ROWS.iter().map(|row| told(&seat.ask(row))).collect())
        };
        let asking: Vec<_> = Who::ALL.iter().map(|who| scope.spawn(move || ask(*who))).collect();
        asking.into_iter().map(|it| it.join().expect("joined")).collect()
    });
    let mut table = String::new();
    for (at, row) in ROWS.iter().enumerate() {
        // Callers that are told the same stand on one line.
        let mut by_answer: BTreeMap<&str, Vec<Who>> = BTreeMap::new();
        for (who, cells) in &columns {
            let got = cells[at].as_str();
            let about = format!("{} by {}", row.route, who.name());
            match expected(*who, row.opens) {
                Some(wanted) => assert_eq!(got, wanted, "{about}"),
                None => assert_ne!(got, "401 AUTH_REQUIRED", "{about}"),
            }
            // The first opens it by itself; what another opens of it depends on the body.
            let is_whole = matches!(row.opens, Opens::To([first, ..])
                if who.scopes().0.split(',').any(|it| it == *first));
            if who.is_operator() || is_whole {
                assert_ne!(got, "403 SCOPE_FORBIDDEN", "{about}");
            }
            by_answer.entry(got).or_default().push(*who);
        }
        let operators: BTreeSet<&str> = columns
            .iter()
            .filter(|(who, _)| who.is_operator())
            .map(|(_, cells)| cells[at].as_str())
            .collect();
        assert_eq!(operators.len(), 1, "{}: {operators:?}", row.route);
        table.push_str(&format!("{}\n", row.route));
        for (answer, callers) in by_answer {
            table.push_str(&format!("  {answer:<24} {}\n", together(callers)));
        }
    }
    insta::assert_snapshot!("matrix", table);
}

/// The bytes of an answer, but for what names the request.
fn bytes(reply: &Reply) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let own = ["x-request-id", "date"];
    let headers = reply.headers.iter().filter(|(name, _)| !own.contains(&name.as_str())).cloned();
    (reply.status, headers.collect(), reply.body.clone())
}

#[test]
fn no_refusal_of_a_stranger_tells_why() {
    let seats: Vec<Seat> = Who::STRANGERS.iter().map(|who| Seat::new(*who)).collect();
    for row in ROWS.iter().filter(|row| row.opens != Opens::All) {
        let first = bytes(&seats[0].ask(row));
        for seat in &seats[1..] {
            assert_eq!(bytes(&seat.ask(row)), first, "{} by {}", row.route, seat.who.name());
        }
    }
}

/// Requests about one thing, which either is somebody else's or is not there. `{thread}`, `{record}`
/// and `{run}` stand for it.
const ABOUT: &[(&str, &str, Option<&str>)] = &[
    ("GET", "/v1/records/{record}", None),
    ("GET", "/v1/records?thread={thread}", None),
    ("POST", "/v1/records/query", Some(r#"{"filter":{"thread":"{thread}"}}"#)),
    ("GET", "/v1/threads/{thread}", None),
    ("GET", "/v1/threads/{thread}/records", None),
    ("GET", "/v1/threads/{thread}/state", None),
    ("GET", "/v1/threads/{thread}/watch?since_clock=x", None),
    ("GET", "/v1/threads/{thread}/checkpoints", None),
    ("GET", "/v1/threads/{thread}/resume", None),
    ("POST", "/v1/threads/{thread}/resume", Some("{}")),
    (
        "POST",
        "/v1/threads/{thread}/checkpoint",
        Some(r#"{"actor":"did:sync:user:vera","summary":"s","learnings":["l"]}"#),
    ),
    ("GET", "/v1/decisions/{record}", None),
    ("POST", "/v1/decisions/{record}/decide", Some(r#"{"decision":"approve"}"#)),
    ("GET", "/v1/runs/{run}", None),
    ("GET", "/v1/runs/{run}/events", None),
    ("GET", "/v1/runs/{run}/provenance", None),
    ("POST", "/v1/runs/{run}/events", Some(r#"{"type":"message","text":"x"}"#)),
    (
        "POST",
        "/v1/runs/{run}/observe",
        Some(r#"{"call_id":"c2","tool":"bash","status":"ok","actor":"did:sync:user:vera"}"#),
    ),
    ("GET", "/v1/work/loop/{run}", None),
    ("GET", "/v1/work/loop/{run}/stream", None),
    ("POST", "/v1/work/loop/{run}/cancel", Some("{}")),
    (
        "POST",
        "/v1/work/loop/{run}/review",
        Some(r#"{"verdict":"accept","actor":"did:sync:user:vera"}"#),
    ),
    ("GET", "/v1/sessions/{thread}", None),
    ("DELETE", "/v1/tokens/{token}", None),
    (
        "POST",
        "/v1/records",
        Some(
            r#"{"act":"KNOW","actor":"did:sync:user:vera","thread":"{thread}","clock":0,"body":{"text":"b"}}"#,
        ),
    ),
];

#[test]
fn what_is_not_yours_is_as_what_is_not_there() {
    const ABSENT: [(&str, &str); 4] = [
        ("{thread}", "th_none"),
        ("{run}", "th_none"),
        ("{record}", "7777777777777777777777777777777777777777777777777777777777777777"),
        ("{token}", "7777777777777777777777777777777777777777777777777777777777777777"),
    ];
    for scopes in ["thread:th_a:read", "thread:th_a:write", "thread:th_a:read,thread:th_a:write"] {
        let seat = Seat::new(Who::Scoped(scopes));
        let theirs = seat.server.note("th_b", 1, "theirs");
        let observed =
            r#"{"call_id":"c","tool":"bash","status":"ok","actor":"did:sync:user:vera"}"#;
        let run = seat.server.post("/v1/runs/th_run/observe", observed);
        assert_eq!(run.status, 200, "{}", run.text());
        let bearer = seat.server.token("records:read");
        let token = spl::store::TokenId::of_secret(bearer.rsplit_once('_').expect("a secret").1);
        let there = [
            ("{thread}", "th_b"),
            ("{run}", "th_run"),
            ("{record}", theirs.as_str()),
            ("{token}", token.as_str()),
        ];
        for (method, path, body) in ABOUT {
            let ask = |names: &[(&str, &str)]| {
                let fill = |text: &str| {
                    names
                        .iter()
                        .fold(text.to_owned(), |text, (blank, name)| text.replace(blank, name))
                };
                let request = seat.request(method, &fill(path));
                let reply = match body {
                    Some(body) => request.json(fill(body)).send(),
                    None => request.send(),
                };
                // What the caller has said may be said back.
                let (status, headers, body) = bytes(&reply);
                let mut text = String::from_utf8(body).expect("UTF-8");
                for (blank, name) in names {
                    text = text.replace(name, blank);
                }
                let headers = headers.into_iter().filter(|(name, _)| name != "content-length");
                (status, headers.collect::<Vec<_>>(), text.replace("{run}", "{thread}"))
            };
            assert_eq!(ask(&there), ask(&ABSENT), "{method} {path} with {scopes}");
        }
    }
}

/// Who writes hooks (contract §10.2, item 5): whoever owns the instance, and no bearer, member or run
/// beside.
#[test]
fn only_operators_teach() {
    let hook = r#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","clock":0,
        "body":{"kind":"core.hook.v1","topic":"hook","name":"h","when":"true","text":"t"}}"#;
    for who in Who::ALL {
        let seat = Seat::new(*who);
        let reply = seat.request("POST", "/v1/records").json(hook).send();
        let wanted = match who {
            _ if who.is_operator() => "201",
            _ if who.is_stranger() => "401 AUTH_REQUIRED",
            // Another's name is refused before anything is said of configuration.
            Who::Mute => "403 DID_CLAIM_DENIED",
            // So is a thread that a grain does not reach.
            Who::Scoped(words) if words.contains(":th_") || words.contains(":team:") => {
                "403 SCOPE_FORBIDDEN"
            }
            Who::Scoped("records:read" | "config:read" | "namespace:default:read") => {
                "403 SCOPE_FORBIDDEN"
            }
            _ => "403 CONFIG_WRITE_DENIED",
        };
        assert_eq!(told(&reply), wanted, "{}", who.name());
        let loaded = seat.server.engine.live().expect("live").config.hooks_loaded();
        assert_eq!(loaded, usize::from(who.is_operator()), "{}", who.name());
    }
}
