//! Policy hooks, asked about an event that waits for a decision.
//!
//! They are those of the user's own `.polyglot/settings.json`, and those of the project where this
//! process stands, if the user has opted in to them. They run in the folder of this process; the one
//! that a payload names is handed on to them and is nothing else. No variable switches anything:
//! a project can set those of the harness it is opened in.
//!
//! Whatever goes wrong here is a warning, and nothing is refused: it must not end the work of whoever
//! has a mistake in a file. Who cannot have that refuses with the harness's own rules.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use spl::cancel::Cancel;
use spl::policy::audit::{Audit, Entry};
use spl::policy::polyglot::{self, Files, Project};
use spl::policy::{Block, Policy, Seam};
use spl::record::Namespace;
use spl::secret::mask;
use spl::session::{Decided, Event, Pending, PendingCall, Refusal, agent_of, session_thread};
use spl::time::TimeSource;

use super::HookArgs;
use super::notice::Notice;
use super::place::Place;
use crate::home;

/// How long before the harness gives up there must be an answer.
const MARGIN: Duration = Duration::from_secs(5);

/// Why the hooks of a project are not asked.
const ELSEWHERE: &str = "the harness works in another folder than its hook";

/// Asks the policy hooks. Nothing to say is nothing.
pub(super) fn decide(
    args: &HookArgs,
    place: &Place,
    event: &Event,
    pending: &Pending,
    notice: &Notice,
) -> Option<Decided> {
    match place.home.policy_switch() {
        Ok(true) => {}
        Ok(false) => return None,
        // What was switched off may be; what does not read was not.
        Err(error) => notice.say(&format!("the switch of policy hooks does not read: {error}")),
    }
    let here = match env::current_dir() {
        Ok(here) => here,
        Err(error) => {
            notice.say(&format!("policy hooks are not asked: this folder is not there: {error}"));
            return None;
        }
    };
    let elsewhere = event.cwd.as_deref().is_some_and(|cwd| !is_same(Path::new(cwd), &here));
    let project = if elsewhere { Project::Ignored(ELSEWHERE) } else { Project::Asked };
    let user = user(args);
    let policy = load(user.as_deref(), &here, project, notice)?;
    let wait = Duration::from_secs(event.harness.decision_secs(&event.name).into());
    let told = event.cwd.as_ref().map_or_else(|| here.clone(), PathBuf::from);
    let policy = policy
        .at(here, env::vars_os().collect::<Vec<(OsString, OsString)>>())
        .telling(told)
        .within(wait.saturating_sub(MARGIN));
    let decided = ask(&policy, pending, notice);
    note(&policy, event, pending, decided.as_ref(), elsewhere);
    decided
}

/// Reads the settings. What a project has made of its own never keeps the user's from being in force.
fn load(user: Option<&Path>, here: &Path, project: Project, notice: &Notice) -> Option<Policy> {
    let load = |workspace| {
        polyglot::load(&Files { home: user, workspace, project }, &|_| None)
            .inspect_err(|error| notice.say(&format!("policy settings are not in force: {error}")))
    };
    let loaded = load(here).or_else(|error| {
        // The user's own read no better without the project's, and in the user's folder both are one.
        let of_project = error.path.ancestors().nth(2) == Some(here);
        load(user.filter(|user| of_project && *user != here).ok_or(error)?)
    });
    loaded.ok()
}

/// Asks the settings first, which cost nothing, and then the hooks.
fn ask(policy: &Policy, pending: &Pending, notice: &Notice) -> Option<Decided> {
    if let Pending::Call(PendingCall { tool, input, .. }) = pending
        && let Some(reason) = policy.denies(tool, input)
    {
        let block = Block { seam: Seam::Before, event: Refusal::BY_SETTINGS, reason };
        return Some(pending.refused(block, None));
    }
    let verdict = policy.ask(&pending.question(), &Cancel::new());
    for warning in verdict.warnings() {
        notice.say(&mask(&format!("hook: {warning}")));
    }
    pending.decided(verdict)
}

/// Writes the lines of the audit file, if the settings ask for one.
fn note(
    policy: &Policy,
    event: &Event,
    pending: &Pending,
    decided: Option<&Decided>,
    elsewhere: bool,
) {
    let Some(settings) = policy.audit() else { return };
    let now = TimeSource::system().now();
    let model = event.model.as_deref().unwrap_or(event.harness.name());
    let note = elsewhere.then(|| format!("the hooks of the project were not asked: {ELSEWHERE}"));
    let audit = Audit::open(Some(settings), &event.session_id, model, now).noting(note);
    if let Pending::Call(PendingCall { tool, input, .. }) = pending {
        audit.write(&Entry::ToolCall { tool, args: input }, now);
    }
    let Some(Decided::Refused(refusal)) = decided else { return };
    if let (Some(tool), None) = (&refusal.tool, &refusal.source) {
        let reason = Some(refusal.block.reason.as_str());
        audit.write(&Entry::PermissionDecision { tool, allowed: false, reason }, now);
        return;
    }
    let agent = event.agent.as_ref().map(|agent| agent.id.as_str());
    let thread = session_thread(event.harness, &event.session_id, agent);
    let actor = agent_of(event.harness);
    let root = Namespace::root();
    let blocked = refusal.blocked(&thread, &actor, &root);
    audit.write(&Entry::HookBlocked(&blocked), now);
}

/// Returns the user's own folder: what the command line says, else what everything else takes for it.
fn user(args: &HookArgs) -> Option<PathBuf> {
    let given = args.variable("HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    given.or_else(home::folder)
}

/// Returns whether two paths are one folder. One that is not there is no other's.
fn is_same(one: &Path, other: &Path) -> bool {
    let which = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    one == other || which(one).is_some_and(|one| which(other) == Some(one))
}
