//! Import: records of another store, taken over line by line.
//!
//! Comes in: JSON lines, each a record with its receipt as an export writes it, or an envelope
//! alone. Goes out: what was new, known and refused, by the number of the line. The lines of one
//! call are one commit; a line that is none refuses itself alone. A record is known by its id, so
//! an import that broke off is begun again, and nothing is there twice.
//!
//! No door has asked who may write what is imported, so nothing of it configures (decision 13). The
//! operator may adopt a record of the configuration: that writes a new one, which names it.

use super::erase::check_operator;
use super::signature::read_signature;
use super::{Caller, Engine, IngestError, Ingested};
use crate::canon::{Limits, Object, Value, parse};
use crate::code::{Code, Coded};
use crate::identity::Signature;
use crate::record::{
    ActorId, Draft, Envelope, MAX_CANONICAL_BYTES, Origin, Reason, Record, RecordId, ShapeError,
};
use crate::store::{AppendError, Prepared, Store, Tx};

/// The most lines of one call.
pub const MAX_IMPORT_LINES: usize = 1000;

/// The most bytes of one line: the longest record there is, with its receipt.
pub const MAX_IMPORT_LINE_BYTES: usize = MAX_CANONICAL_BYTES + 64 * 1024;

/// What a line of an export holds.
const MEMBERS: [&str; 8] =
    ["id", "origin", "received_at", "record", "sequence", "sig", "signer", "unproven"];

/// Why a line is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ImportError {
    /// The field that is wrong, if it is one field.
    pub field: Option<String>,
    /// One sentence.
    pub message: String,
}

impl ImportError {
    fn at(field: &str, message: impl Into<String>) -> Self {
        Self { field: Some(field.to_owned()), message: message.into() }
    }
}

impl Coded for ImportError {
    fn code(&self) -> Code {
        Code::ImportFailed
    }

    fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }
}

impl From<ShapeError> for ImportError {
    fn from(error: ShapeError) -> Self {
        Self::at(&error.field, error.message)
    }
}

/// What an answer about a record has beside the record.
const SHOWN: [&str; 7] = ["id", "object", "sequence", "sig", "signed_by", "signer", "unproven"];

/// A line that reads well: a record, and who signed it where that is said.
#[derive(Debug, Clone)]
pub struct ImportLine {
    record: Record,
    /// Whoever signed it, as a receipt says.
    signed: Option<(String, Signature)>,
    /// What is said to be the signature of its actor.
    claimed: Option<Signature>,
}

impl ImportLine {
    /// Reads a line. Its id, if it brings one, is that of its bytes; whether its signature is good
    /// is found out when it is taken.
    pub fn parse(line: &[u8]) -> Result<Self, ImportError> {
        let limits = Limits { bytes: MAX_IMPORT_LINE_BYTES, depth: Limits::STORED.depth + 1 };
        let value = parse(line, limits)
            .map_err(|error| ImportError { field: None, message: error.to_string() })?;
        let Value::Object(mut members) = value else {
            let message = format!("a line is an object, not {}", value.type_name());
            return Err(ImportError { field: None, message });
        };
        let envelope = if let Some(envelope) = members.remove("record") {
            check_members(&members)?;
            envelope
        } else {
            // An envelope alone, also as answers show it.
            let is_shown = members.contains_key("object");
            let beside: &[&str] = if is_shown { &SHOWN[..] } else { &["id"] };
            let mut receipt = Object::new();
            for name in beside {
                receipt.extend(members.remove_entry(*name));
            }
            Value::Object(std::mem::replace(&mut members, receipt))
        };
        let Envelope { draft, sig } = Envelope::read(envelope)?;
        draft.namespace()?;
        let record = Record::seal(draft)
            .map_err(|error| ImportError::at("record", format!("the record is {error}")))?;
        check_id(&members, &record)?;
        let claimed = match sig {
            Some(sig) => Some(read_signature(&sig)?),
            None => unproven(&members)?,
        };
        Ok(Self { signed: signed(&members)?, claimed, record })
    }

