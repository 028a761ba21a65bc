//! The files of blueprints, as the command reads and writes them.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use spl::blueprint::{Blueprint, STARTER};
use spl::canon::{Limits, Object, Value, hex, parse};
use spl::object;

use crate::failure::Failure;
use crate::output::pretty;
use crate::session;

/// The name of the blueprint that this program brings.
const OWN: &str = "starter";

/// Reads a blueprint: a file, or the one that this program brings.
pub(super) fn read(given: &str) -> Result<Blueprint, Failure> {
    if given == OWN && !Path::new(given).exists() {
        return Blueprint::parse(STARTER.as_bytes()).map_err(|error| Failure::coded(&error));
    }
    let unread = |error: io::Error| {
        let failure = match error.kind() {
            io::ErrorKind::NotFound => Failure::missing(format!("there is no file `{given}`")),
            _ => Failure::local(format!("`{given}` could not be read"), &error),
        };
        failure.with_hint("A blueprint is a file, or `starter`.")
    };
    // A byte more than is taken, so that the reader sees that it is too much.
    let most = Limits::DOOR.bytes as u64 + 1;
    let mut bytes = Vec::new();
    let file = File::open(given).map_err(unread)?;
    file.take(most).read_to_end(&mut bytes).map_err(unread)?;
    Blueprint::parse(&bytes).map_err(|error| Failure::coded(&error))
}

/// Returns what a request says of a blueprint, those that it extends and who installs it.
pub(super) fn request(
    blueprint: &str,
    extended: &[String],
    actor: Option<&str>,
) -> Result<Object, Failure> {
    let blueprint = read(blueprint)?.to_object();
    let extended = extended.iter().map(|given| Ok(read(given)?.to_object()));
    let extended = extended.collect::<Result<Vec<Object>, Failure>>()?;
    let mut request = object! { "blueprint": blueprint, "extends": extended };
    if let Some(actor) = session::named_actor(actor) {
        request.insert("actor".into(), actor.into());
    }
    Ok(request)
}

/// Returns the hashes of blueprints that are to be extended.
pub(super) fn hashes(extended: &[String]) -> Result<Vec<String>, Failure> {
    extended.iter().map(|given| Ok(hex(&read(given)?.hash()))).collect()
}

/// Writes a blueprint to a file of its own or in the place of an older one, whole or not at all.
pub(super) fn write(path: &Path, blueprint: &Object, replaces: bool) -> Result<(), Failure> {
    let failed = |error: &io::Error| {
        Failure::local(format!("`{}` could not be written", path.display()), error)
    };
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let written = || -> io::Result<()> {
        let mut draft = tempfile::Builder::new().prefix(".spl-").tempfile_in(folder)?;
        draft.write_all(text(blueprint).as_bytes())?;
        draft.as_file().sync_all()?;
        if replaces {
            draft.as_file().set_permissions(path.metadata()?.permissions())?;
            draft.persist(path)?;
        } else {
            draft.persist_noclobber(path)?;
        }
        Ok(())
    };
    match written() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Failure::usage(format!("`{}` is there already", path.display()))
                .with_hint("Choose another with --to."))
        }
        written => written.map_err(|error| failed(&error)),
    }
}

/// Returns a blueprint as a file has it: indented, unless that would say something else.
fn text(blueprint: &Object) -> String {
    let mut text = pretty(blueprint);
    if parse(text.as_bytes(), Limits::STORED).ok() != Some(Value::from(blueprint.clone())) {
        text = Value::from(blueprint.clone()).to_string();
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_the_blueprint_says() {
        for odd in ["plain", "a\u{202e}b", "\u{7f}\u{1b}[1m", "line\nline"] {
            let object = object! { "name": odd, "seeds": vec![object! { "text": odd.repeat(50) }] };
            let read = parse(text(&object).as_bytes(), Limits::DOOR).expect("JSON");
            assert_eq!(read, Value::from(object), "{odd:?}");
        }
    }
}
