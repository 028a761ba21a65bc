//! Threads: lists, states, names.

use spl::canon::Value;

use crate::client::{Server, note};

#[test]
fn a_thread_has_a_state_before_its_first_record() {
    let server = Server::start();
    insta::assert_snapshot!("an_unknown_thread", server.get("/v1/threads/th_none/state").shown());
}

#[test]
fn the_state_of_a_thread_says_what_a_writer_needs() {
    let server = Server::start();
    server.note("th_a", 3, "one");
    server.note("th_a", 1, "two");
    let other = note("th_a", 9, "three").replace("user:vera", "user:kim");
    assert_eq!(server.post("/v1/records", other).status, 201);
    insta::assert_snapshot!(
        "a_thread_without_a_goal",
        server.get("/v1/threads/th_a/state").shown()
    );
    let status = || server.get("/v1/threads/th_a/state").string("status");
    let goal = server.post("/v1/records", note("th_a", 4, "goal").replace("KNOW", "INTEND"));
    assert_eq!(status(), "open");
    let answer = note("th_a", 5, "done").replacen(
        r#"{"text""#,
        &format!(r#"{{"fulfills":"{}","text""#, goal.string("id")),
        1,
    );
    assert_eq!(server.post("/v1/records", answer).status, 201);
    assert_eq!(status(), "closed");
    insta::assert_snapshot!("a_thread", server.get("/v1/threads/th_a").shown());
}

#[test]
fn threads_are_paged_by_name() {
    let server = Server::start();
    for name in ["b", "a", "d/e", "c c"] {
        server.note(name, 0, "x");
    }
    let mut names = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = server.get(&format!("/v1/threads?limit=2&cursor={cursor}"));
        for thread in page.data() {
            names.push(thread.get("id").and_then(Value::as_str).expect("an id").to_owned());
        }
        match page.json().get("next_cursor").and_then(Value::as_str) {
            Some(next) => cursor = next.replace(' ', "%20"),
            None => break,
        }
    }
    assert_eq!(names, ["a", "b", "c c", "d/e"]);
}

/// A thread id is one segment of the path, decoded once.
#[test]
fn any_name_of_a_thread_is_one_segment() {
    let server = Server::start();
    for (name, segment) in [
        ("music.library", "music.library"),
        ("a/b", "a%2Fb"),
        ("a b", "a%20b"),
        ("a?b#c", "a%3Fb%23c"),
        ("%2F", "%252F"),
        ("+", "+"),
        ("ü→", "%C3%BC%E2%86%92"),
        ("..", ".."),
        ("{id}", "{id}"),
    ] {
        server.note(name, 0, name);
        let state = server.get(&format!("/v1/threads/{segment}/state"));
        assert_eq!(state.string("thread"), name);
        assert_eq!(state.json().get("record_count"), Some(&1.into()), "{name}");
    }
}

#[test]
fn the_records_of_a_thread_come_in_pages() {
    let server = Server::start();
    // The order of arrival is not that of the clocks.
    for clock in [5, 1, 9, 2, 7] {
        server.note("th_a", clock, "x");
        server.note("th_b", clock, "x");
    }
    let mut clocks = Vec::new();
    let mut cursor = String::from("0");
    loop {
        let page = server.get(&format!("/v1/threads/th_a/records?limit=2&cursor={cursor}"));
        clocks.extend(page.data().iter().filter_map(|it| it.get("clock").and_then(Value::as_i64)));
        match page.json().get("next_cursor").and_then(Value::as_str) {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(clocks, [5, 1, 9, 2, 7]);
    let since = server.get("/v1/threads/th_a/records?since=7").data();
    assert_eq!(since.len(), 2);
}
