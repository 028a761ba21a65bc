//! `spl policy list`: what is asked, what is not, and why.

use std::io::{self, Write};
use std::path::Path;

use spl::canon::{Object, Value};
use spl::object;
use spl::policy::{Mode, NotApplied, Policy, PolicyHook, Seam, Skipped};

use super::switch::{sentence, word};
use super::test::command_of;
use crate::failure::Failure;
use crate::home;
use crate::output::{DIM, NAME, Table, WARN, cut, printable};
use crate::policy;
use crate::session::Session;

/// The most characters of a command in a list.
const COLUMNS: usize = 60;

/// What is said below a list with hooks that other harnesses never ask.
const ONLY_RUNS: &str = "* asked in runs alone, and not applied in the sessions of other harnesses";

/// Shows the policy hooks of a folder.
pub(super) fn list(session: &mut Session, workspace: Option<&Path>) -> Result<(), Failure> {
    let workspace = policy::folder(workspace)?;
    let policy = policy::of(&workspace)?;
    let on = home::find()?.policy_switch().map_err(|error| Failure::coded(&error))?;
    let answer = answer(&policy, &workspace, on);
    session.out.answer(&answer, |out| {
        writeln!(out, "{DIM}folder{DIM:#}  {}", printable(&workspace.to_string_lossy()))?;
        writeln!(out, "{DIM}hooks:{DIM:#}  {}", policy.summary())?;
        in_force(policy.hooks(), out)?;
        skipped(policy.skipped(), out)?;
        not_applied(policy.not_applied(), out)?;
        beside(&policy, out)?;
        writeln!(out, "\n{}", sentence(on))
    })
}

fn in_force(hooks: &[PolicyHook], out: &mut dyn Write) -> io::Result<()> {
    if hooks.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(["EVENT", "COMMAND", "TOOLS", "TIMEOUT", "FROM"]);
    for hook in hooks {
        table.row([
            format!("{}{}", hook.source.event, if in_sessions(hook) { "" } else { " *" }),
            cut(command_of(hook), COLUMNS),
            tools(hook),
            format!("{} ms", hook.timeout.as_millis()),
            format!("{} {}", hook.source.scope.as_str(), printable(&hook.source.to_string())),
        ]);
    }
    writeln!(out)?;
    table.print(out)?;
    if hooks.iter().any(|hook| !in_sessions(hook)) {
        writeln!(out, "{DIM}{ONLY_RUNS}{DIM:#}")?;
    }
    Ok(())
}

/// Shows what else of the settings holds in a run.
fn beside(policy: &Policy, out: &mut dyn Write) -> io::Result<()> {
    let mut lines: Vec<(&str, String)> = policy
        .deny_rules()
        .map(|(path, rule)| ("denies", format!("{}  {}", rule.as_str(), path.display())))
        .collect();
    lines.push(("secrets", secrets(policy).to_owned()));
    lines.extend(policy.audit().map(|audit| ("audit", audit.folder.display().to_string())));
    writeln!(out)?;
    lines
        .iter()
        .try_for_each(|(key, value)| writeln!(out, "{DIM}{key:<7}{DIM:#} {}", printable(value)))
}

/// Says what happens to what looks like a secret in the result of a tool.
fn secrets(policy: &Policy) -> &'static str {
    match policy.redaction().mode {
        Mode::Off => "not looked for in results",
        Mode::Warn => "stay in results, and are told of in the audit file",
        Mode::Redact => "replaced in results",
    }
}

fn tools(hook: &PolicyHook) -> String {
    let tools: Vec<&str> = hook.matcher.tools.iter().map(|glob| glob.as_str()).collect();
    match (hook.seam, tools.is_empty()) {
        (Seam::Prompt, _) => "-".to_owned(),
        (_, true) => "all".to_owned(),
        (_, false) => printable(&tools.join(" ")).into_owned(),
    }
}

