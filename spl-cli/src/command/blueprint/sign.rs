//! `spl blueprint sign`: vouch for a blueprint.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use spl::canon::hex;
use spl::identity::{KeyPair, SEED_BYTES};
use spl::time::TimeSource;

use super::file;
use crate::failure::Failure;
use crate::home;
use crate::output::{GOOD, printable};
use crate::session::Session;

/// Sign a blueprint: vouch for all that it says and extends
#[derive(Args, Debug)]
#[command(after_help = "\
The signature stands in the file itself, in the place of any other. On this instance your own key
vouches for whatever it has signed, whoever wrote it; elsewhere it counts where the author that the
file names is trusted with this key. Changing a byte of what it says breaks it.

Examples:
  spl blueprint sign rules.json
  spl blueprint sign rules.json --key-file author.key")]
pub(crate) struct SignArgs {
    /// The file
    file: PathBuf,
    /// The key: 32 raw bytes [default: that of the owner of the instance]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

/// Signs a blueprint.
pub(super) fn sign(session: &mut Session, args: &SignArgs) -> Result<(), Failure> {
    let path = match &args.key_file {
        Some(path) => path.clone(),
        None => home::find()?.secrets_path().join("operator-identity.key"),
    };
    let key = read_key(&path)?;
    let given = args.file.display().to_string();
    if !args.file.exists() {
        return Err(Failure::missing(format!("there is no file `{given}`")));
    }
    let blueprint = file::read(&given)?.sign(&key, TimeSource::system().now());
    let signed = blueprint.to_object();
    file::write(&args.file, &signed, true)?;
    session.out.answer(&signed, |out| {
        let (hash, name) = (hex(&blueprint.hash()), printable(&blueprint.name));
        writeln!(out, "{GOOD}✓{GOOD:#} signed {name} {hash}")?;
        writeln!(out, "with {}", key.did())
    })
}

fn read_key(path: &Path) -> Result<KeyPair, Failure> {
    let place = path.display();
    let mut bytes = Vec::new();
    // A byte more than a key has, so that what is longer is seen.
    let most = SEED_BYTES as u64 + 1;
    File::open(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(|error| Failure::local(format!("the key `{place}` could not be read"), &error))?;
    let seed: &[u8; SEED_BYTES] = bytes.as_slice().try_into().map_err(|_| {
        Failure::invalid(format!("`{place}` is not a key: it must hold {SEED_BYTES} raw bytes"))
    })?;
    Ok(KeyPair::from_seed(seed))
}
