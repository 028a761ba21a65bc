//! The policy of one run: resolved once, from files that are not read again.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::polyglot::Asker;
use super::{
    AuditSettings, DenyRule, NotApplied, PolicyHook, Question, Redaction, Skipped, Verdict, decide,
};
use crate::cancel::Cancel;
use crate::canon::Object;

/// The policy of one run.
#[derive(Clone, Default)]
pub struct Policy {
    pub(super) hooks: Vec<PolicyHook>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) not_applied: Vec<NotApplied>,
    pub(super) deny: Vec<(PathBuf, DenyRule)>,
    pub(super) redaction: Redaction,
    pub(super) audit: Option<AuditSettings>,
    /// Where commands run.
    pub(super) cwd: PathBuf,
    /// Where they are told that the session works, if that is elsewhere.
    pub(super) told_cwd: Option<PathBuf>,
    pub(super) environment: Vec<(OsString, OsString)>,
    /// How long the hooks of one question may take together, if somebody waits no longer.
    pub(super) within: Option<Duration>,
}

impl Policy {
    /// Returns the policy of whoever has set up none.
    pub fn none() -> Self {
        Self::default()
    }

    /// Sets where commands run, and with which environment. Until then it is the workspace of the
    /// settings, and none.
    #[must_use]
    pub fn at(mut self, cwd: PathBuf, environment: Vec<(OsString, OsString)>) -> Self {
        self.cwd = cwd;
        self.environment = environment;
        self
    }

    /// Sets where commands are told that the session works. Until then it is where they run.
    #[must_use]
    pub fn telling(mut self, cwd: PathBuf) -> Self {
        self.told_cwd = Some(cwd);
        self
    }

    /// Sets how long the hooks of one question may take together: one that still runs then has timed
    /// out, and one that would come behind it is not asked.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Self {
        self.within = Some(time);
        self
    }

    /// Returns the hooks in the order in which they are asked.
    pub fn hooks(&self) -> &[PolicyHook] {
        &self.hooks
    }

    /// Returns the hooks that are set up and are not asked, with why.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Returns the settings that are known and have no effect here.
    pub fn not_applied(&self) -> &[NotApplied] {
        &self.not_applied
    }

    /// Returns what the settings say of the audit file, if there is to be one.
    pub const fn audit(&self) -> Option<&AuditSettings> {
        self.audit.as_ref()
    }

    /// Returns the rules that refuse calls, each with its file.
    pub fn deny_rules(&self) -> impl Iterator<Item = (&Path, &DenyRule)> {
        self.deny.iter().map(|(path, rule)| (path.as_path(), rule))
    }

    /// Returns how many hooks there are for each event, `preToolUse(1) userPromptSubmit(1)`, or
    /// `none`.
    pub fn summary(&self) -> String {
        let counts = super::polyglot::Event::ALL.into_iter().filter_map(|event| {
            let count = self.hooks.iter().filter(|it| it.source.event == event.as_str()).count();
            (count > 0).then(|| format!("{}({count})", event.as_str()))
        });
        let counts: Vec<String> = counts.collect();
        if counts.is_empty() { "none".to_owned() } else { counts.join(" ") }
    }

    /// Returns whether a question concerns any hook.
    pub fn concerns(&self, question: &Question<'_>) -> bool {
        self.hooks.iter().any(|hook| hook.concerns(question))
    }

    /// Asks the hooks that a question concerns, one after another. Without one, nothing is started.
    pub fn ask(&self, question: &Question<'_>, cancel: &Cancel) -> Verdict {
        let told_cwd = self.told_cwd.as_deref().unwrap_or(&self.cwd);
        let mut asker =
            Asker::new(&self.cwd, told_cwd, &self.environment, cancel).within(self.within);
        decide(&self.hooks, question, &mut asker)
    }

    /// Returns why the settings refuse a call, if they do.
    pub fn denies(&self, tool: &str, input: &Object) -> Option<String> {
        let mut rules = self.deny.iter();
        let (path, rule) = rules.find(|(_, rule)| rule.refuses(tool, input, &self.cwd))?;
        Some(format!("`{}` of {} denies it", rule.as_str(), path.display()))
    }

    /// Returns a result as whoever reads it sees it: with secrets replaced, where the settings say so.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redaction.shown(text)
    }

    /// Returns what the settings say of secrets in results.
    pub const fn redaction(&self) -> &Redaction {
        &self.redaction
    }
}

/// Without the environment, in which there may be secrets.
impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("hooks", &self.hooks)
            .field("skipped", &self.skipped)
            .field("not_applied", &self.not_applied)
            .field("deny", &self.deny)
            .field("redaction", &self.redaction)
            .field("audit", &self.audit)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
