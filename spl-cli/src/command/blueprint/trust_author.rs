//! `spl blueprint trust-author`: let an author's blueprints bring more than content.

use clap::Args;
use spl::config::BLUEPRINT_AUTHOR_TOPIC;
use spl::object;
use spl::record::{Act, ActorId, ThreadId};

use crate::command::write::show_written;
use crate::failure::Failure;
use crate::session::{self, Session};
use crate::statement::Statement;

/// Trust an author: their signed blueprints may bring hooks and rules, which you still accept
#[derive(Args, Debug)]
#[command(after_help = "\
The author is the one that a blueprint names, and the key is what signs it. A did:key is its own
key. With --revoked-after, what was signed later is trusted no more; whoever has stolen a key can
date a signature back, so a key that is lost is revoked as of 0.

Examples:
  spl blueprint trust-author --author-did did:key:z6Mk…
  spl blueprint trust-author --author-did did:web:example.org --public-key 'O2onvM62pC1…='
  spl blueprint trust-author --author-did did:key:z6Mk… --revoked-after 0")]
pub(crate) struct TrustAuthorArgs {
    /// The author, as blueprints name them
    #[arg(long, value_name = "DID")]
    author_did: String,
    /// Their public key: base64 of 32 bytes, or a did:key
    #[arg(long, value_name = "B64")]
    public_key: Option<String>,
    /// Trust nothing that was signed after this time, in seconds since 1970
    #[arg(long, value_name = "UNIX")]
    revoked_after: Option<u64>,
    /// Who states it [default: `SPL_ACTOR`, else did:sync:system:engine]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

/// Trusts an author.
pub(super) fn trust_author(session: &mut Session, args: &TrustAuthorArgs) -> Result<(), Failure> {
    let mut body = object! {
        "name": args.author_did.as_str(),
        "topic": BLUEPRINT_AUTHOR_TOPIC,
    };
    if let Some(key) = &args.public_key {
        body.insert("public_key".into(), key.as_str().into());
    }
    if let Some(revoked) = args.revoked_after {
        body.insert("revoked_after".into(), revoked.into());
    }
    let actor = session::named_actor(args.actor.as_deref());
    let statement = Statement {
        thread: ThreadId::config().to_string(),
        actor: actor.unwrap_or_else(|| ActorId::engine().to_string()),
        act: Act::Learn,
        body,
        parents: Vec::new(),
    };
    let reply = statement.write(&session.writer()?)?;
    show_written(session, &reply)
}
