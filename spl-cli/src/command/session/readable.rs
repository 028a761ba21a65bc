//! Whether a settings file is one that its harness reads. In one that it does not, hooks would never
//! be run, and nobody would say so.

use super::codex::Config;
use super::file::{SettingsFile, refused};
use super::harness::Harness;
use super::settings::{Document, Fault, Syntax, entries};
use crate::failure::{Exit, Failure};

/// Returns the text of a file, if it is there.
pub(super) fn text_of(file: &SettingsFile) -> Result<Option<&str>, Failure> {
    let text = file.bytes().map(Document::text_of).transpose();
    text.map_err(|fault| stands_in_the_way(file, &fault))
}

/// Parses a file, and refuses one that its harness would not read.
pub(super) fn read<'t>(
    harness: Harness,
    file: &SettingsFile,
    text: &'t str,
) -> Result<Document<'t>, Failure> {
    let document = Document::parse(text, harness.syntax())
        .map_err(|fault| malformed(harness, file, &fault))?;
    if harness == Harness::Codex {
        let path = file.path.display();
        if let Some(key) = document.keys().find(|key| !["description", "hooks"].contains(key)) {
            let message =
                format!("Codex reads nothing of `{path}`, because it has the key `{key}`");
            return Err(refused(message)
                .with_hint("Only `description` and `hooks` may stand there; take the other out."));
        }
        if let Ok(Some(config)) = Config::beside(&file.path)
            && let Some(event) = config.inline_event()
        {
            let config = Config::path(&file.path);
            let message = format!("`{}` has hooks of its own: `hooks.{event}`", config.display());
            return Err(refused(message).with_hint(
                "Codex wants hooks in one of the two files; move those to hooks.json first.",
            ));
        }
    }
    Ok(document)
}

/// The failure of a text that is not what a harness reads. If another harness would read it, the
/// reason is in the harness.
pub(super) fn malformed(harness: Harness, file: &SettingsFile, fault: &Fault) -> Failure {
    let text = file.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok());
    let reads = text.is_some_and(|text| {
        Document::parse(text, Syntax::ANY).is_ok_and(|document| entries(&document).is_ok())
    });
    let strict = Document::parse(text.unwrap_or_default(), harness.syntax()).is_err();
    if !(reads && strict) {
        return stands_in_the_way(file, fault);
    }
    let (path, title) = (file.path.display(), harness.title());
    let Fault { line, column, what } = fault;
    refused(format!("{title} does not read `{path}`: {what} at line {line}, column {column}"))
        .with_hint("Take that out first: hooks in a file that is not read are never run.")
}

fn stands_in_the_way(file: &SettingsFile, fault: &Fault) -> Failure {
    let Fault { line, column, what } = fault;
    let path = file.path.display();
    let message = format!("`{path}` does not read: {what} at line {line}, column {column}");
    Failure::new(Exit::Invalid, "SETTINGS_MALFORMED", message)
        .with_hint("It is left as it is. Mend it, and try again.")
}
