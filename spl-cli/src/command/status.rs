//! `spl status`: show what is there and what runs.

use std::io::Write;

use spl::canon::{Object, Value};
use spl::engine::Home;
use spl::object;

use super::health::counts;
use super::serve::Holder;
use crate::client::Target;
use crate::failure::Failure;
use crate::home;
use crate::output::{DIM, printable};
use crate::policy;
use crate::session::Session;

/// Shows what is there and what runs.
pub(crate) fn status(session: &mut Session) -> Result<(), Failure> {
    if let Some(url) = session.server() {
        return remote(session, &url);
    }
    local(session, &home::find()?)
}

fn remote(session: &mut Session, url: &str) -> Result<(), Failure> {
    let mut answer = object! { "object": "status", "server": object! { "url": url } };
    answer.extend(counted(session)?);
    answer.extend(policy_here());
    session.out.answer(&answer, |out| {
        line(out, "server", url)?;
        show_counts(&answer, out)?;
        show_policy(&answer, out)
    })
}

fn local(session: &mut Session, home: &Home) -> Result<(), Failure> {
    let place = home.path().display().to_string();
    let initialised = home.is_initialised();
    let holder = Holder::of(home)?;
    let server = holder.as_ref().map(|holder| holder.to_object(home));
    let mut answer = object! {
        "home": place.as_str(),
        "initialised": initialised,
        "object": "status",
        "server": server,
    };
    if initialised {
        answer.extend(counted(session)?);
    }
    answer.extend(policy_here());
    session.out.answer(&answer, |out| {
        line(out, "home", &place)?;
        if !initialised {
            line(out, "instance", "none yet; `spl init` makes one, and so does a write")?;
            return show_policy(&answer, out);
        }
        match &holder {
            Some(holder) => line(out, "server", &holder.in_words())?,
            None => line(out, "server", "not running; commands open the store themselves")?,
        }
        show_counts(&answer, out)?;
        show_policy(&answer, out)
    })
}

fn counted(session: &Session) -> Result<Object, Failure> {
    let health = session.reader()?.get(&Target::of(&["v1", "engine", "health"]))?;
    let (hooks, builtin, records) = counts(&health);
    Ok(object! { "hooks_builtin": builtin, "hooks_loaded": hooks, "records": records })
}

fn show_counts(answer: &Object, out: &mut dyn Write) -> std::io::Result<()> {
    let count = |key: &str| answer.get(key).and_then(Value::as_u64).unwrap_or_default();
    line(out, "records", &count("records").to_string())?;
    let (hooks, builtin) = (count("hooks_loaded"), count("hooks_builtin"));
    line(out, "lessons", &format!("{hooks} loaded, and {builtin} built in"))
}

/// Counts the policy hooks of runs in this folder. Settings that are not taken are told of, and do
/// not keep the rest from being shown.
fn policy_here() -> Object {
    match policy::folder(None).and_then(|folder| policy::of(&folder)) {
        Ok(policy) => object! { "hooks": policy.summary() },
        Err(failure) => {
            object! { "hooks": Value::Null, "hooks_error": failure.envelope().clone() }
        }
    }
}

fn show_policy(answer: &Object, out: &mut dyn Write) -> std::io::Result<()> {
    let error = answer.get("hooks_error").and_then(|error| error.get("message"));
    let shown = match error.and_then(Value::as_str) {
        Some(message) => format!("not taken: {}", printable(message)),
        None => answer.get("hooks").and_then(Value::as_str).unwrap_or_default().to_owned(),
    };
    line(out, "hooks:", &shown)
}

fn line(out: &mut dyn Write, key: &str, value: &str) -> std::io::Result<()> {
    writeln!(out, "{DIM}{key:<8}{DIM:#} {value}")
}
