//! A run on a server, started from here and followed.

use spl::canon::Value;

use super::WorkLoopArgs;
use crate::client::Target;
use crate::command::runs::{Following, follow};
use crate::failure::Failure;
use crate::session::Session;

/// Starts the run on the server and follows it. Whoever leaves does not stop it.
pub(super) fn run(session: &mut Session, args: &WorkLoopArgs) -> Result<u8, Failure> {
    if args.resume.is_some() {
        return Err(Failure::usage("--remote begins a run and takes up none")
            .with_hint("Use `spl runs resume`."));
    }
    let mut request = args.spec.to_request(args.goal.as_deref().unwrap_or_default());
    if let Some(model) = args.model.named() {
        request.insert("model".into(), model.into());
    }
    let target = Target::of(&["v1", "work", "loop"]);
    let started = session.writer()?.post(&target, request)?.body;
    let thread = started.get("thread").and_then(Value::as_str).unwrap_or_default();
    follow(session, &Following { thread, detached: true })
}
