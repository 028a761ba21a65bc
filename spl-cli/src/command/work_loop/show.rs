//! A run as it happens, for a person or a program.
//!
//! What looks like a secret is masked, as it is in the records of the run: what is printed ends in
//! logs. Alone the words that a model streams to a terminal are shown as they come, in pieces.

use std::io::{self, IsTerminal as _};

use spl::canon::{Object, Value};
use spl::object;
use spl::run::Moment;
use spl::secret::{mask, mask_value};

use crate::failure::Failure;
use crate::output::{self, DIM, ERROR, Form, GOOD, NAME, Output, WARN, cut, printable};

/// The most lines of an answer that a person is shown.
const LINES: usize = 6;

/// The most characters of one line.
const COLUMNS: usize = 100;

/// The most characters of what is said of a policy hook.
const ASIDE_COLUMNS: usize = 400;

/// Shows a run as it happens.
#[derive(Debug, Default)]
pub(crate) struct Show {
    /// Whether the words of the turn have been shown as they came.
    streamed: bool,
}

impl Show {
    /// Shows one moment: a line or a few to a person, an object a line to a program that follows,
    /// and nothing to one that waits for the end.
    pub(crate) fn moment(&mut self, out: &mut Output, moment: &Moment<'_>) -> Result<(), Failure> {
        aside(moment);
        match (out.form(), moment) {
            (Form::Json, _) | (Form::StreamJson, Moment::Words(_)) => Ok(()),
            (Form::StreamJson, _) => out.row(&mask_value(&as_object(moment).into()), |_| Ok(())),
            (Form::Text, Moment::Words(words)) => {
                if !io::stdout().is_terminal() {
                    return Ok(());
                }
                let start = if self.streamed { "" } else { "  " };
                self.streamed = true;
                let words = printable_lines(words);
                out.row(&Value::Null, |to| write!(to, "{start}{words}"))
            }
            (Form::Text, Moment::Replied { turn, .. }) if std::mem::take(&mut self.streamed) => {
                out.row(&Value::Null, |to| write!(to, "\n{DIM}turn {turn}{DIM:#}\n"))
            }
            (Form::Text, _) => {
                let text = as_text(moment);
                out.row(&Value::Null, |to| write!(to, "{text}"))
            }
        }
    }
}

/// Says on standard error what policy hooks do that somebody should know of, whatever the form.
fn aside(moment: &Moment<'_>) {
    let said = match moment {
        Moment::Warned(warning) => warning.to_string(),
        Moment::Blocked { request, block } => {
            format!("{} blocked {}: {}", block.event, request.name, block.reason)
        }
        Moment::Within { moment, .. } => return aside(moment),
        _ => return,
    };
    output::hook(&cut(&mask(&said), ASIDE_COLUMNS));
}

/// Returns words in print, with their lines.
fn printable_lines(words: &str) -> String {
    let lines: Vec<String> = words.split('\n').map(|line| printable(line).to_string()).collect();
    lines.join("\n  ")
}

