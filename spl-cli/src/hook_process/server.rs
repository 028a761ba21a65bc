//! One question to the server of a home, over its socket: without a runtime, and not for long.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::geteuid;

use spl::canon::{Limits, Value, parse};
use spl::code::Code;
use spl::time::Stopwatch;

/// How long the answer may take, from the first byte to the last.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most bytes of an answer.
const MAX_ANSWER: usize = 1024 * 1024;

/// The code of an event that opens a session where none may be.
const REJECTED: &str = Code::NamespaceRejected.as_str();

/// What a server said.
pub(super) enum Reply {
    /// The event is recorded, and this is to be printed.
    Output(Option<String>),
    /// The event is none; it is not tried elsewhere.
    Refused(String),
}

/// Asks the server behind `socket`. After an error nobody knows what it did, and whoever goes on
/// goes on with the same attempt.
pub(super) fn ask(socket: &Path, envelope: &[u8]) -> io::Result<Reply> {
    let took = Stopwatch::start();
    let mut stream = reach(socket)?;
    let head = format!(
        "POST /v1/sessions/events HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        envelope.len()
    );
    let mut request = [IoSlice::new(head.as_bytes()), IoSlice::new(envelope)];
    let mut rest = request.as_mut_slice();
    while !rest.is_empty() {
        stream.set_write_timeout(Some(left(&took)?))?;
        match stream.write_vectored(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut rest, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A server that does not want the rest may have said why.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            Err(error) => return Err(error),
        }
    }
    let mut answer = Vec::with_capacity(16 * 1024);
    loop {
        if let Some(reply) = read(&answer)? {
            return Ok(reply);
        }
        if answer.len() > MAX_ANSWER {
            return Err(io::ErrorKind::InvalidData.into());
        }
        stream.set_read_timeout(Some(left(&took)?))?;
        let mut chunk = [0; 16 * 1024];
        match stream.read(&mut chunk) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => answer.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Connects, within the time there is, to a server of this user.
fn reach(socket: &Path) -> io::Result<UnixStream> {
    let address = SocketAddrUnix::new(socket)?;
    let stream = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // A server that accepts nobody would be waited for without an end.
    set_socket_timeout(&stream, Timeout::Send, Some(PATIENCE))?;
    connect(&stream, &address)?;
    if socket_peercred(&stream)?.uid != geteuid() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(stream.into())
}

fn left(took: &Stopwatch) -> io::Result<Duration> {
    let left = PATIENCE.checked_sub(took.elapsed()).filter(|left| !left.is_zero());
    left.ok_or_else(|| io::ErrorKind::TimedOut.into())
}

/// Reads an answer, if it is whole.
fn read(bytes: &[u8]) -> io::Result<Option<Reply>> {
    let odd = || io::Error::from(io::ErrorKind::InvalidData);
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = response.parse(bytes).map_err(io::Error::other)? else {
        return Ok(None);
    };
    let status = response.code.ok_or_else(odd)?;
    let length = response.headers.iter().find(|it| it.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|it| std::str::from_utf8(it.value).ok()?.parse::<usize>().ok());
    let end = head.checked_add(length.ok_or_else(odd)?).ok_or_else(odd)?;
    let Some(body) = bytes.get(head..end) else { return Ok(None) };
    let body = parse(body, Limits::DOOR).map_err(io::Error::other)?;
    match status {
        200 => {
            let output = body.get("output").filter(|output| !matches!(output, Value::Null));
            Ok(Some(Reply::Output(output.map(Value::to_string))))
        }
        // What is wrong with the event itself would be wrong here too, and so would its namespace.
        400 | 413 | 422 => Ok(Some(refused(&body))),
        403 if body.get("code").and_then(Value::as_str) == Some(REJECTED) => {
            Ok(Some(refused(&body)))
        }
        _ => Err(odd()),
    }
}

fn refused(body: &Value) -> Reply {
    let message = body.get("message").and_then(Value::as_str).unwrap_or("it was refused");
    Reply::Refused(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(status: &str, body: &str) -> String {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let whole = read(answer.as_bytes());
        for end in 0..answer.len() {
            let part = read(answer.as_bytes().get(..end).expect("a part"));
            assert!(matches!(part, Ok(None)), "{end}");
        }
        match whole {
            Ok(Some(Reply::Output(output))) => format!("output {output:?}"),
            Ok(Some(Reply::Refused(reason))) => format!("refused {reason}"),
            Ok(None) => "not whole".into(),
            Err(_) => "no answer".into(),
        }
    }

    #[test]
    fn an_answer_is_read_when_it_is_whole() {
        for (status, body, wanted) in [
            ("200 OK", r#"{"output":null,"thread":"th_a"}"#, "output None"),
            ("200 OK", r#"{"output":{"b":1,"a":"é"}}"#, r#"output Some("{\"a\":\"é\",\"b\":1}")"#),
            ("400 Bad Request", r#"{"message":"no session id"}"#, "refused no session id"),
            ("403 Forbidden", r#"{"code":"NAMESPACE_REJECTED","message":"no"}"#, "refused no"),
            ("403 Forbidden", r#"{"code":"SCOPE_FORBIDDEN","message":"no"}"#, "no answer"),
            ("404 Not Found", r#"{"message":"there is no such path"}"#, "no answer"),
            ("500 Internal Server Error", "{}", "no answer"),
            ("200 OK", "not JSON", "no answer"),
        ] {
            assert_eq!(shown(status, body), wanted);
        }
    }
}
