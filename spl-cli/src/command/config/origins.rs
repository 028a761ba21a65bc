//! `spl config auth-set-cors-origins`.

use clap::Args;
use spl::object;

use super::super::write::show_written;
use crate::failure::Failure;
use crate::session::Session;
use crate::statement::Statement;

/// The topic of the list.
const TOPIC: &str = "auth_cors_origins";

/// Say which web pages may ask a server that asks for bearers
#[derive(Args, Debug)]
#[command(after_help = "\
The list replaces the one before. Without bearers no page but a server's own may ask anything,
whatever the list says.

Examples:
  spl config auth-set-cors-origins https://console.example.org http://localhost:5173
  spl config auth-set-cors-origins --none")]
pub(crate) struct OriginsArgs {
    /// The origins: scheme and host, and the port if it is not the usual one
    #[arg(value_name = "ORIGIN", value_parser = read_origin, required_unless_present = "none")]
    origins: Vec<String>,
    /// No page at all
    #[arg(long, conflicts_with = "origins")]
    none: bool,
    /// Who states it [default: `SPL_ACTOR`, else did:sync:system:engine]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

/// Writes the list of origins.
pub(super) fn set(session: &mut Session, args: OriginsArgs) -> Result<(), Failure> {
    let body = object! { "origins": args.origins, "topic": TOPIC };
    let client = session.writer()?;
    let reply = Statement::of_configuration(args.actor.as_deref(), body).write(&client)?;
    show_written(session, &reply)
}

/// Reads an origin as a browser sends it: nothing in it but scheme, host and port, in small letters.
fn read_origin(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let legal = |c: char| {
        c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | ':' | '[' | ']')
    };
    match host {
        Some(host) if !host.is_empty() && host.chars().all(legal) => Ok(text.to_owned()),
        _ => Err("an origin is as in `https://console.example.org`, without a path".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_a_browser_sends() {
        for good in ["https://a.example", "http://localhost:5173", "http://[::1]:80"] {
            assert_eq!(read_origin(good).as_deref(), Ok(good));
        }
        for bad in ["", "*", "null", "a.example", "https://", "https://a/", "https://A.example"] {
            assert!(read_origin(bad).is_err(), "{bad}");
        }
        assert!(read_origin("https://vera@a.example").is_err());
    }
}
