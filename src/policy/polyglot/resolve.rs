//! From two files and the switches to what is in force.

use std::path::{Path, PathBuf};

use super::read::{AuditPart, Settings};
use super::{Event, Files, Project};
use crate::policy::{
    AuditSettings, Mode, NotApplied, Policy, PolicyHook, Redaction, SettingsError, Skipped,
};

/// Why a setting has no effect.
const NOT_HERE: &str = "has no effect here";
const NOT_THE_PROJECTS: &str = "is the user's own to say";

/// A variable of the environment that is a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// No hook is asked.
    NoHooks,
    /// There is an audit file, or there is none.
    Audit,
    /// For how many days audit files are kept.
    RetentionDays,
    /// Nothing is looked for in the results of tools.
    NoOutputScan,
    /// Secrets in the results of tools are replaced.
    RedactOutput,
}

impl Switch {
    /// Returns the variable.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoHooks => "POLYGLOT_NO_HOOKS",
            Self::Audit => "POLYGLOT_AUDIT",
            Self::RetentionDays => "POLYGLOT_RETENTION_DAYS",
            Self::NoOutputScan => "POLYGLOT_NO_OUTPUT_SCAN",
            Self::RedactOutput => "POLYGLOT_REDACT_OUTPUT",
        }
    }

    /// Returns which way it is thrown. Every other word does nothing.
    fn state(self, variables: &dyn Fn(&str) -> Option<String>) -> Option<bool> {
        match variables(self.name())?.as_str() {
            "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        }
    }
}

/// Lays the project's settings over the user's, and the switches over both.
pub(super) fn resolve(
    global: Settings,
    project: Settings,
    files: &Files<'_>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Result<Policy, SettingsError> {
    let on = |switch: Switch| switch.state(variables) == Some(true);
    let asked = asked(&global, &project, files, on(Switch::NoHooks))?;
    let trusted = asked.project;
    let mut policy = Policy {
        hooks: asked.hooks,
        skipped: asked.skipped,
        not_applied: not_applied(&global, &project, trusted),
        audit: audit(&global.audit, &project.audit, trusted, files, variables),
        cwd: files.workspace.to_owned(),
        ..Policy::none()
    };
    let mode = match (global.redaction, project.redaction) {
        (_, Some(mode)) if trusted => Some(mode),
        // It may hide more, not less.
        (_, Some(Mode::Redact)) => Some(Mode::Redact),
        (mode, _) => mode,
    };
    let mode = match mode {
        _ if on(Switch::NoOutputScan) => Mode::Off,
        _ if on(Switch::RedactOutput) => Mode::Redact,
        mode => mode.unwrap_or_default(),
    };
    for settings in [global, project] {
        let path = settings.path;
        policy.deny.extend(settings.deny.into_iter().map(|rule| (path.clone(), rule)));
        policy.redaction.extra.extend(settings.extra);
    }
    policy.redaction = Redaction { mode, ..policy.redaction };
    Ok(policy)
}

/// Which hooks are asked, and which are not.
#[derive(Default)]
struct Asked {
    hooks: Vec<PolicyHook>,
    skipped: Vec<Skipped>,
    /// Whether the project's settings count as the user's own do.
    project: bool,
}

fn asked(
    global: &Settings,
    project: &Settings,
    files: &Files<'_>,
    off: bool,
) -> Result<Asked, SettingsError> {
    let mut asked = Asked { hooks: global.hooks()?, ..Asked::default() };
    let allowed = global.allows_project_hooks() == Some(true);
    match files.project {
        Project::Asked if allowed => {
            asked.project = true;
            asked.hooks.extend(project.hooks()?);
            // Within each event the user's own come first.
            asked.hooks.sort_by_key(|hook| Event::at(hook.seam));
        }
        Project::Asked => {
            let why = "`hooks.allowProjectHooks` is not true in the user's own settings";
            asked.skipped = project.skipped(why);
        }
        Project::Ignored(why) => asked.skipped = project.skipped(why),
    }
    if off {
        let why = format!("`{}` is set", Switch::NoHooks.name());
        asked.hooks.clear();
        asked.skipped = [global, project].iter().flat_map(|it| it.skipped(&why)).collect();
    }
    Ok(asked)
}

fn not_applied(global: &Settings, project: &Settings, trusted: bool) -> Vec<NotApplied> {
    let not_applied = |settings: &Settings, key, why| NotApplied {
        path: settings.path.clone(),
        scope: settings.scope,
        key,
        why,
    };
    let mut found = Vec::new();
    for settings in [global, project] {
        found.extend(settings.not_applied.iter().map(|key| not_applied(settings, key, NOT_HERE)));
    }
    let mut not_the_projects = |key, stands: bool| {
        if stands {
            found.push(not_applied(project, key, NOT_THE_PROJECTS));
        }
    };
    not_the_projects("hooks.allowProjectHooks", project.allows_project_hooks().is_some());
    if !trusted {
        let AuditPart { enabled, path, hash_args, retention_days } = &project.audit;
        not_the_projects("audit.enabled", *enabled == Some(false));
        not_the_projects("audit.path", path.is_some());
        not_the_projects("audit.hashArgs", *hash_args == Some(false));
        not_the_projects("audit.retentionDays", retention_days.is_some());
        not_the_projects("redaction.mode", project.redaction == Some(Mode::Warn));
    }
    found
}

/// A project that the user has not opted into may have more noted, and less of what was called with;
/// where it is noted, and for how long, is not its own to say.
fn audit(
    global: &AuditPart,
    project: &AuditPart,
    trusted: bool,
    files: &Files<'_>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Option<AuditSettings> {
    let flag = |own: Option<bool>, theirs: Option<bool>| match theirs {
        Some(theirs) if trusted || theirs => Some(theirs),
        _ => own,
    };
    let switched = Switch::Audit.state(variables);
    let enabled = switched.or_else(|| flag(global.enabled, project.enabled)).unwrap_or(false);
    if !enabled {
        return None;
    }
    let path = project.path.as_ref().filter(|_| trusted).or(global.path.as_ref());
    let days = project.retention_days.filter(|_| trusted).or(global.retention_days);
    let said = variables(Switch::RetentionDays.name()).and_then(|days| days.parse().ok());
    Some(AuditSettings {
        folder: folder(path, files)?,
        hash_args: flag(global.hash_args, project.hash_args).unwrap_or(true),
        retention_days: said.filter(|days| *days > 0).or(days),
    })
}

/// Returns the folder of audit files. Without a home and without a word of it there is none.
fn folder(path: Option<&PathBuf>, files: &Files<'_>) -> Option<PathBuf> {
    let home = |rest: &Path| Some(files.home?.join(rest));
    match path {
        Some(path) => match path.strip_prefix("~") {
            Ok(rest) => home(rest),
            Err(_) => Some(files.workspace.join(path)),
        },
        None => home(Path::new(".polyglot/audit")),
    }
}
