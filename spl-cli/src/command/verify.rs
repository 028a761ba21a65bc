//! `spl verify`: prove that every record is what was accepted, or that one is.

use std::fs::File;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use spl::canon::{Canonical, Object, Value};
use spl::engine::{Engine, EngineOptions};
use spl::object;
use spl::store::{Fault, MAX_PROOF_BYTES, Proof, ProofError, SignedLink};

use super::WELL;
use crate::failure::{Exit, Failure};
use crate::home;
use crate::output::{DIM, ERROR, GOOD, Progress, note, plural, printable};
use crate::session::Session;

/// Prove that every record is what was accepted, in that order
#[derive(Args, Debug)]
#[command(after_help = "\
Hashes every record again, checks its signature and its receipt, follows the chain of receipts,
and checks the checkpoints, the keys and the signed head. A row that was changed, removed, moved or
dated anew is named, the first of them. Works beside a running server.

A store that was put back to an older state is whole in itself. What tells is a signed head, a
checkpoint or a proof from before, kept where nobody can reach both: see --head and --against.

A proof needs neither a home nor a store; --key says whose it must be.

Examples:
  spl verify
  spl verify --store /backups/hub.db
  spl verify --head > /elsewhere/head.json
  spl verify --against /elsewhere/head.json
  spl verify --proof note.proof --key did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK

Exit status: 0 all is well, 1 something is not.")]
pub(crate) struct VerifyArgs {
    /// Another store of this instance than the home's own, such as a backup
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Hold the store against a head, a checkpoint or a proof that was kept
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Print the signed head, to be kept, and look at nothing else
    #[arg(long, conflicts_with = "against")]
    head: bool,
    /// Check this proof of one record, and no store
    #[arg(long, value_name = "FILE", conflicts_with_all = ["store", "against", "head"])]
    proof: Option<PathBuf>,
    /// The instance key that must have signed the proof
    #[arg(long, value_name = "DID", requires = "proof")]
    key: Option<String>,
}

/// Proves that every record is what was accepted, or that one is.
pub(crate) fn verify(session: &mut Session, args: &VerifyArgs) -> Result<u8, Failure> {
    if let Some(path) = &args.proof {
        return check_proof(session, path, args.key.as_deref());
    }
    session.refuse_server("spl verify")?;
    let against = args.against.as_deref().map(read_signed).transpose()?;
    let engine = open(args.store.clone())?;
    if args.head {
        return print_head(session, &engine);
    }
    let progress = Progress::of("verify");
    let found =
        engine.store().verify_against(against.as_ref(), |done, total| progress.at(done, total));
    drop(progress);
    let found = found.map_err(|error| Failure::coded(&error))?;
    let fault = |fault: &Fault| object! { "sequence": fault.sequence, "what": fault.what.as_str() };
    let answer = object! {
        "checkpoints": found.checkpoints,
        "fault": found.fault.as_ref().map(fault),
        "object": "verification",
        "purged": found.purged,
        "records": found.records,
        "verified": found.fault.is_none(),
    };
    session.out.answer(&answer, |out| match &found.fault {
        None => {
            let purged = match found.purged {
                0 => String::new(),
                purged => format!(", {purged} of them without words"),
            };
            let records = plural(found.records, "record");
            writeln!(out, "{GOOD}✓{GOOD:#} {records} verified{purged}")
        }
        Some(Fault { sequence, what }) => {
            writeln!(out, "{ERROR}✗{ERROR:#} sequence {sequence}: {what}")
        }
    })?;
    Ok(if found.fault.is_none() { WELL } else { Exit::Error as u8 })
}

fn print_head(session: &mut Session, engine: &Engine) -> Result<u8, Failure> {
    let head = engine.store().read(|reader| reader.head());
    let head = head.map_err(|error| Failure::coded(&error))?;
    let head = head.ok_or_else(|| Failure::missing("the store is empty and has no head yet"))?;
    session.out.raw(&file_text(&head.to_object()))?;
    Ok(WELL)
}

/// Returns an object as the text of a file of its own: what is signed, to the byte.
pub(super) fn file_text(object: &Object) -> Vec<u8> {
    let mut text = Canonical::of_object(object).into_string();
    text.push('\n');
    text.into_bytes()
}

/// Reads a head, a checkpoint or a proof, each of which must hold by itself.
fn read_signed(path: &Path) -> Result<SignedLink, Failure> {
    SignedLink::parse(&read(path)?).map_err(|error| Failure::coded(&error))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_PROOF_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(|error| {
        Failure::local(format!("`{}` could not be read", path.display()), &error)
    })?;
    Ok(bytes)
}

fn check_proof(session: &mut Session, path: &Path, key: Option<&str>) -> Result<u8, Failure> {
    let checked = Proof::parse(&read(path)?).and_then(|proof| {
        proof.check(key)?;
        Ok(proof)
    });
    let proof = match checked {
        Ok(proof) => proof,
        Err(error @ (ProofError::Broken(_) | ProofError::OtherKey { .. })) => {
            return does_not_hold(session, &error);
        }
        Err(error) => return Err(Failure::coded(&error)),
    };
    let (record, end) = (proof.record(), proof.end());
    let answer = object! {
        "actor": &record.actor,
        "fault": Value::Null,
        "id": record.id(),
        "instance": end.signer(),
        "object": "proof_verification",
        "received_at": proof.received_at().to_string(),
        "sequence": proof.sequence().get(),
        "signed_to": end.sequence().get(),
        "signer": proof.signer(),
        "verified": true,
    };
    session.out.answer(&answer, |out| told(&proof, out))?;
    if key.is_none() {
        note("whose key that instance's is, only --key can tell");
    }
    Ok(WELL)
}

fn does_not_hold(session: &mut Session, fault: &ProofError) -> Result<u8, Failure> {
    let fault = fault.to_string();
    let answer = object! {
        "fault": fault.as_str(),
        "object": "proof_verification",
        "verified": false,
    };
    session.out.answer(&answer, |out| writeln!(out, "{ERROR}✗{ERROR:#} {}", printable(&fault)))?;
    Ok(Exit::Error as u8)
}

fn told(proof: &Proof, out: &mut dyn Write) -> std::io::Result<()> {
    let (record, end) = (proof.record(), proof.end());
    let (id, at) = (record.id(), proof.received_at());
    let sequence = proof.sequence();
    writeln!(out, "{GOOD}✓{GOOD:#} {id} was accepted at {at}, at sequence {sequence}")?;
    let by = if proof.signer() == end.signer() { " (the instance, on its behalf)" } else { "" };
    for (name, value) in [
        ("actor", printable(record.actor.as_str()).into_owned()),
        ("signer", format!("{}{by}", proof.signer())),
        ("instance", format!("{} (signed to sequence {})", end.signer(), end.sequence())),
    ] {
        writeln!(out, "{DIM}{name:<11}{DIM:#} {value}")?;
    }
    Ok(())
}

/// Opens the store of this home, or another one that its keys have signed.
pub(super) fn open(store_path: Option<PathBuf>) -> Result<Engine, Failure> {
    let home = home::find()?;
    if let Some(path) = store_path.as_ref().filter(|path| !path.exists()) {
        return Err(Failure::missing(format!("there is no store at `{}`", path.display())));
    }
    let options = EngineOptions { store_path, ..EngineOptions::default() };
    Engine::open(&home, options).map_err(|error| Failure::coded(&error))
}
