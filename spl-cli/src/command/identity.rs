//! `spl identity`: the keys of this instance and of the actors in its custody.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use spl::canon::Object;
use spl::engine::{Engine, Identity, IdentityError, KeyChange, KeyState};
use spl::object;
use spl::record::{ActorId, ENGINE_ACTOR};

use super::WELL;
use super::serve::seat::Alone;
use crate::failure::{Exit, Failure};
use crate::home;
use crate::output::{self, DIM, ERROR, GOOD, Table, WARN, printable};
use crate::session::{self, Session};

/// Look after the keys that sign records
#[derive(Subcommand, Debug)]
pub(crate) enum IdentityCommand {
    Show(ShowArgs),
    Verify(VerifyArgs),
    Generate(GenerateArgs),
    Rotate(RotateArgs),
    Backup(BackupArgs),
    Recover(RecoverArgs),
}

/// Show who has a key, which, and where it is
#[derive(Args, Debug)]
#[command(after_help = "\
The instance signs for whoever has no key here, as custodian; its actor is
did:sync:system:engine. A record says in `signed_by` whether its actor signed it.

Examples:
  spl identity show
  spl identity show did:sync:agent:clerk")]
pub(crate) struct ShowArgs {
    /// Only this actor
    actor: Option<String>,
}

/// Check that the keys in this home are those that records name
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl identity verify

Exit status: 0 all are, 1 one is not, or is missing.")]
pub(crate) struct VerifyArgs {
    /// Only this actor
    actor: Option<String>,
}

/// Make a key for an actor, kept in this home, and write the record that names it
#[derive(Args, Debug)]
#[command(after_help = "\
What the operator writes as this actor is signed with it from then on. No server may run.

Examples:
  spl identity generate did:sync:agent:clerk")]
pub(crate) struct GenerateArgs {
    /// The actor, a DID
    actor: String,
    /// Give up the key that records name and that is not here
    #[arg(long)]
    force: bool,
}

/// Replace a key by a new one; the old one signs the record that says so
#[derive(Args, Debug)]
#[command(after_help = "\
What the old key has signed stays good. After a rotation of the instance, the head, checkpoints and
what it signs as custodian have the new key, and `spl verify` follows the records from one to the
next; its old key is kept as keys/retired-…, for copies of the store from before. No server may run.

Examples:
  spl identity rotate
  spl identity rotate did:sync:agent:clerk
  spl identity rotate --instance")]
pub(crate) struct RotateArgs {
    #[command(flatten)]
    whose: Whose,
}

/// Copy a key to a file of its own, to be kept elsewhere
#[derive(Args, Debug)]
#[command(after_help = "\
Whoever has the file can sign as this actor: it holds the key as it is, not encrypted. So
--plaintext must be said. Only you can read the file; a file that is there is never written over.

Examples:
  spl identity backup vera.backup --plaintext
  spl identity backup instance.backup --instance --plaintext")]
pub(crate) struct BackupArgs {
    /// The file to make
    file: PathBuf,
    /// Whose key [default: yours]
    #[arg(long, value_name = "DID", conflicts_with = "instance")]
    actor: Option<String>,
    /// The key of the instance
    #[arg(long)]
    instance: bool,
    /// I know that the file is not encrypted
    #[arg(long)]
    plaintext: bool,
}

/// Put a key back from such a file
#[derive(Args, Debug)]
#[command(after_help = "\
Works where the instance cannot be opened because that very key is gone. A key that is there, and
the key that records name, only give way if --force says so. No server may run.

Examples:
  spl identity recover instance.backup")]
pub(crate) struct RecoverArgs {
    /// The file
    file: PathBuf,
    /// Put it in the place of another key
    #[arg(long)]
    force: bool,
}

/// Whose key is meant.
#[derive(Args, Debug)]
struct Whose {
    /// Whose key [default: yours]
    #[arg(conflicts_with = "instance")]
    actor: Option<String>,
    /// The key of the instance
    #[arg(long)]
    instance: bool,
}

