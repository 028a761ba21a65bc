//! `spl session capture` and `spl session forget`: the transcript of a session.

use std::path::PathBuf;

use clap::Args;
use spl::canon::Value;

use super::show::session_of;
use super::source;
use crate::client::Target;
use crate::command::runs::word;
use crate::failure::Failure;
use crate::output::{DIM, GOOD, plural, printable};
use crate::session::Session;

/// Keep a masked copy of the transcript of a session
#[derive(Args, Debug)]
#[command(after_help = "\
Nothing does this by itself. The file is read by this command, as you: only a regular file of
yours below the folder where the harness keeps its sessions, no link, at most 64 MiB. What looks
like a secret is masked; the copy lies in the home of the instance, for its owner alone.

Examples:
  spl session capture th_4f0c
  spl session capture th_4f0c --file ~/.claude/projects/-home-vera-shop/7b0e2c9a.jsonl")]
pub(crate) struct CaptureArgs {
    /// The thread of the session, or so much of it that no other begins like that
    thread: String,
    /// The file [default: the one that the harness has named]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Delete the copy of the transcript of a session
#[derive(Args, Debug)]
#[command(after_help = "\
The records of the session remain, and so does the file that the harness keeps.

Example:
  spl session forget th_4f0c")]
pub(crate) struct ForgetArgs {
    /// The thread of the session, or so much of it that no other begins like that
    thread: String,
}

/// Keeps a transcript.
pub(super) fn capture(session: &mut Session, args: &CaptureArgs) -> Result<(), Failure> {
    let client = session.writer()?;
    let found = session_of(&client, &args.thread)?;
    let named = word(&found, "transcript_path");
    let file = match &args.file {
        Some(file) => file.clone(),
        None if named.is_empty() => {
            return Err(Failure::missing("the harness has not said where it keeps this session")
                .with_hint("Name the file with --file."));
        }
        None => PathBuf::from(named),
    };
    let bytes = source::read(&word(&found, "harness"), &file)?;
    let target = Target::of(&["v1", "sessions", &word(&found, "thread"), "retain"]);
    let kept = client.send_lines(&target, bytes)?.body;
    session.out.answer(&kept, |out| {
        let masked = kept.get("masked").and_then(Value::as_u64).unwrap_or_default();
        let masked = plural(masked, "secret");
        writeln!(out, "{GOOD}✓{GOOD:#} kept, {masked} masked ({} bytes)", word(&kept, "bytes"))?;
        writeln!(out, "{DIM}{}{DIM:#}", printable(&word(&kept, "path")))
    })
}

/// Deletes a transcript that was kept, and says what remains.
pub(super) fn forget(session: &mut Session, args: &ForgetArgs) -> Result<(), Failure> {
    let client = session.writer()?;
    let thread = word(&session_of(&client, &args.thread)?, "thread");
    let gone = client.delete(&Target::of(&["v1", "sessions", &thread, "source"]))?;
    session.out.answer(&gone, |out| {
        let remains = gone.get("remains").and_then(Value::as_object);
        let records = remains.and_then(|it| it.get("records")?.as_u64()).unwrap_or_default();
        let source = remains.and_then(|it| it.get("source")?.as_str());
        if gone.get("forgotten") == Some(&Value::Bool(true)) {
            writeln!(out, "{GOOD}✓{GOOD:#} forgotten")?;
        } else {
            writeln!(out, "no transcript is kept of this session")?;
        }
        writeln!(out, "{DIM}what remains: {} of the session{DIM:#}", plural(records, "record"))?;
        source.map_or(Ok(()), |source| {
            writeln!(out, "{DIM}and the harness's own file {}{DIM:#}", printable(source))
        })
    })
}
