//! What is to become of a settings file, decided before anything is written.

use spl::time::TimeSource;

use super::super::file::{SettingsFile, refused};
use super::super::harness::Harness;
use super::super::installed::{Before, Installed, Kept};
use super::super::plugin;
use super::super::readable::{malformed, read, text_of};
use super::super::settings::{self, Document, Fault, Syntax, entries};
use crate::failure::{Exit, Failure};

/// What was asked for, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Our hooks were added.
    Installed,
    /// Hooks of ours that were there are as they should be again.
    Updated,
    /// All was as it should be.
    Unchanged,
    /// The file is as it was before we came.
    Restored,
    /// The file, which was made for the hooks, is gone.
    Removed,
    /// Our hooks are taken out, and what others have written stays.
    TakenOut,
    /// There were none.
    Absent,
}

/// A change of a settings file.
pub(super) struct Change {
    /// What comes of it.
    pub(super) outcome: Outcome,
    /// The command of the hooks, if they are installed.
    pub(super) command: Option<String>,
    /// What is in the file afterwards: the text, or nothing if it goes. `None` if it stays.
    new: Option<Option<String>>,
    /// What was there before we came.
    before: Before,
}

impl Change {
    /// Decides how our hooks get into a file.
    pub(super) fn installing(
        harness: Harness,
        file: &SettingsFile,
        command: String,
        kept: Option<&Installed>,
    ) -> Result<Self, Failure> {
        let text = text_of(file)?;
        let (new, had_ours) = if harness == Harness::Opencode {
            write_plugin(file, text, &command, kept)?
        } else {
            let document = read(harness, file, text.unwrap_or_default())?;
            let malformed = |fault: Fault| malformed(harness, file, &fault);
            let had_ours = !entries(&document).map_err(malformed)?.is_empty();
            let new = settings::install(&document, harness.events(), &command);
            let new = new.map_err(malformed)?;
            new.iter().try_for_each(|new| {
                let parsed = Document::parse(new, harness.syntax()).map(drop);
                parsed.map_err(|fault| unwritten(file, &fault))
            })?;
            (new, had_ours)
        };
        let before = match (kept, text) {
            (Some(kept), Some(text)) if kept.wrote(text.as_bytes()) => kept.before.clone(),
            _ if had_ours => Before::Unknown,
            (_, Some(text)) => Before::Text(text.to_owned()),
            (_, None) => Before::Nothing(Vec::new()),
        };
        let outcome = match (&new, had_ours) {
            (None, _) => Outcome::Unchanged,
            (Some(_), true) => Outcome::Updated,
            (Some(_), false) => Outcome::Installed,
        };
        Ok(Self { outcome, command: Some(command), new: new.map(Some), before })
    }

    /// Decides how our hooks get out of a file.
    pub(super) fn uninstalling(
        harness: Harness,
        file: &SettingsFile,
        kept: Option<&Installed>,
    ) -> Result<Self, Failure> {
        let as_it_is = |outcome, new, before| Self { outcome, command: None, new, before };
        let Some(bytes) = file.bytes() else {
            return Ok(as_it_is(Outcome::Absent, None, Before::Unknown));
        };
        let before = kept.map_or(Before::Unknown, |kept| kept.before.clone());
        if kept.is_some_and(|kept| kept.wrote(bytes)) {
            match &before {
                Before::Text(text) => {
                    let text = text.clone();
                    return Ok(as_it_is(Outcome::Restored, Some(Some(text)), before));
                }
                Before::Nothing(_) => return Ok(as_it_is(Outcome::Removed, Some(None), before)),
                Before::Unknown => {}
            }
        }
        let text = text_of(file)?.unwrap_or_default();
        if harness == Harness::Opencode {
            return match (plugin::is_ours(text), kept) {
                (false, _) => Ok(as_it_is(Outcome::Absent, None, before)),
                (true, Some(kept)) if !kept.wrote(bytes) => Err(edited(file)),
                (true, _) => Ok(as_it_is(Outcome::Removed, Some(None), before)),
            };
        }
        let malformed = |fault: Fault| malformed(harness, file, &fault);
        let document = Document::parse(text, Syntax::ANY).map_err(malformed)?;
        let then = match &before {
            Before::Text(text) => Document::parse(text, Syntax::ANY).ok(),
            _ => None,
        };
        let new = settings::uninstall(&document, then.as_ref()).map_err(malformed)?;
        let outcome = if new.is_some() { Outcome::TakenOut } else { Outcome::Absent };
        Ok(as_it_is(outcome, new.map(Some), before))
    }