    /// Returns the record.
    pub const fn record(&self) -> &Record {
        &self.record
    }
}

fn check_members(members: &Object) -> Result<(), ImportError> {
    match members.keys().find(|name| !MEMBERS.contains(&name.as_str())) {
        None => Ok(()),
        Some(unknown) => {
            let shown: String = unknown.chars().take(64).collect();
            let message = format!("`{shown}` is not in a line, which has {}", MEMBERS.join(", "));
            Err(ImportError::at(&shown, message))
        }
    }
}

fn check_id(members: &Object, record: &Record) -> Result<(), ImportError> {
    let is_its = |given: &Value| given.as_str().and_then(RecordId::parse) == Some(record.id());
    match members.get("id") {
        Some(given) if !is_its(given) => {
            Err(ImportError::at("id", format!("the record hashes to {}", record.id())))
        }
        _ => Ok(()),
    }
}

/// Returns the signature that the store of before could not check either.
fn unproven(members: &Object) -> Result<Option<Signature>, ImportError> {
    match members.get("unproven") {
        None | Some(Value::Null) => Ok(None),
        Some(unproven) => match unproven.get("sig").and_then(Value::as_str) {
            Some(sig) => Ok(Some(read_signature(sig)?)),
            None => Err(ImportError::at("unproven", "`unproven` must hold the signature")),
        },
    }
}

fn signed(members: &Object) -> Result<Option<(String, Signature)>, ImportError> {
    let text = |name: &str| match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(ShapeError::wrong_type(name, "a string", other.type_name())),
    };
    match (text("signer")?, text("sig")?) {
        (None, None) => Ok(None),
        (Some(signer), Some(sig)) => Ok(Some((signer.to_owned(), read_signature(sig)?))),
        (Some(_), None) => Err(ImportError::at("sig", "a `signer` comes with its `sig`")),
        (None, Some(_)) => Err(ImportError::at("signer", "a `sig` comes with its `signer`")),
    }
}

/// A line that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedLine {
    /// Its number among those of the call, from 1.
    pub line: usize,
    /// Why.
    pub error: ImportError,
}

/// What came of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// How many records are new here.
    pub new: usize,
    /// How many were here.
    pub known: usize,
    /// The lines that were refused.
    pub refused: Vec<RefusedLine>,
}

/// What is to be done about a line.
enum Step {
    Refuse(ImportError),
    Pass,
    Append(Box<Prepared>),
}

impl Engine {
    /// Takes over the records of these lines, in one commit. With `strict`, nothing from the first
    /// line on that is refused is taken.
    pub fn import(
        &self,
        caller: &Caller,
        lines: &[u8],
        strict: bool,
    ) -> Result<Imported, IngestError> {
        check_operator(caller)?;
        let lines: Vec<(usize, &[u8])> = (1..)
            .zip(lines.split(|byte| *byte == b'\n'))
            .filter(|(_, line)| !line.trim_ascii().is_empty())
            .collect();
        if lines.len() > MAX_IMPORT_LINES {
            let message = format!("at most {MAX_IMPORT_LINES} lines are taken at once");
            return Err(ShapeError::new("body", Reason::BadValue, message).into());
        }
        let read = lines.into_iter().map(|(number, line)| (number, ImportLine::parse(line)));
        let steps = self.steps(read.collect())?;
        let configures = steps.iter().any(|(_, step)| match step {
            Step::Append(prepared) => prepared.record().thread.is_config(),
            Step::Refuse(_) | Step::Pass => false,
        });
        let imported = self.whole().write(move |tx| take(tx, steps, strict))?;
        if configures {
            self.fold_config()?;
        }
        Ok(imported)
    }

