//! `spl work-loop-review`: judge a run that is over.

use clap::{ArgGroup, Args};
use spl::canon::Value;
use spl::object;

use super::trust::score;
use crate::client::Target;
use crate::failure::Failure;
use crate::output::{self, GOOD, plural, printable};
use crate::session::{self, Session};

/// Judge a run that is over
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("verdict").required(true))]
#[command(after_help = "\
The verdict is a record on the run's thread, and the one thing that trust is earned by. Nobody
judges himself: a verdict of the run's own actor is stored and does not count.

Examples:
  spl work-loop-review th_… --accept
  spl work-loop-review th_… --reject --domain code --notes 'the tests do not run'")]
pub(crate) struct ReviewArgs {
    /// The thread of the run
    thread: String,
    /// The work is accepted
    #[arg(long, group = "verdict")]
    accept: bool,
    /// The work is rejected
    #[arg(long, group = "verdict")]
    reject: bool,
    /// What the work is judged in [default: the run's own domain]
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    notes: Option<String>,
    /// Who judges [default: `SPL_ACTOR`, else the owner of the instance]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

/// Judges a run that is over.
pub(crate) fn review(session: &mut Session, args: &ReviewArgs) -> Result<(), Failure> {
    let client = session.reader()?;
    let mut request = object! {
        "actor": session::actor(args.actor.as_deref())?,
        "verdict": if args.accept { "accept" } else { "reject" },
    };
    for (key, given) in [("domain", &args.domain), ("notes", &args.notes)] {
        if let Some(given) = given {
            request.insert(key.into(), given.as_str().into());
        }
    }
    let target = Target::of(&["v1", "work", "loop", &args.thread, "review"]);
    let review = client.post(&target, request)?.body;
    let text = |key| printable(review.get(key).and_then(Value::as_str).unwrap_or_default());
    let counted = review.get("counted").and_then(Value::as_bool).unwrap_or_default();
    session.out.answer(&review, |out| {
        let word = if args.accept { "accepted" } else { "rejected" };
        let samples = review.get("samples").and_then(Value::as_u64).unwrap_or_default();
        let (actor, domain) = (text("actor"), text("domain"));
        writeln!(out, "{GOOD}✓{GOOD:#} {word}, record {}", text("record_id"))?;
        writeln!(out, "{actor} in {domain}: {} from {}", score(&review), plural(samples, "verdict"))
    })?;
    if !counted {
        output::warn("nobody judges himself: this verdict is stored and does not count");
    }
    Ok(())
}
