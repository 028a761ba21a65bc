//! One settings file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;

use super::place::Place;
use super::{Event, TIMEOUT_MS};
use crate::canon::{Object, Value};
use crate::policy::{
    DenyRule, ExtraPattern, Glob, Handler, Matcher, Mode, PolicyHook, Scope, SettingsError,
    Skipped, Source,
};

/// The settings that are known and have no effect here. A dot parts levels.
const NOT_APPLIED: [&str; 5] =
    ["permissions.mode", "permissions.allow", "pricing", "mcpServers", "models"];

/// What one file says. Its hooks are still to be read.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) path: PathBuf,
    pub(super) scope: Scope,
    hooks: Option<Value>,
    pub(super) deny: Vec<DenyRule>,
    pub(super) redaction: Option<Mode>,
    pub(super) extra: Vec<ExtraPattern>,
    pub(super) audit: AuditPart,
    /// Those of [`NOT_APPLIED`] that it has.
    pub(super) not_applied: Vec<&'static str>,
}

/// What one file says of the audit file.
#[derive(Debug)]
pub(super) struct AuditPart {
    pub(super) enabled: Option<bool>,
    pub(super) path: Option<PathBuf>,
    pub(super) hash_args: Option<bool>,
    pub(super) retention_days: Option<u32>,
}

impl Settings {
    /// Returns what a file says that is not there.
    pub(super) const fn none(path: PathBuf, scope: Scope) -> Self {
        Self {
            path,
            scope,
            hooks: None,
            deny: Vec::new(),
            redaction: None,
            extra: Vec::new(),
            audit: AuditPart { enabled: None, path: None, hash_args: None, retention_days: None },
            not_applied: Vec::new(),
        }
    }

    /// Reads everything but the hooks. What is not known is passed over.
    pub(super) fn read(members: &Object, path: &Path, scope: Scope) -> Result<Self, SettingsError> {
        let mut settings = Self::none(path.to_owned(), scope);
        settings.hooks = members.get("hooks").cloned();
        if let Some(permissions) = Place::top(path, members, "permissions") {
            permissions.is_object()?;
            settings.deny = permissions.read("deny", deny)?.unwrap_or_default();
        }
        if let Some(redaction) = Place::top(path, members, "redaction") {
            redaction.is_object()?;
            settings.redaction = redaction.read("mode", mode)?;
            settings.extra = redaction.read("extraPatterns", patterns)?.unwrap_or_default();
        }
        if let Some(part) = Place::top(path, members, "audit") {
            part.is_object()?;
            settings.audit = audit(&part)?;
        }
        let has = |key: &&str| match key.split_once('.') {
            Some((outer, inner)) => members.get(outer).and_then(|it| it.get(inner)).is_some(),
            None => members.contains_key(*key),
        };
        settings.not_applied = NOT_APPLIED.into_iter().filter(has).collect();
        Ok(settings)
    }

    /// Reads the hooks, those of each event in their order.
    pub(super) fn hooks(&self) -> Result<Vec<PolicyHook>, SettingsError> {
        let mut hooks = Vec::new();
        let Some(block) = self.block() else { return Ok(hooks) };
        block.is_object()?;
        block.read("allowProjectHooks", Place::flag)?;
        for event in Event::ALL {
            let Some(list) = block.member(event.as_str()) else { continue };
            for (position, place) in list.elements()?.iter().enumerate() {
                let event_name = event.as_str();
                let (path, scope) = (self.path.clone(), self.scope);
                let source = Source { path, scope, event: event_name, position };
                hooks.push(hook(place, event, source)?);
            }
        }
        Ok(hooks)
    }

    /// Returns what the file says of hooks of projects, if it says it in a word that can be read.
    pub(super) fn allows_project_hooks(&self) -> Option<bool> {
        self.hooks.as_ref()?.get("allowProjectHooks")?.as_bool()
    }

