//! Servers that do not answer as they should: the store is here too.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};

use crate::house::{House, failed};

/// Answers the first connection to the socket of a home with `answer`, or not at all.
fn answered(house: &House, answer: Option<&'static str>) -> std::thread::JoinHandle<String> {
    let socket = house.home().join("run/spl.sock");
    let _ = std::fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).expect("a socket");
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o600)).expect("set");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let asked = head(&mut stream);
        match answer {
            Some(answer) => stream.write_all(answer.as_bytes()).expect("written"),
            // Until the other side has had enough.
            None => drop(stream.read_to_end(&mut Vec::new())),
        }
        asked
    })
}

/// Reads a request as far as its first line.
fn head(stream: &mut UnixStream) -> String {
    let mut bytes = vec![0; 64 * 1024];
    let count = stream.read(&mut bytes).expect("a request");
    let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_server_that_does_not_answer_is_done_without() {
    for answer in [
        None,
        Some(""),
        Some("HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}"),
        Some("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\n{}"),
        Some("HTTP/1.1 200 OK\r\n\r\nno length"),
        Some("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}"),
        Some("SSH-2.0-something\r\n"),
    ] {
        let house = House::taught();
        let server = answered(&house, answer);
        let said = house.hook(&[], failed("toolu_1")).well();
        assert!(said.contains("it-failed"), "{answer:?}: {said}");
        assert_eq!(server.join().expect("joined"), "POST /v1/sessions/events HTTP/1.1");
        assert_eq!(house.count("core.session.tool.v1"), 1);
    }
}

#[test]
fn what_a_server_has_refused_is_not_tried_elsewhere() {
    let house = House::taught();
    let body =
        "HTTP/1.1 400 Bad Request\r\ncontent-length: 29\r\n\r\n{\"message\":\"it was no event\"}";
    let server = answered(&house, Some(body));
    let complaint = house.hook(&[], failed("toolu_1")).complaint();
    assert_eq!(complaint, "spl session hook: PostToolUseFailure: it was no event\n");
    server.join().expect("joined");
    assert_eq!(house.recorded(), 0);
}
