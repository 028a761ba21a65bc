//! `fixtures/predicate/*.json`: what predicates say, one behaviour a file.

use std::fmt;
use std::path::{Path, PathBuf};

use spl::canon::{self, Limits, Object, Value};
use spl::code::{Code, Coded as _};
use spl::predicate::{Context, Flaw, Predicate, PredicateSet, Ruling};

use crate::facts::{Body, World};

/// What a case wants.
#[derive(Debug, PartialEq, Eq)]
enum Want {
    Holds,
    DoesNotHold,
    Failed,
    Refused(String, Option<usize>),
}

struct Case {
    about: String,
    context: Context,
    when: String,
    world: World,
    want: Want,
}

#[test]
fn every_case_is_as_its_file_says() {
    let files = files();
    assert!(files.len() >= 40, "only {} files", files.len());
    let wrong: Vec<String> = files.iter().filter_map(|file| check(file).err()).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_flaw_that_a_text_can_have_has_a_case() {
    let cases: Vec<Case> = files().iter().map(|file| read(file).expect("a case")).collect();
    let refused = |flaw: &Flaw| {
        cases
            .iter()
            .any(|case| matches!(&case.want, Want::Refused(word, _) if word == flaw.as_str()))
    };
    let missing: Vec<&Flaw> =
        Flaw::ALL.iter().filter(|flaw| **flaw != Flaw::ParserFailed && !refused(flaw)).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/predicate");
    let mut files: Vec<PathBuf> =
        folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn check(file: &Path) -> Result<(), String> {
    let name = file.file_name().unwrap_or_default().display();
    let case = read(file).map_err(|wrong| format!("{name}: {wrong}"))?;
    let got = match Predicate::compile(&case.when, case.context) {
        Err(error) => {
            assert_eq!((error.code(), error.reason()), (Code::InvalidBody, Some("bad_cel")));
            Want::Refused(error.flaw.as_str().to_owned(), error.column())
        }
        Ok(predicate) => {
            let facts = case.world.facts();
            let alone = predicate.holds(&facts);
            let mut in_set = Ruling::DoesNotHold;
            let set = PredicateSet::from_iter([((), (), predicate)]);
            set.ask(&facts, |(), (), ruling| in_set = ruling);
            assert_eq!(alone, in_set, "{name}");
            match alone {
                Ruling::Holds => Want::Holds,
                Ruling::DoesNotHold => Want::DoesNotHold,
                Ruling::Failed(_) => Want::Failed,
            }
        }
    };
    if got == case.want {
        return Ok(());
    }
    Err(format!("{name}: {}\n  {}\n  wanted {:?}, got {got:?}", case.about, case.when, case.want))
}

fn read(file: &Path) -> Result<Case, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let value = canon::parse(&bytes, Limits::DOOR).map_err(|error| error.to_string())?;
    let mut fields = Fields::of(value, "case")?;
    let context = Context::parse(&fields.text("context")?).ok_or("no such context")?;
    let case = Case {
        about: fields.text("about")?,
        context,
        when: when(&mut fields)?,
        world: world(fields.optional("facts"))?,
        want: want(fields.take("want")?)?,
    };
    fields.end()?;
    Ok(case)
}

/// A source is a text, or `{repeat, times, …}` where it would be too long to read.
fn when(fields: &mut Fields) -> Result<String, String> {
    match fields.take("when")? {
        Value::String(text) => Ok(text),
        other => {
            let mut parts = Fields::of(other, "when")?;
            let times = parts.take("times")?.as_u64().ok_or("times")?;
            let times = usize::try_from(times).map_err(|error| error.to_string())?;
            let (before, repeated) = (parts.text("before")?, parts.text("repeat")?);
            let source = before + &repeated.repeat(times) + &parts.text("after")?;
            parts.end()?;
            Ok(source)
        }
    }
}

fn want(value: Value) -> Result<Want, String> {
    match value.as_str() {
        Some("holds") => return Ok(Want::Holds),
        Some("does_not_hold") => return Ok(Want::DoesNotHold),
        Some("failed") => return Ok(Want::Failed),
        _ => {}
    }
    let mut fields = Fields::of(value, "want")?;
    let word = fields.text("refused")?;
    let column = fields.optional("column").and_then(|column| column.as_u64());
    let column = column.and_then(|column| usize::try_from(column).ok());
    fields.end()?;
    Ok(Want::Refused(word, column))
}

fn world(facts: Option<Value>) -> Result<World, String> {
    let mut world = World::of_call(Object::new());
    let Some(facts) = facts else { return Ok(world) };
    let mut fields = Fields::of(facts, "facts")?;
    if let Some(Value::Object(members)) = fields.optional("body") {
        world.body = Body::Any(members);
    }
    if let Body::Call { tool, args, status, content } = &mut world.body {
        fields.set("tool", tool);
        fields.set("status", status);
        fields.set("content", content);
        if let Some(Value::Object(members)) = fields.optional("args") {
            *args = members;
        }
    }
    fields.set("act", &mut world.act);
    fields.set("resource", &mut world.resource);
    fields.set("actor", &mut world.actor);
    fields.set("namespace", &mut world.namespace);
    fields.end()?;
    Ok(world)
}

/// The members of an object, each of which must be asked for.
struct Fields {
    of: &'static str,
    members: Object,
}

impl Fields {
    fn of(value: Value, of: &'static str) -> Result<Self, String> {
        match value {
            Value::Object(members) => Ok(Self { of, members }),
            other => Err(format!("{of} is {}", other.type_name())),
        }
    }

    fn optional(&mut self, name: &str) -> Option<Value> {
        self.members.remove(name)
    }

    fn take(&mut self, name: &str) -> Result<Value, String> {
        self.optional(name).ok_or_else(|| format!("{} has no `{name}`", self.of))
    }

    fn text(&mut self, name: &str) -> Result<String, String> {
        match self.take(name)? {
            Value::String(text) => Ok(text),
            other => Err(format!("`{name}` is {}", other.type_name())),
        }
    }

    fn set(&mut self, name: &str, text: &mut String) {
        if let Some(Value::String(value)) = self.optional(name) {
            *text = value;
        }
    }

    fn end(self) -> Result<(), String> {
        match self.members.keys().next() {
            Some(unknown) => Err(format!("{} has an unknown `{unknown}`", self.of)),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.about)
    }
}