/// Looks after keys.
pub(crate) fn identity(session: &mut Session, command: IdentityCommand) -> Result<u8, Failure> {
    session.refuse_server("spl identity")?;
    // These go past every door, to the files of the home.
    match &command {
        IdentityCommand::Show(_) | IdentityCommand::Verify(_) => {}
        IdentityCommand::Generate(_) => session.refuse_agent("spl identity generate")?,
        IdentityCommand::Rotate(_) => session.refuse_agent("spl identity rotate")?,
        IdentityCommand::Backup(_) => session.refuse_agent("spl identity backup")?,
        IdentityCommand::Recover(_) => session.refuse_agent("spl identity recover")?,
    }
    match command {
        IdentityCommand::Show(args) => show(session, args.actor.as_deref()).map(|()| WELL),
        IdentityCommand::Verify(args) => verify(session, args.actor.as_deref()),
        IdentityCommand::Generate(args) => generate(session, &args).map(|()| WELL),
        IdentityCommand::Rotate(args) => rotate(session, &args).map(|()| WELL),
        IdentityCommand::Backup(args) => backup(session, &args).map(|()| WELL),
        IdentityCommand::Recover(args) => recover(session, &args).map(|()| WELL),
    }
}

fn show(session: &mut Session, actor: Option<&str>) -> Result<(), Failure> {
    let identities = identities(actor)?;
    let rows: Vec<Object> = identities.iter().map(to_object).collect();
    session.out.list(&spl::http::wire::list(rows), |out, _| {
        let mut table = Table::new(["ACTOR", "FINGERPRINT", "KEY", "WHERE"]);
        for identity in &identities {
            table.row([
                printable(&identity.actor).into_owned(),
                identity.fingerprint().unwrap_or_default(),
                identity.key.clone().unwrap_or_else(|| "none".into()),
                identity.path.display().to_string(),
            ]);
        }
        table.print(out)
    })
}

fn verify(session: &mut Session, actor: Option<&str>) -> Result<u8, Failure> {
    let identities = identities(actor)?;
    let rows: Vec<Object> = identities.iter().map(to_object).collect();
    session.out.list(&spl::http::wire::list(rows), |out, _| {
        for Identity { actor, state, named, path, .. } in &identities {
            let (actor, path) = (printable(actor), path.display());
            let named = named.as_deref().unwrap_or("none");
            match state {
                KeyState::Agrees => writeln!(out, "{GOOD}✓{GOOD:#} {actor}")?,
                KeyState::Missing if named == "none" => {
                    writeln!(out, "{WARN}!{WARN:#} {actor} has no key; the instance signs for it")?;
                }
                KeyState::Missing => {
                    writeln!(
                        out,
                        "{ERROR}✗{ERROR:#} {actor}: records name {named}; {path} is gone"
                    )?;
                }
                KeyState::Replaced | KeyState::Differs => writeln!(
                    out,
                    "{ERROR}✗{ERROR:#} {actor}: records name {named}, and {path} holds another key"
                )?,
            }
        }
        Ok(())
    })?;
    let is_well = |it: &Identity| {
        it.state == KeyState::Agrees || (it.state == KeyState::Missing && it.named.is_none())
    };
    Ok(if identities.iter().all(is_well) { WELL } else { Exit::Error as u8 })
}

fn identities(actor: Option<&str>) -> Result<Vec<Identity>, Failure> {
    let engine = home::open(&home::find()?)?;
    let found = match actor {
        Some(actor) => engine.identity(actor).map(|identity| vec![identity]),
        None => engine.identities(),
    };
    found.map_err(|error| Failure::coded(&error))
}

fn to_object(identity: &Identity) -> Object {
    object! {
        "actor": identity.actor.as_str(),
        "did": identity.key.as_deref(),
        "fingerprint": identity.fingerprint(),
        "named": identity.named.as_deref(),
        "object": "identity",
        "path": identity.path.display().to_string(),
        "state": identity.state.as_str(),
    }
}

