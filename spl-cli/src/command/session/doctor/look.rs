//! One harness, looked at.

use std::env;
use std::path::{Path, PathBuf};

use spl::canon::Object;
use spl::code::Coded as _;
use spl::engine::Home;
use spl::object;
use spl::policy::polyglot::{self, Files, Project};
use spl::time::Timestamp;

use super::super::super::doctor::Check;
use super::super::codex::{Config, Trust};
use super::super::command_line::{self, is_program};
use super::super::file::SettingsFile;
use super::super::harness::{Event, Harness};
use super::super::history::History;
use super::super::install_hooks::{is_also_the_projects, settings_path};
use super::super::installed::Kept;
use super::super::readable::{read, text_of};
use super::super::self_test::self_test;
use super::super::settings::{Entry, entries};
use super::super::{plugin, policy};
use super::objects;
use crate::failure::Failure;
use crate::home;
use crate::policy::folder;

/// What was seen of a harness.
pub(super) struct Looked {
    /// Which.
    pub(super) harness: Harness,
    /// Whether there are hooks of ours in the file that it reads.
    pub(super) installed: bool,
    /// Where those write to.
    pub(super) home: Option<Home>,
    /// When they were written.
    pub(super) since: Option<Timestamp>,
    /// What was looked at.
    pub(super) checks: Vec<Check>,
    found: bool,
    decides: bool,
    trust: &'static str,
    history: Option<History>,
    settings: PathBuf,
}

impl Looked {
    /// Returns it as a program reads it.
    pub(super) fn to_object(&self) -> Object {
        let last = self.history.as_ref().and_then(|history| history.last.as_ref());
        object! {
            "checks": objects(&self.checks),
            "decides": self.decides,
            "events_since_install": self.history.as_ref().map(|history| history.since),
            "found": self.found,
            "harness": self.harness.name(),
            "installed": self.installed,
            "installed_at": self.since.map(|at| at.to_string()),
            "last_event_at": last.map(|(at, _)| at.to_string()),
            "settings": self.settings.display().to_string(),
            "trust": self.trust,
        }
    }
}

/// Looks at a harness.
pub(super) fn look(harness: Harness, settings: Option<&Path>) -> Result<Looked, Failure> {
    let path = settings_path(harness, settings)?;
    let mut looked = Looked {
        harness,
        installed: false,
        home: None,
        since: None,
        checks: Vec::new(),
        found: false,
        decides: false,
        trust: "unknown",
        history: None,
        settings: path.clone(),
    };
    let check = is_found(harness, &path, &mut looked.found);
    looked.checks.push(check);
    if !looked.found {
        return Ok(looked);
    }
    let file = SettingsFile::read(&path)?;
    let found = match ours(harness, &file) {
        Ok(found) => found,
        Err(failure) => {
            let check = Check::fail("installed", failure.message());
            looked.checks.push(failure.hint().into_iter().fold(check, Check::hint));
            return Ok(looked);
        }
    };
    looked.installed = !found.is_empty();
    looked.checks.push(is_installed(harness, &file, &found));
    if !looked.installed {
        return Ok(looked);
    }
    let mut commands: Vec<&str> = found.iter().map(|entry| entry.command.as_str()).collect();
    commands.sort_unstable();
    commands.dedup();
    let home = match commands.first().and_then(|command| command_line::home_of(command)) {
        Some(home) => Home::at(home),
        None => home::find()?,
    };
    looked.checks.extend(is_the_instance_here(&home)?);
    looked.since = Kept::of(&home, harness, &file).read().map(|kept| kept.at);
    looked.checks.extend(commands.iter().filter_map(|command| program_is_there(command)));
    let (trust, check) = is_trusted(harness, &file, &found);
    looked.trust = trust;
    looked.checks.push(check);
    looked.checks.push(is_switched_on(harness, &path));
    looked.checks.extend(is_nobody_elses(harness, &path));
    match History::of(&home, harness, looked.since) {
        Ok(history) => {
            looked.checks.push(has_fired(harness, looked.since, &history));
            looked.history = Some(history);
        }
        Err(error) => looked.checks.push(Check::failed("fired", &error)),
    }
    let there = commands.iter().filter(|command| program_is_there(command).is_none());
    looked.checks.extend(there.map(|command| self_test(harness, command)));
    looked.decides = found.iter().any(Entry::decides);
    if looked.decides {
        looked.checks.push(is_decided(&found, &home)?);
    }
    looked.home = Some(home);
    Ok(looked)
}

