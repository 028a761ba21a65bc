//! `spl session save`: note down where the work stands.

use clap::Args;
use spl::object;

use crate::client::Target;
use crate::command::write::show_written;
use crate::failure::Failure;
use crate::session::{self, Session};

/// Where a draft lands if nobody says.
const ATTENTION: &str = "th_attention";

/// Note down where the work stands, for whoever takes it up
#[derive(Args, Debug)]
#[command(after_help = "\
With --draft, what is left out is derived: what closed, what is open, what waits and what moved
since the last one. It lands on `th_attention`, which `spl resume` begins with.

Examples:
  spl session save --thread th_4f0c… --summary 'The timeout was too short.' \\
      --learnings 'pay.rs has its own timeout' --next-steps 'raise it in the gateway too'
  spl session save --draft --reason context_window_limit")]
pub(crate) struct SaveArgs {
    /// The thread to write to; with --draft, `th_attention` if absent
    #[arg(long, value_name = "ID", required_unless_present = "draft")]
    thread: Option<String>,
    /// What it is about
    #[arg(long, value_name = "TEXT", required_unless_present = "draft")]
    summary: Option<String>,
    /// What was learned; may be given several times
    #[arg(long, value_name = "TEXT", num_args = 1.., required_unless_present = "draft")]
    learnings: Vec<String>,
    /// What is to be done next
    #[arg(long, value_name = "TEXT")]
    next_steps: Option<String>,
    /// Fill in what is left out
    #[arg(long)]
    draft: bool,
    /// Why now: `explicit_end`, `context_window_limit`, `timeout`, …
    #[arg(long, value_name = "WORD")]
    reason: Option<String>,
    /// The session, as its harness calls it
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// Who notes it down [default: `SPL_ACTOR`, else the owner of the instance]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

/// Writes a checkpoint.
pub(super) fn save(session: &mut Session, args: &SaveArgs) -> Result<(), Failure> {
    let client = session.writer()?;
    let thread = args.thread.as_deref().unwrap_or(ATTENTION);
    let mut body = object! {
        "actor": session::actor(args.actor.as_deref())?,
        "draft": args.draft,
        "learnings": args.learnings.clone(),
    };
    let texts = [
        ("next_steps", &args.next_steps),
        ("reason", &args.reason),
        ("session_id", &args.session_id),
        ("summary", &args.summary),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            body.insert(name.into(), text.as_str().into());
        }
    }
    let target = Target::of(&["v1", "threads", thread, "checkpoint"]);
    let written = client.post(&target, body)?;
    show_written(session, &written)
}