fn as_text(moment: &Moment<'_>) -> String {
    match moment {
        Moment::Opened(thread) => format!("{DIM}loop {thread}{DIM:#}\n"),
        Moment::Resumed { thread, life } => {
            format!("{DIM}loop {thread}, taken up, life {life}{DIM:#}\n")
        }
        Moment::Steered(words) => format!("{NAME}told{NAME:#}\n{}", indented(&mask(words), "  ")),
        // The first were shown as they came, and the others said on standard error.
        Moment::Words(_) | Moment::Warned(_) | Moment::Blocked { .. } => String::new(),
        Moment::Asked { request, question } => {
            let question = cut(&printable(&mask(question)), COLUMNS);
            format!("  {WARN}? {question}{WARN:#} {DIM}{request}{DIM:#}\n")
        }
        Moment::Replied { turn, reply } => {
            let said = mask(&reply.text);
            let words = if said.is_empty() { String::new() } else { indented(&said, "  ") };
            format!("{NAME}turn {turn}{NAME:#}\n{words}")
        }
        Moment::Calling(request) => {
            let args = mask_value(&Value::from(request.args.clone())).to_string();
            format!("  → {} {}\n", printable(&request.name), cut(&printable(&args), COLUMNS))
        }
        Moment::Returned { answer, .. } => {
            let style = if answer.status.as_str() == "ok" { GOOD } else { ERROR };
            let shown = indented(&mask(&answer.shown), "    ");
            format!("  ← {style}{}{style:#}\n{DIM}{shown}{DIM:#}", answer.status)
        }
        Moment::Heard(heard) => {
            let (rule, text) = (printable(&heard.rule), printable(&heard.text));
            format!("  {WARN}! {rule}: {text}{WARN:#}\n")
        }
        Moment::Within { moment, .. } => {
            let lines: Vec<String> =
                as_text(moment).lines().map(|it| format!("    {it}\n")).collect();
            lines.concat()
        }
        Moment::Closed(outcome) => {
            let style = if outcome.success() { GOOD } else { ERROR };
            let summary = match outcome.summary.as_str() {
                "" | "cancelled" => String::new(),
                summary => format!(" {}", cut(&printable(&mask(summary)), COLUMNS)),
            };
            format!("{style}{}{style:#}{summary}\n", outcome.verb)
        }
    }
}

/// The first lines of a text, each behind `indent`.
fn indented(text: &str, indent: &str) -> String {
    let mut lines = text.lines();
    let mut shown = String::new();
    for line in lines.by_ref().take(LINES) {
        shown.push_str(&format!("{indent}{}\n", cut(line, COLUMNS)));
    }
    let more = lines.count();
    if more > 0 {
        shown.push_str(&format!("{indent}… {more} lines more\n"));
    }
    shown
}

fn as_object(moment: &Moment<'_>) -> Object {
    match moment {
        Moment::Opened(thread) => object! { "object": "opened", "thread": *thread },
        Moment::Resumed { thread, life } => {
            object! { "life": *life, "object": "resumed", "thread": *thread }
        }
        Moment::Steered(words) => object! { "object": "message", "text": *words },
        Moment::Words(words) => object! { "object": "words", "text": *words },
        Moment::Asked { request, question } => {
            object! { "id": *request, "object": "decision_request", "question": *question }
        }
        Moment::Replied { turn, reply } => {
            object! { "object": "turn", "text": reply.text.as_str(), "turn": *turn }
        }
        Moment::Warned(warning) => object! {
            "detail": warning.detail.as_str(),
            "event": warning.event,
            "object": "hook_warning",
            "what": warning.how.as_str(),
        },
        Moment::Blocked { request, block } => object! {
            "call_id": request.id.as_str(),
            "event": block.event,
            "object": "hook_blocked",
            "reason": block.reason.as_str(),
            "tool": request.name.as_str(),
        },
        Moment::Calling(request) => object! {
            "args": request.args.clone(),
            "call_id": request.id.as_str(),
            "object": "tool_call",
            "tool": request.name.as_str(),
        },
        Moment::Returned { request, answer } => object! {
            "call_id": request.id.as_str(),
            "content": answer.shown.as_str(),
            "object": "tool_result",
            "status": answer.status.as_str(),
            "tool": request.name.as_str(),
        },
        Moment::Heard(heard) => object! {
            "id": heard.record,
            "object": "observation",
            "rule": heard.rule.as_str(),
            "text": heard.text.as_str(),
        },
        Moment::Within { task, moment } => {
            let mut object = as_object(moment);
            object.insert("task".into(), (*task).into());
            object
        }
        Moment::Closed(outcome) => object! {
            "object": "outcome",
            "outcome": outcome.verb.as_str(),
            "success": outcome.success(),
            "summary": outcome.summary.as_str(),
        },
    }
}
