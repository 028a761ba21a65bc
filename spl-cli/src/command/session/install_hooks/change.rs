//! What is to become of a settings file, decided before anything is written.

use spl::time::TimeSource;

use super::super::command_line::{self, CommandLines};
use super::super::file::{SettingsFile, refused};
use super::super::harness::{Event, Harness};
use super::super::installed::{Before, Installed, Kept};
use super::super::plugin;
use super::super::readable::{malformed, read, text_of};
use super::super::settings::{self, Document, Entry, Fault, Syntax, entries};
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
    /// Policy hooks do not decide any more; the rest of ours stays.
    Undecided,
    /// They did not before.
    NeverDecided,
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
    /// Whether policy hooks decide, once they are.
    pub(super) decides: bool,
    /// What becomes of the file.
    fate: Fate,
    /// What was there before we came.
    before: Before,
}

impl Change {
    /// Decides how our hooks get into a file. Where policy hooks decide already they go on to: what
    /// keeps an agent from something does not end because somebody forgot a word.
    pub(super) fn installing(
        harness: Harness,
        file: &SettingsFile,
        commands: CommandLines,
        deciding: bool,
        kept: Option<&Installed>,
    ) -> Result<Self, Failure> {
        let text = text_of(file)?;
        let (new, had_ours, decides) = if harness == Harness::Opencode {
            let had = plugin::entries(text.unwrap_or_default());
            let decides = deciding || had.iter().any(Entry::decides);
            let second = decides.then_some(commands.deciding.as_str());
            let plugin = plugin::text(&commands.recording, second);
            let (new, had_ours) = write_plugin(file, text, plugin, kept)?;
            (new, had_ours, decides)
        } else {
            let document = read(harness, file, text.unwrap_or_default())?;
            let malformed = |fault: Fault| malformed(harness, file, &fault);
            let had = entries(&document).map_err(malformed)?;
            let decides = deciding || had.iter().any(Entry::decides);
            let new = settings::install(&document, &harness.events(decides), &commands);
            let new = new.map_err(malformed)?;
            new.iter().try_for_each(|new| reads(harness, file, new))?;
            (new, !had.is_empty(), decides)
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
        let command = Some(commands.recording);
        Ok(Self { outcome, command, decides, fate: Fate::of(new), before })
    }

    /// Decides how policy hooks cease to decide, and all else goes on.
    pub(super) fn undeciding(
        harness: Harness,
        file: &SettingsFile,
        kept: Option<&Installed>,
    ) -> Result<Self, Failure> {
        let before = kept.map_or(Before::Unknown, |kept| kept.before.clone());
        let text = text_of(file)?.unwrap_or_default();
        let malformed = |fault: Fault| malformed(harness, file, &fault);
        let (found, document) = if harness == Harness::Opencode {
            (plugin::entries(text), None)
        } else {
            let document = Document::parse(text, Syntax::ANY).map_err(malformed)?;
            (entries(&document).map_err(malformed)?, Some(document))
        };
        let Some(command) = found.iter().find(|entry| entry.decides()).map(|it| &it.command) else {
            let (outcome, fate) = (Outcome::NeverDecided, Fate::Stays);
            return Ok(Self { outcome, command: None, decides: false, fate, before });
        };
        let recording = command_line::without_policy(command);
        let new = match &document {
            None => write_plugin(file, Some(text), plugin::text(&recording, None), kept)?.0,
            Some(document) => {
                let of_ours = |event: &Event| found.iter().any(|entry| entry.event == event.name);
                let (events, asked) = (harness.events(false), |event: &str, command: &str| {
                    let stays = harness.events(false).iter().any(|it| it.name == event);
                    command_line::decides(command) && !stays
                });
                let left = settings::uninstall(document, None, &asked).map_err(malformed)?;
                let left = left.unwrap_or_else(|| text.to_owned());
                let document = Document::parse(&left, Syntax::ANY).map_err(malformed)?;
                let events: Vec<Event> = events.into_iter().filter(of_ours).collect();
                let deciding = recording.clone();
                let commands = CommandLines { deciding, recording: recording.clone() };
                let new = settings::install(&document, &events, &commands).map_err(malformed)?;
                let new = new.unwrap_or(left);
                reads(harness, file, &new)?;
                Some(new)
            }
        };
        let (outcome, command) = (Outcome::Undecided, Some(recording));
        Ok(Self { outcome, command, decides: false, fate: Fate::of(new), before })
    }

    /// Decides how our hooks get out of a file.
    pub(super) fn uninstalling(
        harness: Harness,
        file: &SettingsFile,
        kept: Option<&Installed>,
    ) -> Result<Self, Failure> {
        let as_it_is =
            |outcome, fate, before| Self { outcome, command: None, decides: false, fate, before };
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
        let new = settings::uninstall(&document, then.as_ref(), &|_, _| true).map_err(malformed)?;
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
        if self.outcome == Outcome::NeverDecided {
            return Ok(());
        }
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
    new: String,
    kept: Option<&Installed>,
) -> Result<(Option<String>, bool), Failure> {
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
fn reads(harness: Harness, file: &SettingsFile, text: &str) -> Result<(), Failure> {
    let Err(Fault { line, column, what }) = Document::parse(text, harness.syntax()) else {
        return Ok(());
    };
    let message = format!(
        "`{}` is left as it is: with the hooks in it, it would not read ({what} at line {line}, \
         column {column})",
        file.path.display()
    );
    Err(Failure::new(Exit::Error, "INTERNAL", message).with_hint("Please report this as a bug."))
}
