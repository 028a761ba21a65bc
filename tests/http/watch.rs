//! `GET /v1/threads/{id}/watch`.

use std::time::Duration;

use spl::http::ServerLimits;
use spl::record::Draft;

use crate::client::{Server, Wire, open};

/// Watches a thread, and returns when everything before is told: the first heartbeat.
fn watch(server: &Server, path: &str) -> Wire {
    let mut wire = server.request("GET", path).open();
    let (status, headers) = wire.reply_head();
    assert_eq!(status, 200, "{headers:?}");
    let media = headers.iter().find(|(name, _)| name == "content-type");
    assert_eq!(media.map(|(_, value)| value.as_str()), Some("text/event-stream"));
    wire
}

fn resume(server: &Server, path: &str, id: &str) -> Wire {
    let mut wire = server.request("GET", path).header("last-event-id", id).open();
    assert_eq!(wire.reply_head().0, 200);
    wire
}

const PATH: &str = "/v1/threads/th_a/watch";

#[test]
fn records_arrive_as_they_are_written() {
    // Nobody asks whether another process has written, so the commits themselves are heard.
    let limits = ServerLimits { tick: Duration::from_hours(1), ..ServerLimits::default() };
    let server = Server::with_limits(limits);
    server.note("th_a", 0, "before");
    let mut wire = watch(&server, PATH);
    assert_eq!(wire.frame().expect("a frame").event, "heartbeat", "the past is not told unasked");
    server.note("th_b", 5, "elsewhere");
    let id = server.note("th_a", 1, "one");
    let frame = wire.frame().expect("a frame");
    assert_eq!((frame.event.as_str(), frame.clock()), ("record.created", 1));
    assert_eq!(frame.id.as_deref(), Some("3"), "the cursor is the sequence");
    assert!(frame.data.contains(&id));
    server.note("th_a", 2, "two");
    assert_eq!(wire.clocks(1), [2]);
}

#[test]
fn a_first_connect_may_ask_for_the_past_from_a_clock_on() {
    let server = Server::start();
    for clock in [5, 1, 9, 2, 7, 3] {
        server.note("th_a", clock, "x");
    }
    let mut wire = watch(&server, "/v1/threads/th_a/watch?since_clock=5");
    assert_eq!(wire.clocks(3), [5, 9, 7]);
    assert_eq!(wire.frame().expect("a frame").event, "heartbeat");
    // What is new is told whatever its clock: another actor counts from another start.
    server.note("th_a", 0, "x");
    assert_eq!(wire.clocks(1), [0]);
}

#[test]
fn a_long_past_is_told_whole() {
    let server = Server::start();
    for clock in 0..350 {
        server.note("th_a", clock, "x");
    }
    let mut wire = watch(&server, "/v1/threads/th_a/watch?since_clock=25");
    assert_eq!(wire.clocks(325), (25..350).collect::<Vec<_>>());
    assert_eq!(wire.frame().expect("a frame").event, "heartbeat");
}

#[test]
fn whoever_comes_back_misses_nothing() {
    let server = Server::start();
    let mut wire = watch(&server, PATH);
    // Nothing but a heartbeat so far, and it is a position too.
    let first = wire.next("heartbeat").id.expect("a position");
    drop(wire);
    for clock in 0..100 {
        server.note("th_a", clock, "x");
    }
    let mut wire = resume(&server, PATH, &first);
    let some: Vec<_> = (0..40).map(|_| wire.next("record.created")).collect();
    drop(wire);
    let cursor = some.last().and_then(|frame| frame.id.clone()).expect("a position");
    let mut wire = resume(&server, PATH, &cursor);
    let mut clocks: Vec<i64> = some.iter().map(crate::client::Frame::clock).collect();
    clocks.extend(wire.clocks(60));
    assert_eq!(clocks, (0..100).collect::<Vec<_>>());
    server.note("th_a", 100, "live");
    assert_eq!(wire.clocks(1), [100]);
}

/// A store that was put back from a copy has fewer records than the client has seen.
#[test]
fn a_position_beyond_the_end_starts_over() {
    let server = Server::start();
    server.note("th_a", 0, "x");
    let mut wire = resume(&server, PATH, "1000000");
    assert_eq!(wire.clocks(1), [0]);
}

#[test]
fn a_position_that_is_none_is_refused() {
    let server = Server::start();
    for id in ["x", "-1", "1.5", "1 2", "99999999999999999999"] {
        let reply = server.request("GET", PATH).header("last-event-id", id).send();
        assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_REQUEST"), "{id}");
    }
    let reply = server.get("/v1/threads/th_a/watch?since_clock=now");
    assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_REQUEST"));
    assert_eq!(server.get("/v1/threads/a%07/watch").status, 422);
}

/// A client that splits at these line ends would lose the record and its place.
#[test]
fn no_frame_has_a_line_end_of_unicode_in_it() {
    let server = Server::start();
    let mut wire = watch(&server, PATH);
    let text = "a\u{85}b\u{2028}c\u{2029}d\r\ne";
    server.note("th_a", 0, text);
    let frame = wire.next("record.created");
    assert!(!frame.data.contains(['\u{85}', '\u{2028}', '\u{2029}', '\r', '\n']), "{}", frame.data);
    assert!(frame.data.contains(r"a\u0085b\u2028c\u2029d\r\ne"), "{}", frame.data);
    let read: serde_json::Value = serde_json::from_str(&frame.data).expect("JSON");
    assert_eq!(read["record"]["body"]["text"], text);
}