    /// Finds out what is known already, and proves what is not.
    fn steps(
        &self,
        lines: Vec<(usize, Result<ImportLine, ImportError>)>,
    ) -> Result<Vec<(usize, Step)>, IngestError> {
        let known = self.whole().read(|reader| {
            let known = |line: &Result<ImportLine, ImportError>| match line {
                Ok(line) => Ok(reader.author(line.record.id())?.is_some()),
                Err(_) => Ok(false),
            };
            lines.iter().map(|(_, line)| known(line)).collect::<Result<Vec<bool>, _>>()
        })?;
        let step = |line: Result<ImportLine, ImportError>, known: bool| match line {
            Ok(_) if known => Ok(Step::Pass),
            Ok(line) => self.prove(line),
            Err(error) => Ok(Step::Refuse(error)),
        };
        let lines = lines.into_iter().zip(known);
        lines.map(|((number, line), known)| Ok((number, step(line, known)?))).collect()
    }

    /// Makes a record ready to be stored: signed by whoever signed it, once that holds; or, where that
    /// is not said, by the instance as custodian. What is said to be its actor's signature is taken as
    /// at the records door.
    fn prove(&self, line: ImportLine) -> Result<Step, IngestError> {
        let ImportLine { record, signed, claimed } = line;
        let prepared = match signed {
            None => self.whole().prepare_sealed(record),
            Some((signer, signature)) => {
                if let Some(prepared) = Store::prepare_signed(record, &signer, signature) {
                    prepared
                } else {
                    let message = "the signature is not the signer's over this record";
                    return Ok(Step::Refuse(ImportError::at("sig", message)));
                }
            }
        };
        let prepared = match claimed {
            None => Ok(prepared),
            Some(signature) => self.prepare_signed(prepared.into_parts().0, signature),
        };
        match prepared {
            Ok(prepared) => Ok(Step::Append(Box::new(prepared))),
            Err(IngestError::Shape(error)) => Ok(Step::Refuse(error.into())),
            Err(error) => Err(error),
        }
    }

    /// Writes a record of the configuration that was imported once more, as the operator's own:
    /// with the same body, which passes the same checks, and the imported record as its parent.
    /// `None` if there is no such record.
    pub fn adopt(
        &self,
        caller: &Caller,
        id: RecordId,
        actor: &ActorId,
    ) -> Result<Option<Ingested>, IngestError> {
        check_operator(caller)?;
        let Some(stored) = self.whole().read(|reader| reader.record(id))? else {
            return Ok(None);
        };
        let refused = |what: &str| {
            let message = format!("{id} {what}");
            Err(ShapeError::new("id", Reason::BadValue, message).into())
        };
        if stored.origin != Origin::Import {
            return refused("was not imported: it holds here as it is");
        }
        if !stored.record.thread.is_config() {
            return refused("is no configuration: nothing is to be adopted");
        }
        if stored.erased.is_some() {
            return refused("was erased");
        }
        let draft = Draft {
            actor: actor.clone(),
            judged_by: None,
            parents: vec![id],
            ..stored.record.draft().clone()
        };
        self.admit(caller, &draft)?;
        let (record, appended) =
            self.whole().write(move |tx| tx.append_next(draft, Origin::Door))?;
        self.fold_config()?;
        let signed = self.signed(&record)?;
        Ok(Some(Ingested { record, appended, signed }))
    }
}

fn take(tx: &mut Tx<'_>, steps: Vec<(usize, Step)>, strict: bool) -> Result<Imported, AppendError> {
    let mut imported = Imported::default();
    for (line, step) in steps {
        let refused = match step {
            Step::Pass => {
                imported.known += 1;
                continue;
            }
            Step::Refuse(error) => error,
            Step::Append(prepared) => match tx.append(&prepared, Origin::Import) {
                Ok(appended) if appended.fresh => {
                    imported.new += 1;
                    continue;
                }
                Ok(_) => {
                    imported.known += 1;
                    continue;
                }
                Err(error @ AppendError::DuplicateClock { .. }) => {
                    ImportError::at("clock", error.to_string())
                }
                Err(error) => return Err(error),
            },
        };
        imported.refused.push(RefusedLine { line, error: refused });
        if strict {
            break;
        }
    }
    Ok(imported)
}