/// Finds our hooks in a file that the harness reads.
fn ours(harness: Harness, file: &SettingsFile) -> Result<Vec<Entry>, Failure> {
    let Some(text) = text_of(file)? else { return Ok(Vec::new()) };
    if harness == Harness::Opencode {
        return Ok(plugin::entries(text));
    }
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let document = read(harness, file, text)?;
    entries(&document).map_err(|fault| Failure::invalid(fault.what))
}

fn is_found(harness: Harness, settings: &Path, found: &mut bool) -> Check {
    let program = harness.program();
    let path = env::var_os("PATH").unwrap_or_default();
    let there =
        env::split_paths(&path).map(|folder| folder.join(program)).find(|it| is_program(it));
    let folder = harness.folder().filter(|folder| folder.is_dir());
    *found = there.is_some() || folder.is_some() || settings.exists();
    Check::pass(
        "found",
        match (there, folder) {
            (Some(there), _) => there.display().to_string(),
            (None, Some(folder)) => {
                format!("`{program}` is not on PATH, and there is {}", folder.display())
            }
            (None, None) if *found => format!("`{program}` is not on PATH"),
            (None, None) => "not here".into(),
        },
    )
}

fn is_installed(harness: Harness, file: &SettingsFile, found: &[Entry]) -> Check {
    const NAME: &str = "installed";
    let path = file.path.display();
    let again = format!("Run `spl session install-hooks --harness {}", harness.name());
    let deciding = found.iter().any(Entry::decides);
    let again = if deciding { format!("{again} --with-policy`.") } else { format!("{again}`.") };
    let events = harness.events(deciding);
    let has = |event: &Event| {
        let serves = |entry: &Entry| entry.event == event.name && entry.decides() == event.decides;
        found.iter().any(serves)
    };
    let missing: Vec<&str> =
        events.iter().filter(|event| !has(event)).map(|event| event.name).collect();
    if found.is_empty() {
        return Check::pass(NAME, format!("no, {path} has no hooks of ours")).hint(again);
    }
    if missing.is_empty() {
        return Check::pass(NAME, format!("{} events in {path}", events.len()));
    }
    Check::warn(NAME, format!("{path} has no hook of ours for {}", missing.join(", "))).hint(again)
}

/// Whoever relies on policy hooks wants to know that they are off, or that nobody reads them.
fn is_decided(found: &[Entry], home: &Home) -> Result<Check, Failure> {
    const NAME: &str = "decides";
    let mut events: Vec<&str> =
        found.iter().filter(|entry| entry.decides()).map(|entry| entry.event.as_str()).collect();
    events.sort_unstable();
    events.dedup();
    let events = events.join(", ");
    if !home.policy_switch().unwrap_or(true) {
        let message = format!("policy hooks are off, and nothing decides at {events}");
        return Ok(Check::warn(NAME, message).hint("Run `spl policy on`."));
    }
    let (user, here) = (home::folder(), folder(None)?);
    let files = Files { home: user.as_deref(), workspace: &here, project: Project::Asked };
    // As the hook process reads them: no variable has a say.
    Ok(match polyglot::load(&files, &|_| None) {
        Ok(policy) => {
            let hooks = policy.summary();
            Check::pass(NAME, format!("policy hooks decide at {events}; here they are: {hooks}"))
        }
        Err(error) => {
            let message = format!("nothing decides at {events}: {error}");
            error.hint().into_iter().fold(Check::warn(NAME, message), Check::hint)
        }
    })
}

/// Lessons that are written to one instance are not heard from another.
fn is_the_instance_here(home: &Home) -> Result<Option<Check>, Failure> {
    let here = home::find()?;
    if here.path() == home.path() {
        return Ok(None);
    }
    let (theirs, here) = (home.path().display(), here.path().display());
    let message = format!("the hooks write to {theirs}, and `spl` works with {here} here");
    let hint =
        "Set SYNCROPEL_HOME to the one that is meant, or run `spl session install-hooks` again.";
    Ok(Some(Check::warn("home", message).hint(hint)))
}