    /// Returns whether the file changes.
    pub(super) const fn writes(&self) -> bool {
        self.new.is_some()
    }

    /// Returns what is in the file afterwards.
    pub(super) fn after<'t>(&'t self, file: &'t SettingsFile) -> &'t str {
        let now = || file.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok());
        let after = self.new.as_ref().map_or_else(now, |new| new.as_deref());
        after.unwrap_or_default()
    }

    /// Returns whether the file is gone afterwards.
    pub(super) const fn removes(&self) -> bool {
        matches!(self.new, Some(None))
    }

    /// Does it. What there was before is kept first, so that it is there whenever the change is.
    pub(super) fn perform(self: &Change, file: &SettingsFile, kept: &Kept) -> Result<(), Failure> {
        let installing = self.command.is_some();
        match &self.new {
            Some(Some(text)) if installing => {
                let now = TimeSource::system().now();
                let note = |before| Installed::new(now, text, before);
                kept.write(&file.path, &note(self.before.clone()))?;
                let folders = file.write(text)?;
                if self.before == Before::Nothing(Vec::new()) && !folders.is_empty() {
                    kept.write(&file.path, &note(Before::Nothing(folders)))?;
                }
                Ok(())
            }
            Some(Some(text)) => {
                file.write(text)?;
                kept.remove()
            }
            Some(None) => {
                let folders = match &self.before {
                    Before::Nothing(folders) => folders.as_slice(),
                    _ => &[],
                };
                file.remove(folders)?;
                kept.remove()
            }
            None if installing && kept.read().is_none() => {
                let now = TimeSource::system().now();
                kept.write(&file.path, &Installed::new(now, self.after(file), Before::Unknown))
            }
            None if installing => Ok(()),
            None => kept.remove(),
        }
    }
}

/// Returns the plugin that is to be written, if another is there, and whether that is one of ours.
fn write_plugin(
    file: &SettingsFile,
    text: Option<&str>,
    command: &str,
    kept: Option<&Installed>,
) -> Result<(Option<String>, bool), Failure> {
    let new = plugin::text(command);
    match text {
        None => Ok((Some(new), false)),
        Some(text) if text == new => Ok((None, true)),
        Some(text) if !plugin::is_ours(text) => {
            let message = format!("`{}` is a plugin of somebody else's", file.path.display());
            Err(refused(message).with_hint("Name another file in that folder with --settings."))
        }
        Some(text) if kept.is_some_and(|kept| !kept.wrote(text.as_bytes())) => Err(edited(file)),
        Some(_) => Ok((Some(new), true)),
    }
}

fn edited(file: &SettingsFile) -> Failure {
    let path = file.path.display();
    refused(format!("`{path}` was changed since it was written, and is left as it is"))
        .with_hint(format!("Keep what you need of it elsewhere, and run `rm {path}`."))
}

/// A text that we would have written and that does not parse is not written.
fn unwritten(file: &SettingsFile, fault: &Fault) -> Failure {
    let Fault { line, column, what } = fault;
    let message = format!(
        "`{}` is left as it is: with the hooks in it, it would not read ({what} at line {line}, \
         column {column})",
        file.path.display()
    );
    Failure::new(Exit::Error, "INTERNAL", message).with_hint("Please report this as a bug.")
}
