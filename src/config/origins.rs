//! Which web pages may ask a server (contract §2.1, §3.2): the topic `auth_cors_origins`.
//!
//! Comes in: `{origins: [...]}`, each as a browser writes it in `Origin`. Goes out: the list, which
//! holds only where bearers are asked for.

use std::collections::BTreeSet;
use std::net::Ipv6Addr;
use std::sync::Arc;

use crate::canon::Value;
use crate::record::{Draft, Reason, ShapeError, field};

/// The topic of the list of origins.
pub const CORS_ORIGINS_TOPIC: &str = "auth_cors_origins";

/// The most origins of a list.
const MAX_ORIGINS: usize = 64;

/// The most bytes of one: what a name may have, a scheme and a port.
const MAX_ORIGIN_BYTES: usize = 270;

const FIELD: &str = "origins";

/// The origins of the web pages that may ask. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CorsOrigins(Arc<BTreeSet<String>>);

impl CorsOrigins {
    /// Returns whether a draft sets the list.
    pub fn is_meant(draft: &Draft) -> bool {
        draft.thread.is_config() && draft.topic() == Some(CORS_ORIGINS_TOPIC)
    }

    /// Reads the list that a record sets. `*` is refused: a page that anybody may write cannot be
    /// told from the others.
    pub fn check(draft: &Draft) -> Result<Self, ShapeError> {
        field::learned(draft)?;
        let origins = match draft.body.get(FIELD) {
            None => return Err(ShapeError::missing(FIELD)),
            Some(Value::Array(origins)) => origins,
            Some(other) => return Err(ShapeError::wrong_type(FIELD, "a list", other.type_name())),
        };
        if origins.len() > MAX_ORIGINS {
            let message = format!("`origins` must be at most {MAX_ORIGINS}");
            return Err(ShapeError::new(FIELD, Reason::BadValue, message));
        }
        let read = |origin: &Value| match origin {
            Value::String(origin) => checked(origin).ok_or_else(|| {
                let shown: String = origin.chars().take(64).collect();
                let message = format!(
                    "`origins` has `{}`, which is not like `https://app.example:8443`",
                    shown.escape_debug()
                );
                ShapeError::new(FIELD, Reason::BadValue, message)
            }),
            other => Err(ShapeError::wrong_type(FIELD, "a list of strings", other.type_name())),
        };
        let origins = origins.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(origins)))
    }

    /// Returns whether a page of this origin may ask; `origin` as a browser sends it.
    pub fn allow(&self, origin: &str) -> bool {
        self.0.contains(origin)
    }

    /// Returns each of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// Returns an origin as a browser writes it: in lower case, without the port that its scheme has
/// anyway. `None` if it is none.
fn checked(origin: &str) -> Option<String> {
    let origin = origin.to_ascii_lowercase();
    let (scheme, authority) = origin.split_once("://")?;
    let own_port = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let (host, port) = split_port(authority)?;
    if origin.len() > MAX_ORIGIN_BYTES || !is_host(host) {
        return None;
    }
    Some(match port.filter(|port| *port != own_port) {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    })
}

/// Splits a port from the end of an authority; `None` if what stands there is no port.
pub(crate) fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    // A colon inside brackets belongs to the address.
    match authority.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
        None => Some((authority, None)),
        Some((host, text)) => {
            let port: u16 = text.parse().ok()?;
            (port > 0 && port.to_string() == text).then_some((host, Some(port)))
        }
    }
}

/// Returns whether this is the name of a host or an address, as they stand in a URL.
pub(crate) fn is_host(host: &str) -> bool {
    let of_a_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.len() <= 253 && host.chars().all(of_a_name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_a_browser_writes() {
        for (written, wanted) in [
            ("https://app.example", "https://app.example"),
            ("https://App.Example:443", "https://app.example"),
            ("http://localhost:80", "http://localhost"),
            ("http://localhost:5173", "http://localhost:5173"),
            ("https://app.example:80", "https://app.example:80"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("http://[::1]", "http://[::1]"),
        ] {
            assert_eq!(checked(written).as_deref(), Some(wanted), "{written}");
        }
        for bad in [
            "",
            "*",
            "null",
            "app.example",
            "https://",
            "https://*.example",
            "https://app.example/",
            "https://app.example/path",
            "https://user@app.example",
            "https://app.example:",
            "https://app.example:0",
            "https://app.example:080",
            "https://app.example:65536",
            "https://app.example:x",
            "https://app example",
            "https://[app]",
            "https://[::1]x",
            "https://[::1]:",
            "file://app.example",
            "https://caf\u{e9}.example",
        ] {
            assert_eq!(checked(bad), None, "{bad}");
        }
    }
}
