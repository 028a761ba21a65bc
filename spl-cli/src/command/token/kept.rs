//! `spl token save` and `show-source`: the bearer that is sent to a server elsewhere.

use std::io::Read as _;

use clap::Args;
use spl::object;

use crate::failure::Failure;
use crate::home;
use crate::output::{DIM, GOOD, printable};
use crate::session::{Session, Source};

/// The most bytes of a bearer.
const MAX_BEARER_BYTES: u64 = 4096;

/// Keep a bearer for the servers that --server names
#[derive(Args, Debug)]
#[command(after_help = "\
It is kept in the home, where only you can read, and sent to the server that --server or
SPL_SERVE_URL names, unless --token or SPL_TOKEN says otherwise. This machine's own instance
needs none.

Examples:
  spl token save - < bearer.txt
  spl token save \"$TOKEN\"")]
pub(crate) struct SaveArgs {
    /// The bearer, or `-` to read it from standard input, where no list of processes shows it
    bearer: String,
}

/// Tell where the bearer comes from that a server elsewhere is sent; the bearer is not shown
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  spl --server http://127.0.0.1:9200 token show-source")]
pub(crate) struct ShowSourceArgs {}

/// Returns a bearer that a command line gives.
pub(super) fn given(argument: &str) -> Result<String, Failure> {
    let mut bearer = argument.to_owned();
    if argument == "-" {
        bearer.clear();
        std::io::stdin()
            .take(MAX_BEARER_BYTES)
            .read_to_string(&mut bearer)
            .map_err(|error| Failure::local("standard input could not be read", &error))?;
    }
    let bearer = bearer.trim();
    let graphic = !bearer.is_empty() && bearer.bytes().all(|byte| byte.is_ascii_graphic());
    if !bearer.starts_with("spl_") || !graphic {
        return Err(Failure::usage("this is not a bearer")
            .with_hint("A bearer is `spl_<env>_<account>_<secret>`."));
    }
    Ok(bearer.to_owned())
}

pub(super) fn save(session: &mut Session, args: &SaveArgs) -> Result<(), Failure> {
    let bearer = given(&args.bearer)?;
    let home = home::find()?;
    home.save_bearer(&bearer).map_err(|error| Failure::coded(&error))?;
    let path = home.saved_bearer_path().display().to_string();
    let answer = object! { "object": "saved_bearer", "path": path.as_str() };
    session.out.answer(&answer, |out| writeln!(out, "{GOOD}✓{GOOD:#} kept in {path}"))
}

pub(super) fn show_source(session: &mut Session, _: &ShowSourceArgs) -> Result<(), Failure> {
    let server = session.server();
    let source = session.bearer()?.map_or(Source::Nowhere, |(source, _)| source);
    let answer = object! {
        "object": "bearer_source",
        "server": server.as_deref(),
        "source": source.as_str(),
    };
    session.out.answer(&answer, |out| {
        match &server {
            None => writeln!(out, "{DIM}server{DIM:#} this machine's instance, which needs none")?,
            Some(url) => writeln!(out, "{DIM}server{DIM:#} {}", printable(url))?,
        }
        writeln!(out, "{DIM}bearer{DIM:#} {}", source.in_words())
    })
}