/// Returns whether a hook is asked in sessions of other harnesses too: what a tool has said there
/// cannot be taken back.
fn in_sessions(hook: &PolicyHook) -> bool {
    hook.seam != Seam::After
}

fn skipped(skipped: &[Skipped], out: &mut dyn Write) -> io::Result<()> {
    if !skipped.is_empty() {
        writeln!(out, "\n{NAME}not asked{NAME:#}")?;
    }
    for Skipped { path, scope, event, position, command, why } in skipped {
        let place = match (event, position) {
            (Some(event), Some(at)) => format!(" {event}[{at}]"),
            _ => String::new(),
        };
        let path = path.to_string_lossy();
        writeln!(out, "  {} {}{place}", scope.as_str(), printable(&path))?;
        if let Some(command) = command {
            writeln!(out, "    {}", cut(command, COLUMNS))?;
        }
        writeln!(out, "    {WARN}{}{WARN:#}", printable(why))?;
    }
    Ok(())
}

fn not_applied(settings: &[NotApplied], out: &mut dyn Write) -> io::Result<()> {
    if !settings.is_empty() {
        writeln!(out, "\n{NAME}settings without effect{NAME:#}")?;
    }
    for NotApplied { path, scope, key, why } in settings {
        let path = path.to_string_lossy();
        let (scope, path) = (scope.as_str(), printable(&path));
        writeln!(out, "  {key}: {}  {DIM}{scope} {path}{DIM:#}", printable(why))?;
    }
    Ok(())
}

fn answer(policy: &Policy, workspace: &Path, on: bool) -> Object {
    let hooks: Vec<Object> = policy.hooks().iter().map(|hook| hook_object(hook, on)).collect();
    let skipped: Vec<Object> = policy.skipped().iter().map(skipped_object).collect();
    let not_applied: Vec<Object> = policy.not_applied().iter().map(not_applied_object).collect();
    let deny: Vec<Object> = policy
        .deny_rules()
        .map(|(path, rule)| object! { "path": path_value(path), "rule": rule.as_str() })
        .collect();
    let redaction = match policy.redaction().mode {
        Mode::Off => "off",
        Mode::Warn => "warn",
        Mode::Redact => "redact",
    };
    let audit = policy.audit().map(|audit| {
        object! {
            "folder": path_value(&audit.folder),
            "hash_args": audit.hash_args,
            "retention_days": audit.retention_days,
        }
    });
    object! {
        "audit": audit,
        "deny": deny,
        "harness_sessions": word(on),
        "hooks": hooks,
        "not_applied": not_applied,
        "object": "policy",
        "redaction": redaction,
        "skipped": skipped,
        "summary": policy.summary(),
        "workspace": path_value(workspace),
    }
}

fn hook_object(hook: &PolicyHook, on: bool) -> Object {
    let tools: Vec<&str> = hook.matcher.tools.iter().map(|glob| glob.as_str()).collect();
    object! {
        "command": command_of(hook),
        "event": hook.source.event,
        "in_harness_sessions": on && in_sessions(hook),
        "path": path_value(&hook.source.path),
        "position": hook.source.position,
        "scope": hook.source.scope.as_str(),
        "seam": hook.seam.as_str(),
        "timeout_ms": u64::try_from(hook.timeout.as_millis()).unwrap_or(u64::MAX),
        "tools": tools,
    }
}

fn skipped_object(skipped: &Skipped) -> Object {
    object! {
        "command": skipped.command.as_deref(),
        "event": skipped.event,
        "path": path_value(&skipped.path),
        "position": skipped.position,
        "scope": skipped.scope.as_str(),
        "why": skipped.why.as_str(),
    }
}

fn not_applied_object(setting: &NotApplied) -> Object {
    object! {
        "key": setting.key,
        "path": path_value(&setting.path),
        "scope": setting.scope.as_str(),
        "why": setting.why,
    }
}

fn path_value(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}
