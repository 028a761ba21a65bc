//! How a run went, when it is over.

use spl::canon::Value;
use spl::config::show_usd;
use spl::object;
use spl::policy::Block;
use spl::record::ThreadId;
use spl::run::Report;
use spl::secret::mask;

use crate::failure::Failure;
use crate::output::{self, Output, cut, plural, printable};

/// The most characters of a reason in the line that tells of it.
const REASON_COLUMNS: usize = 400;

/// Says how a run went. `again` is the command that takes it up.
pub(crate) fn tell(out: &mut Output, report: &Report, again: &str) -> Result<(), Failure> {
    let Report { outcome, spent, calls_ok, calls_failed, observations, thread, awaits } = report;
    let mut answer = object! {
        "input_tokens": spent.input_tokens,
        "object": "work_loop",
        "observations": *observations,
        "outcome": outcome.verb.as_str(),
        "output_tokens": spent.output_tokens,
        "spent_usd_micros": spent.usd_micros,
        "success": outcome.success(),
        "summary": &*mask(&outcome.summary),
        "thread": thread,
        "tool_calls_failed": *calls_failed,
        "tool_calls_ok": *calls_ok,
        "turns": spent.turns,
    };
    if outcome.resumable {
        answer.insert("resume".into(), again.into());
    }
    if let Some(request) = awaits {
        answer.insert("awaits".into(), (*request).into());
    }
    out.answer(&answer, |text| {
        write!(
            text,
            "{turns}, {calls_ok} calls ok, {calls_failed} failed, {heard}",
            turns = plural(spent.turns.into(), "turn"),
            heard = plural((*observations).into(), "observation"),
        )?;
        if spent.tokens() > 0 {
            write!(text, ", {} tokens", spent.tokens())?;
        }
        if spent.usd_micros > 0 {
            write!(text, ", {} USD", show_usd(spent.usd_micros))?;
        }
        writeln!(text)?;
        if let Some(request) = awaits {
            writeln!(text, "Answer it: spl decisions approve {request}")?;
        }
        if outcome.resumable {
            writeln!(text, "Take it up: {again}")?;
        }
        writeln!(text, "See it again: spl thread records {thread}")
    })
}

/// Says that a policy hook has blocked the goal, so that there was no run (contract-polyglot §7).
/// The keys are those that a program of the dialect looks for.
pub(crate) fn tell_blocked(
    out: &mut Output,
    block: &Block,
    thread: &ThreadId,
) -> Result<(), Failure> {
    let reason = mask(&block.reason);
    output::hook(&cut(&format!("{} blocked the goal: {reason}", block.event), REASON_COLUMNS));
    let answer = object! {
        "cost_usd": 0,
        "fell_back_to": Vec::<Value>::new(),
        "is_error": true,
        "object": "work_loop",
        "persisted": false,
        "reliability": object! { "retries": 0, "tool_calls_failed": 0 },
        "result": &*reason,
        "session_id": thread,
        "stop_reason": "hook_blocked",
        "success": false,
        "tokens": object! { "input": 0, "output": 0 },
    };
    out.answer(&answer, |text| {
        reason.lines().try_for_each(|line| writeln!(text, "{}", printable(line)))
    })
}
