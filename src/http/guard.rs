//! The guard against web pages: a page that somebody visits must not be able to speak to a server
//! on their machine, under a name of its own that resolves to this address or as a form. What it
//! says of itself is looked at in `cors`.

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};

use super::problem::Problem;
use crate::code::Code;

/// The names under which a server on this machine is known to its own clients.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Refuses a request that names another host than this one. `names` are further names of it.
pub(super) fn check(port: u16, names: &[String], request: &Parts) -> Result<(), Problem> {
    let mut hosts = request.headers.get_all(header::HOST).iter();
    let is_named = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().is_ok_and(|host| is_here(host, port, names)),
        _ => false,
    };
    let target = request.uri.authority().map(Authority::as_str);
    if !is_named || !target.is_none_or(|target| is_here(target, port, names)) {
        let message =
            format!("`Host` must be one of {}", HOSTS.map(|host| at(host, port)).join(", "));
        return Err(Problem::new(Code::OriginForbidden, message)
            .hint("Set `names` of `[server]` in config.toml to what else the server is called."));
    }
    Ok(())
}

/// Returns whether something comes after the head of a request.
pub(super) fn has_body(request: &Parts) -> bool {
    let length = request.headers.get(header::CONTENT_LENGTH);
    request.headers.contains_key(header::TRANSFER_ENCODING)
        || length.is_some_and(|length| length.as_bytes() != b"0")
}

/// Refuses a body that is not declared as what the route takes, plain. A form, which any page may
/// send anywhere without asking first, cannot be declared so.
pub(super) fn check_media(headers: &HeaderMap, wanted: &str) -> Result<(), Problem> {
    let refused = |message: String| Err(Problem::new(Code::UnsupportedMediaType, message));
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let essence = match (types.next(), types.next()) {
        (Some(media), None) => media.to_str().unwrap_or_default().split(';').next(),
        _ => None,
    };
    if !essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(wanted)) {
        return refused(format!("the body must be declared as `content-type: {wanted}`"));
    }
    let plain = |coding: &header::HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if !headers.get_all(header::CONTENT_ENCODING).iter().all(plain) {
        return refused("the body must not be compressed".into());
    }
    Ok(())
}

fn is_here(host: &str, port: u16, names: &[String]) -> bool {
    let is_named = |name: &String| {
        host.eq_ignore_ascii_case(name)
            || !has_port(name) && host.eq_ignore_ascii_case(&at(name, port))
    };
    names.iter().any(is_named)
        || HOSTS.iter().any(|name| host.eq_ignore_ascii_case(&at(name, port)))
        || (port == 80 && HOSTS.iter().any(|name| host.eq_ignore_ascii_case(name)))
}

fn has_port(name: &str) -> bool {
    name.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']'))
}

fn at(host: &str, port: u16) -> String {
    format!("{host}:{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_host(host: &str, port: u16, wanted: bool) {
        assert_eq!(is_here(host, port, &[]), wanted, "{host} at {port}");
    }

    #[test]
    fn only_names_of_this_machine_with_its_port_are_here() {
        for good in ["127.0.0.1:9100", "localhost:9100", "LOCALHOST:9100", "[::1]:9100"] {
            check_host(good, 9100, true);
        }
        for bad in [
            "",
            "localhost",
            "localhost:9101",
            "localhost:09100",
            "localhost.:9100",
            "localhost:9100.evil.example",
            "evil.example:9100",
            "127.0.0.2:9100",
            "0.0.0.0:9100",
            "::1:9100",
            "user@localhost:9100",
        ] {
            check_host(bad, 9100, false);
        }
        check_host("localhost", 80, true);
        check_host("localhost:80", 80, true);
    }

    #[test]
    fn a_configured_name_is_here_as_it_is_configured() {
        let names = ["spl.example", "other.example:8443", "[fd00::1]"].map(str::to_owned);
        for good in [
            "spl.example",
            "SPL.example:9100",
            "other.example:8443",
            "[fd00::1]",
            "[fd00::1]:9100",
            "localhost:9100",
        ] {
            assert!(is_here(good, 9100, &names), "{good}");
        }
        for bad in [
            "spl.example:8443",
            "spl.example.evil.example",
            "evil.spl.example",
            "other.example",
            "other.example:8443:9100",
            "localhost",
        ] {
            assert!(!is_here(bad, 9100, &names), "{bad}");
        }
    }
}
