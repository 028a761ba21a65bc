//! `spl blueprint init`: begin a blueprint.

use std::path::PathBuf;

use clap::Args;
use spl::blueprint::FORMAT;
use spl::hook::{HOOK_KIND, HOOK_TOPIC};
use spl::object;
use spl::record::{Act, CONFIG_THREAD};

use super::file;
use crate::failure::Failure;
use crate::output::{GOOD, printable};
use crate::session::{self, Session};

/// Begin a blueprint: a file with one hook, to be changed
#[derive(Args, Debug)]
#[command(after_help = "\
A blueprint is a list of seeds: records without a clock. A hook or a permission rule is a seed on
th_engine_config, as `spl learn` would write it; anything else is content. `schema/blueprint.json`
has the whole form. What it extends is named by hash, so changing that file means naming it anew.

Examples:
  spl blueprint init
  spl blueprint init house-rules --author did:sync:user:vera --to rules.json
  spl blueprint init ours --extends rules.json")]
pub(crate) struct InitArgs {
    /// What it is called
    #[arg(default_value = "blueprint")]
    name: String,
    /// Who writes it [default: `SPL_ACTOR`, else the owner of the instance]
    #[arg(long, value_name = "DID")]
    author: Option<String>,
    /// Where to write it [default: NAME.json]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// A blueprint that it builds on; may be said again
    #[arg(long, value_name = "FILE")]
    extends: Vec<String>,
}

/// Begins a blueprint.
pub(super) fn init(session: &mut Session, args: &InitArgs) -> Result<(), Failure> {
    let author = session::actor(args.author.as_deref())?;
    let mut blueprint = object! {
        "author": author,
        "description": "What this is for.",
        "format": FORMAT,
        "name": args.name.as_str(),
        "object": "blueprint",
        "seeds": vec![object! {
            "act": Act::Learn.as_str(),
            "body": object! {
                "kind": HOOK_KIND,
                "name": "shell-failed",
                "text": "${tool} ended with ${status}; read stderr first.",
                "topic": HOOK_TOPIC,
                "when": "resource == \"tool:bash\" && record.body.status != \"ok\"",
            },
            "thread": CONFIG_THREAD,
        }],
        "version": "0.1.0",
    };
    if !args.extends.is_empty() {
        blueprint.insert("extends".into(), file::hashes(&args.extends)?.into());
    }
    spl::blueprint::Blueprint::read(blueprint.clone().into())
        .map_err(|error| Failure::coded(&error))?;
    let path = match &args.to {
        Some(path) => path.clone(),
        None if args.name.contains('/') => {
            return Err(Failure::usage("the name cannot be that of a file")
                .with_hint("Say where with --to."));
        }
        None => PathBuf::from(format!("{}.json", args.name)),
    };
    file::write(&path, &blueprint, false)?;
    let place = path.display().to_string();
    blueprint.insert("path".into(), place.as_str().into());
    session.out.answer(&blueprint, |out| {
        writeln!(out, "{GOOD}✓{GOOD:#} wrote {}", printable(&place))?;
        writeln!(out, "Change it, then: spl blueprint plan {}", printable(&place))
    })
}