/// A path that has moved is the commonest reason why nothing fires, and no harness says so.
fn program_is_there(command: &str) -> Option<Check> {
    let program = command_line::program_of(command)?;
    let bare = program.components().count() == 1;
    (!bare && !is_program(&program)).then(|| {
        Check::fail("program", format!("the hooks start {}, which is not there", program.display()))
            .hint("Run `spl session install-hooks` again for this harness.")
    })
}

fn is_trusted(harness: Harness, file: &SettingsFile, found: &[Entry]) -> (&'static str, Check) {
    const NAME: &str = "trust";
    if harness != Harness::Codex {
        let reason = match harness {
            Harness::Opencode => "opencode asks nobody: it loads every plugin in the folder".into(),
            _ => format!("cannot tell: {} trusts folders, and hooks with them", harness.title()),
        };
        return ("cannot_tell", Check::pass(NAME, reason));
    }
    let accept = "Start `codex`, and accept the hooks in `/hooks`.";
    let config = match Config::beside(&file.path) {
        Ok(config) => config,
        Err(message) => {
            let path = Config::path(&file.path);
            let message = format!("cannot tell: {} does not read: {message}", path.display());
            return ("cannot_tell", Check::warn(NAME, message));
        }
    };
    let paths = [file.path.clone(), file.real_path()];
    let trust = |entry: &Entry| config.as_ref().map_or(Trust::Absent, |it| it.trust(&paths, entry));
    let given: Vec<Trust> = found.iter().map(trust).collect();
    let count = |wanted| given.iter().filter(|trust| **trust == wanted).count();
    let all = given.len();
    match (count(Trust::Given), count(Trust::Off)) {
        (given, 0) if given == all => (
            "given",
            Check::pass(NAME, format!("{all} of {all} hooks have an entry in config.toml")),
        ),
        (0, 0) => (
            "absent",
            Check::fail(NAME, "nobody has accepted the hooks, so Codex runs none unless told to")
                .hint(accept),
        ),
        (given, 0) => (
            "partial",
            Check::warn(NAME, format!("{given} of {all} hooks are accepted; Codex runs no other"))
                .hint(accept),
        ),
        (_, off) => (
            "off",
            Check::warn(NAME, format!("{off} of {all} hooks are switched off in `/hooks`"))
                .hint("Start `codex`, and switch them on in `/hooks`."),
        ),
    }
}

fn is_switched_on(harness: Harness, path: &Path) -> Check {
    const NAME: &str = "policy";
    let off = policy::switched_off(harness, path);
    if off.is_empty() {
        return Check::pass(NAME, "no setting keeps hooks from being run");
    }
    Check::fail(NAME, format!("no hook is run: {}", off.join("; ")))
        .hint("Change that setting, or ask whoever manages this machine.")
}

fn is_nobody_elses(harness: Harness, path: &Path) -> Option<Check> {
    is_also_the_projects(harness, path).then(|| {
        Check::warn("folder", "here the user's settings are the project's as well").hint(
            "Some versions run no hooks of a session that is started here; use a folder below.",
        )
    })
}

fn has_fired(harness: Harness, since: Option<Timestamp>, history: &History) -> Check {
    const NAME: &str = "fired";
    let title = harness.title();
    let installed =
        since.map(|at| format!(" since they were installed ({at})")).unwrap_or_default();
    match &history.last {
        Some((at, what)) if history.since > 0 => {
            Check::pass(NAME, format!("{}{installed}; the last at {at}: {what}", history.count()))
        }
        Some((at, what)) => {
            Check::warn(NAME, format!("nothing{installed}; the last at {at}: {what}"))
                .hint(format!("Say a word to {title}, and look again."))
        }
        None => Check::warn(NAME, format!("nothing yet{installed}")).hint(format!(
            "Say a word to {title}, and look again: that no hook ran is not the same \
                           as that nothing happened."
        )),
    }
}
