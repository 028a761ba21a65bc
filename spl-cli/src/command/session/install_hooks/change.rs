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

/// What becomes of a file.
enum Fate {
    /// It stays as it is.
    Stays,
    /// It holds this text.
    Holds(String),
    /// It goes.
    Goes,
}

impl Fate {
    fn of(text: Option<String>) -> Self {
        text.map_or(Self::Stays, Self::Holds)
    }
}

/// A change of a settings file.
pub(super) struct Change {
    /// What comes of it.
    pub(super) outcome: Outcome,
    /// The command of the hooks, if they are installed.
    pub(super) command: Option<String>,
    /// What becomes of the file.
    fate: Fate,
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
        Ok(Self { outcome, command: Some(command), fate: Fate::of(new), before })
    }

    /// Decides how our hooks get out of a file.
    pub(super) fn uninstalling(
        harness: Harness,
        file: &SettingsFile,
        kept: Option<&Installed>,
    ) -> Result<Self, Failure> {
        let as_it_is = |outcome, fate, before| Self { outcome, command: None, fate, before };
        let Some(bytes) = file.bytes() else {
            return Ok(as_it_is(Outcome::Absent, Fate::Stays, Before::Unknown));
        };
        let before = kept.map_or(Before::Unknown, |kept| kept.before.clone());
        if kept.is_some_and(|kept| kept.wrote(bytes)) {
            match &before {
                Before::Text(text) => {
                    let text = text.clone();
                    return Ok(as_it_is(Outcome::Restored, Fate::Holds(text), before));
                }
                Before::Nothing(_) => return Ok(as_it_is(Outcome::Removed, Fate::Goes, before)),
                Before::Unknown => {}
            }
        }
        let text = text_of(file)?.unwrap_or_default();
        if harness == Harness::Opencode {
            return match (plugin::is_ours(text), kept) {
                (false, _) => Ok(as_it_is(Outcome::Absent, Fate::Stays, before)),
                (true, Some(kept)) if !kept.wrote(bytes) => Err(edited(file)),
                (true, _) => Ok(as_it_is(Outcome::Removed, Fate::Goes, before)),
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
        Ok(as_it_is(outcome, Fate::of(new), before))
    }

    /// Returns whether the file changes.
    pub(super) const fn writes(&self) -> bool {
        !matches!(self.fate, Fate::Stays)
    }

    /// Returns what is in the file afterwards.
    pub(super) fn after<'t>(&'t self, file: &'t SettingsFile) -> &'t str {
        match &self.fate {
            Fate::Holds(text) => text,
            Fate::Goes => "",
            Fate::Stays => {
                let bytes = file.bytes().unwrap_or_default();
                std::str::from_utf8(bytes).unwrap_or_default()
            }
        }
    }

    /// Returns whether the file is gone afterwards.
    pub(super) const fn removes(&self) -> bool {
        matches!(self.fate, Fate::Goes)
    }

    /// Does it. What there was before is kept first, so that it is there whenever the change is.
    pub(super) fn perform(self: &Change, file: &SettingsFile, kept: &Kept) -> Result<(), Failure> {
        let installing = self.command.is_some();
        match &self.fate {
            Fate::Holds(text) if installing => {
                let now = TimeSource::system().now();
                let note = |before| Installed::new(now, text, before);
                let last = kept.read();
                kept.write(&file.path, &note(self.before.clone()))?;
                match file.write(text) {
                    Ok(folders) if folders.is_empty() || self.before != Before::Nothing(vec![]) => {
                        Ok(())
                    }
                    Ok(folders) => kept.write(&file.path, &note(Before::Nothing(folders))),
                    Err(failure) => {
                        // What is kept is about the file as it still is.
                        let _ = match &last {
                            Some(last) => kept.write(&file.path, last),
                            None => kept.remove(),
                        };
                        Err(failure)
                    }
                }
            }
            Fate::Holds(text) => {
                file.write(text)?;
                kept.remove()
            }
            Fate::Goes => {
                let folders = match &self.before {
                    Before::Nothing(folders) => folders.as_slice(),
                    _ => &[],
                };
                file.remove(folders)?;
                kept.remove()
            }
            Fate::Stays if installing && kept.read().is_none() => {
                let now = TimeSource::system().now();
                kept.write(&file.path, &Installed::new(now, self.after(file), Before::Unknown))
            }
            Fate::Stays if installing => Ok(()),
            Fate::Stays => kept.remove(),
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
