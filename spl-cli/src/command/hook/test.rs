//! `spl hook test`: try a hook on a call, without writing or running anything.

use std::io::{self, Write};

use clap::Args;
use spl::canon::{Object, Value};
use spl::hook::{Builtin, Template};
use spl::object;
use spl::predicate::{Context, Predicate, Warning};
use spl::record::Namespace;

use super::sample::Sample;
use super::{row_of, state, text};
use crate::client::{Client, Target};
use crate::command::expr::{Evaluated, evaluator};
use crate::command::record::find;
use crate::failure::{Exit, Failure};
use crate::output::{DIM, GOOD, WARN, explained, printable};
use crate::session::Session;
use crate::warning;

/// Try a hook on a call, and see why it would speak or not
#[derive(Args, Debug)]
#[command(after_help = "\
A call is JSON, in a file, as it stands or on standard input with `-`: an object with `tool`, and
with `args`, `status` (ok) and `content` where they matter. `resource` is `tool:` and the tool,
unless it is said. Or it is the id of a recorded tool result, or so much of it that no other
record has it. Nothing is written.

Examples:
  spl hook test shell-failed --call call.json
  spl hook test shell-failed --call 5b6bf5cf --explain
  spl hook test --when 'record.body.args.command.contains(\"push --force\")' --explain \\
      --call '{\"tool\":\"bash\",\"args\":{\"command\":\"git push\"}}'

Exit status: 0 it holds, 1 it does not, 4 it fails or is not valid.")]
pub(crate) struct TestArgs {
    /// The name of the hook
    #[arg(required_unless_present = "when")]
    name: Option<String>,
    /// The namespace, where several have a hook of that name
    #[arg(long, value_name = "NS", requires = "name")]
    namespace: Option<String>,
    /// An expression to try instead of a hook
    #[arg(long, value_name = "EXPR", conflicts_with = "name")]
    when: Option<String>,
    /// What it would say
    #[arg(long, value_name = "TEXT", requires = "when")]
    text: Option<String>,
    /// The call: a file, JSON, `-`, or the id of a recorded result
    #[arg(long, value_name = "CALL", allow_hyphen_values = true)]
    call: String,
    /// Show what came of each part of the expression
    #[arg(long)]
    explain: bool,
}

/// The exit status of a hook that does not hold.
const DOES_NOT_HOLD: u8 = 1;

/// What is tried.
struct Tried {
    /// Its name and namespace, if it is a hook.
    key: Option<(String, String)>,
    state: &'static str,
    when: String,
    text: Option<String>,
}

pub(super) fn test(session: &mut Session, args: &TestArgs) -> Result<u8, Failure> {
    let client = evaluator(session)?;
    let tried = match &args.name {
        Some(name) => Tried::hook(&client, name, args.namespace.as_deref())?,
        None => Tried {
            key: None,
            state: "not written",
            when: args.when.clone().unwrap_or_default(),
            text: args.text.clone(),
        },
    };
    let predicate = Predicate::compile(&tried.when, Context::Hook)
        .map_err(|error| Failure::coded(&error).pointing_into(&tried.when))?;
    let sample = Sample::read(&client, &args.call)?;
    let request = object! {
        "context": Context::Hook.as_str(),
        "explain": true,
        "expression": tried.when.as_str(),
        "record": sample.record.clone(),
        "resource": sample.resource.as_str(),
    };
    let answer = client.post(&Target::of(&["v1", "expr", "eval"]), request)?.body;
    let evaluated = Evaluated::of(&answer);
    let holds = evaluated.holds();
    let says = tried.says(&sample).filter(|_| holds == Ok(true));
    let answer = tried.answer(&sample, &evaluated, says.as_deref(), predicate.warnings());
    session.out.answer(&answer, |out| {
        tried.print(&holds, out)?;
        let mut line =
            |key: &str, value: &str| writeln!(out, "{DIM}{key:<7}{DIM:#} {}", printable(value));
        line("state", &tried.state_for(&sample))?;
        if let Some(says) = &says {
            line("says", says)?;
        }
        if args.explain {
            writeln!(out)?;
            explained(&evaluated.explanation, out)?;
        }
        Ok(())
    })?;
    Ok(match holds {
        Ok(true) => 0,
        Ok(false) => DOES_NOT_HOLD,
        Err(_) => Exit::Invalid as u8,
    })
}

impl Tried {
    fn hook(client: &Client, name: &str, namespace: Option<&str>) -> Result<Self, Failure> {
        let row = row_of(client, name, namespace)?;
        let shown = Value::from(row);
        let Some(id) = shown.get("record_id").and_then(Value::as_str) else {
            return Err(Failure::invalid(match Builtin::named(name) {
                Some(_) => format!("`{name}` is built in and looks at more than one call"),
                None => format!("`{name}` was refused and has no earlier version"),
            }));
        };
        let record = find(client, id)?;
        let body = record.get("body").cloned().unwrap_or(Value::Null);
        Ok(Self {
            key: Some((name.to_owned(), text(&shown, "namespace").to_owned())),
            state: state(&shown),
            when: text(&body, "when").to_owned(),
            text: Some(text(&body, "text").to_owned()),
        })
    }

    /// Returns the words, as the run is shown them.
    fn says(&self, sample: &Sample) -> Option<String> {
        let words = Template::new(self.text.as_deref()?).fill(&sample.tool, &sample.status);
        Some(match &self.key {
            Some((name, _)) => format!("{name}: {words}"),
            None => words,
        })
    }

    /// Returns the state, and whether the hook is one for the run of the call at all.
    fn state_for(&self, sample: &Sample) -> String {
        let of_hook = self.key.as_ref().and_then(|(_, space)| Namespace::parse(space).ok());
        let of_call = sample.namespace.as_ref().and_then(|space| Namespace::parse(space).ok());
        match of_hook.zip(of_call) {
            Some((hook, call)) if !hook.covers(&call) => {
                format!("{} in {hook}, and the call was in {call}", self.state)
            }
            _ => self.state.to_owned(),
        }
    }

    fn print(&self, holds: &Result<bool, String>, out: &mut dyn Write) -> io::Result<()> {
        let name = self.key.as_ref().map(|(name, _)| format!("{} ", printable(name)));
        let name = name.unwrap_or_default();
        match holds {
            Ok(true) => writeln!(out, "{GOOD}✓{GOOD:#} {name}holds"),
            Ok(false) => writeln!(out, "{DIM}✗{DIM:#} {name}does not hold"),
            Err(why) => writeln!(out, "{WARN}✗ {name}fails:{WARN:#} {}", printable(why)),
        }
    }

    fn answer(
        &self,
        sample: &Sample,
        evaluated: &Evaluated,
        says: Option<&str>,
        warnings: &[Warning],
    ) -> Object {
        let holds = evaluated.holds();
        let mut answer = object! {
            "call": object! {
                "resource": sample.resource.as_str(),
                "status": sample.status.as_str(),
                "tool": sample.tool.as_str(),
            },
            "explanation": evaluated.explanation.clone(),
            "holds": holds.clone().ok(),
            "object": "hook_test",
            "state": self.state,
            "warnings": warning::objects(warnings),
            "when": self.when.as_str(),
        };
        if let Some((name, namespace)) = &self.key {
            answer.insert("name".into(), name.as_str().into());
            answer.insert("namespace".into(), namespace.as_str().into());
        }
        answer.extend(says.map(|says| ("says".to_owned(), says.into())));
        answer.extend(holds.err().map(|why| ("failure".to_owned(), why.into())));
        answer
    }
}