    /// Lists the hooks as they stand there, whatever they are, as not asked.
    pub(super) fn skipped(&self, why: &str) -> Vec<Skipped> {
        let skipped = |event, position, command| Skipped {
            path: self.path.clone(),
            scope: self.scope,
            event,
            position,
            command,
            why: why.to_owned(),
        };
        let Some(block) = self.hooks.as_ref() else { return Vec::new() };
        let lists =
            Event::ALL.into_iter().filter_map(|event| Some((event, block.get(event.as_str())?)));
        let lists: Vec<(Event, &Value)> = lists.collect();
        if !matches!(block, Value::Object(_)) || lists.iter().any(|(_, it)| it.as_array().is_none())
        {
            return vec![skipped(None, None, None)];
        }
        let mut found = Vec::new();
        for (event, list) in lists {
            for (position, hook) in list.as_array().unwrap_or_default().iter().enumerate() {
                let command = hook.get("command").and_then(Value::as_str).map(str::to_owned);
                found.push(skipped(Some(event.as_str()), Some(position), command));
            }
        }
        found
    }

    fn block(&self) -> Option<Place<'_>> {
        Some(Place::root(&self.path, "hooks", self.hooks.as_ref()?))
    }
}

fn hook(place: &Place<'_>, event: Event, source: Source) -> Result<PolicyHook, SettingsError> {
    place.is_object()?;
    let command = place.read("command", |it| {
        let command = it.text()?;
        // The shell would take it for a hook that has nothing to say.
        if command.trim().is_empty() {
            return Err(it.refuse("bad_value", "is empty, and must be a command"));
        }
        if command.contains('\0') {
            return Err(it.refuse("bad_value", "holds a NUL, which no command can"));
        }
        Ok(command.to_owned())
    })?;
    let command = command.ok_or_else(|| place.lacks("command"))?;
    let tools = place.read("tools", |tools| {
        let globs = tools.elements()?.into_iter().map(|it| glob(&it));
        globs.collect::<Result<Vec<Glob>, SettingsError>>()
    })?;
    let timeout = place.read("timeoutMs", Place::positive)?.unwrap_or(TIMEOUT_MS);
    // A prompt is about no tool.
    let tools = tools.filter(|_| event != Event::UserPromptSubmit).unwrap_or_default();
    Ok(PolicyHook {
        seam: event.seam(),
        source,
        matcher: Matcher { tools },
        handler: Handler::Command(command),
        timeout: Duration::from_millis(timeout),
    })
}

fn glob(place: &Place<'_>) -> Result<Glob, SettingsError> {
    Glob::new(place.text()?).map_err(|error| place.refuse("bad_value", &error.to_string()))
}

fn deny(place: &Place<'_>) -> Result<Vec<DenyRule>, SettingsError> {
    let rule = |place: &Place<'_>| {
        DenyRule::new(place.text()?).map_err(|error| place.refuse("bad_value", &error.to_string()))
    };
    place.elements()?.iter().map(rule).collect()
}

fn mode(place: &Place<'_>) -> Result<Mode, SettingsError> {
    match place.text()? {
        "warn" => Ok(Mode::Warn),
        "redact" => Ok(Mode::Redact),
        _ => Err(place.refuse("bad_value", "must be `warn` or `redact`")),
    }
}

fn patterns(place: &Place<'_>) -> Result<Vec<ExtraPattern>, SettingsError> {
    let pattern = |place: &Place<'_>| {
        place.is_object()?;
        let label = place.read("label", |it| it.text().map(str::to_owned))?;
        let regex = place.read("regex", |it| {
            // What is wrong with it is not said in the words of the crate, which show it.
            Regex::new(it.text()?).map_err(|_| {
                let message = "is no regular expression of this engine, which has neither \
                               look-around nor back-references";
                it.refuse("bad_value", message)
            })
        })?;
        Ok(ExtraPattern {
            label: label.ok_or_else(|| place.lacks("label"))?,
            regex: regex.ok_or_else(|| place.lacks("regex"))?,
        })
    };
    place.elements()?.iter().map(pattern).collect()
}

fn audit(place: &Place<'_>) -> Result<AuditPart, SettingsError> {
    Ok(AuditPart {
        enabled: place.read("enabled", Place::flag)?,
        path: place.read("path", |it| it.text().map(PathBuf::from))?,
        hash_args: place.read("hashArgs", Place::flag)?,
        retention_days: place.read("retentionDays", |it| {
            u32::try_from(it.positive()?).map_err(|_| it.refuse("bad_value", "is too large"))
        })?,
    })
}