fn generate(session: &mut Session, args: &GenerateArgs) -> Result<(), Failure> {
    let actor = parse(&args.actor)?;
    let change = alone(|engine| engine.generate_identity(&actor, args.force))?;
    tell(session, &change)
}

fn rotate(session: &mut Session, args: &RotateArgs) -> Result<(), Failure> {
    let actor = whose(args.whose.actor.as_deref(), args.whose.instance)?;
    let change = alone(|engine| engine.rotate_identity(&actor))?;
    tell(session, &change)
}

/// Does something to the keys while no server runs and nobody else does.
fn alone(
    work: impl FnOnce(&Engine) -> Result<KeyChange, IdentityError>,
) -> Result<KeyChange, Failure> {
    let home = home::made()?;
    let _alone = Alone::on(&home)?;
    work(&home::open(&home)?).map_err(|error| Failure::coded(&error))
}

fn tell(session: &mut Session, change: &KeyChange) -> Result<(), Failure> {
    let path = change.path.display().to_string();
    let answer = object! {
        "actor": change.actor.as_str(),
        "did": change.key.as_str(),
        "object": "identity_change",
        "path": path.as_str(),
        "previous": change.previous.as_deref(),
        "record_id": change.record,
    };
    session.out.answer(&answer, |out| {
        let (actor, key) = (printable(&change.actor), &change.key);
        writeln!(out, "{GOOD}✓{GOOD:#} {actor} signs as {key}")?;
        if let Some(previous) = &change.previous {
            writeln!(out, "{DIM}before{DIM:#}  {previous}")?;
        }
        writeln!(out, "{DIM}where{DIM:#}   {path}")?;
        writeln!(out, "{DIM}record{DIM:#}  {}", change.record)
    })
}

fn backup(session: &mut Session, args: &BackupArgs) -> Result<(), Failure> {
    if !args.plaintext {
        return Err(Failure::usage("the file would hold the key as it is, not encrypted")
            .with_hint(
                "Say --plaintext if that is what you want, and keep it where nobody reads.",
            ));
    }
    let actor = whose(args.actor.as_deref(), args.instance)?;
    let home = home::find()?;
    let did = home.back_up_key(&actor, &args.file).map_err(|error| Failure::coded(&error))?;
    let file = args.file.display().to_string();
    let answer = object! {
        "actor": &actor,
        "did": did.as_str(),
        "file": file.as_str(),
        "object": "identity_backup_file",
    };
    output::warn(&format!("whoever reads {file} can sign as {}", printable(actor.as_str())));
    session.out.answer(&answer, |out| writeln!(out, "{GOOD}✓{GOOD:#} {file} holds {did}"))
}

fn recover(session: &mut Session, args: &RecoverArgs) -> Result<(), Failure> {
    let home = home::find()?;
    home.make_folders().map_err(|error| Failure::coded(&error))?;
    let _alone = Alone::on(&home)?;
    let recovered =
        home.recover_key(&args.file, args.force).map_err(|error| Failure::coded(&error))?;
    let path = recovered.path.display().to_string();
    let answer = object! {
        "actor": recovered.actor.as_str(),
        "did": recovered.key.as_str(),
        "fresh": recovered.fresh,
        "object": "identity_recovery",
        "path": path.as_str(),
    };
    session.out.answer(&answer, |out| {
        let (actor, key) = (printable(&recovered.actor), &recovered.key);
        let was = if recovered.fresh { "" } else { " already" };
        writeln!(out, "{GOOD}✓{GOOD:#} {actor} signs as {key}{was}")?;
        writeln!(out, "{DIM}where{DIM:#}  {path}")
    })
}

fn whose(actor: Option<&str>, instance: bool) -> Result<ActorId, Failure> {
    if instance { parse(ENGINE_ACTOR) } else { parse(&session::actor(actor)?) }
}

fn parse(actor: &str) -> Result<ActorId, Failure> {
    ActorId::parse(actor).map_err(|error| Failure::usage(format!("the actor {error}")))
}