#[test]
fn a_silent_stream_shows_that_it_lives() {
    let limits = ServerLimits { heartbeat: Duration::from_millis(20), ..ServerLimits::default() };
    let server = Server::with_limits(limits);
    server.note("th_a", 0, "x");
    let mut wire = watch(&server, PATH);
    for _ in 0..3 {
        let frame = wire.frame().expect("a frame");
        assert_eq!((frame.event.as_str(), frame.data.as_str()), ("heartbeat", "{}"));
        assert_eq!(frame.id.as_deref(), Some("1"));
    }
}

/// Another process writes to the same file: there is no commit of ours to hear.
#[test]
fn writes_of_another_process_are_seen() {
    let limits = ServerLimits { tick: Duration::from_millis(10), ..ServerLimits::default() };
    let server = Server::with_limits(limits);
    let mut first = watch(&server, PATH);
    let mut second = watch(&server, PATH);
    first.next("heartbeat");
    second.next("heartbeat");
    let other = open(&server.home);
    let draft = |clock: i64| {
        let note = crate::client::note("th_a", clock, "from afar");
        let note = spl::canon::parse(note.as_bytes(), spl::canon::Limits::DOOR).expect("JSON");
        Draft::from_envelope(note).expect("a draft")
    };
    for clock in 0..3 {
        other.ingest_draft(&spl::engine::Caller::operator(), draft(clock)).expect("ingested");
        assert_eq!((first.clocks(1), second.clocks(1)), (vec![clock], vec![clock]));
    }
}

#[test]
fn a_watcher_that_does_not_read_holds_up_nobody() {
    let server = Server::start();
    let mut slow = watch(&server, PATH);
    let mut quick = watch(&server, PATH);
    // More than any buffer on the way holds.
    let text = "x".repeat(1024 * 1024);
    for clock in 0..20 {
        server.note("th_a", clock, &text);
    }
    assert_eq!(quick.clocks(20), (0..20).collect::<Vec<_>>());
    assert_eq!(slow.clocks(20), (0..20).collect::<Vec<_>>(), "late, and whole");
}

#[test]
fn whoever_may_no_longer_read_is_told_nothing_more() {
    let server = Server::start();
    let bearer = server.token("records:read");
    let mut wire = server.tcp("GET", PATH).bearer(&bearer).open();
    assert_eq!(wire.reply_head().0, 200);
    wire.next("heartbeat");
    server.engine.revoke_tokens(&spl::engine::Caller::operator(), "test").expect("revoked");
    server.note("th_a", 0, "secret");
    let frame = wire.frame().expect("a frame");
    assert_eq!((frame.event.as_str(), frame.id), ("error", None));
    assert!(frame.data.contains(r#""code":"AUTH_REQUIRED""#), "{}", frame.data);
    assert_eq!(wire.frame(), None);
}

#[test]
fn a_server_that_goes_away_says_so() {
    let mut server = Server::start();
    let mut wires = [watch(&server, PATH), watch(&server, "/v1/threads/th_b/watch")];
    for wire in &mut wires {
        wire.next("heartbeat");
    }
    server.tell_to_stop();
    for wire in &mut wires {
        let frame = wire.frame().expect("a frame");
        assert_eq!(frame.event, "server_shutdown");
        assert_eq!(frame.data, r#"{"retry_after_ms":5000}"#);
        assert_eq!(frame.id, None);
        assert_eq!(wire.frame(), None);
    }
    server.wait();
}

#[test]
fn a_watcher_that_leaves_is_forgotten() {
    let limits = ServerLimits { heartbeat: Duration::from_millis(10), ..ServerLimits::default() };
    let server = Server::with_limits(limits);
    let watchers = || {
        let text = server.get("/metrics").text();
        let line = text.lines().find(|line| line.starts_with("spl_watchers ")).expect("a line");
        line.to_owned()
    };
    let mut wire = watch(&server, PATH);
    wire.next("heartbeat");
    assert_eq!(watchers(), "spl_watchers 1");
    drop(wire);
    while watchers() != "spl_watchers 0" {
        std::thread::yield_now();
    }
}

/// A watcher that reads more slowly than others write is told so, and loses nothing by it.
#[test]
fn a_watcher_that_does_not_keep_up_is_told_that_it_lagged() {
    let limits = ServerLimits { lag: Duration::ZERO, ..ServerLimits::default() };
    let server = Server::with_limits(limits);
    let (mut slow, mut quick) = (watch(&server, PATH), watch(&server, PATH));
    let first = slow.next("heartbeat").id.expect("a position");
    quick.next("heartbeat");
    // More than the socket holds and more than one page: somebody who reads nothing cannot be up to
    // date with it.
    let text = "x".repeat(10 * 1024);
    for clock in 0..300 {
        server.note("th_a", clock, &text);
        assert_eq!(quick.clocks(1), [clock], "who keeps up is told all the time");
    }
    let (mut clocks, mut last) = (Vec::new(), first);
    let lagged = loop {
        let frame = slow.frame().expect("a frame");
        match frame.event.as_str() {
            "record.created" => {
                clocks.push(frame.clock());
                last = frame.id.expect("a position");
            }
            "heartbeat" => {}
            _ => break frame,
        }
    };
    assert_eq!((lagged.event.as_str(), &lagged.id), ("error", &None));
    assert!(lagged.data.contains(r#""code":"lagged""#), "{}", lagged.data);
    assert_eq!(slow.frame(), None, "and sent away");
    assert!(clocks.len() < 300, "it was told before the end");
    // It comes back with what it has, and is not sent away for being where it was.
    let rest = 300 - clocks.len();
    clocks.extend(resume(&server, PATH, &last).clocks(rest));
    assert_eq!(clocks, (0..300).collect::<Vec<_>>());
}
