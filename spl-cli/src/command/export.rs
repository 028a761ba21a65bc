//! `spl export`: write records with their receipts, a line each.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use spl::canon::hex;
use spl::identity::random_bytes;
use spl::object;

use crate::client::{Download, Target};
use crate::failure::{Exit, Failure};
use crate::output::{GOOD, Progress, plural};
use crate::session::Session;

/// The header that says which sequence an export ends with.
const THROUGH: &str = "spl-through-sequence";

/// The header that says how many records an export leaves out.
const ERASED: &str = "spl-erased-records";

/// Write records with their receipts, a line each
#[derive(Args, Debug)]
#[command(after_help = "\
Each line is a JSON object: the record, its sequence, when it arrived and from where, who signed it
and the signature. What was erased is left out. With --out the file is there whole or not at all,
and nobody else can read it; a file that is there is never written over.

Examples:
  spl export --out all.jsonl
  spl export --thread th_notes --thread th_engine_config > some.jsonl
  spl export --since 1024 | ssh elsewhere spl import -")]
pub(crate) struct ExportArgs {
    /// Only records of this thread; more than once: of any of these
    #[arg(long = "thread", value_name = "ID")]
    threads: Vec<String>,
    /// Only records that arrived after this sequence
    #[arg(long, value_name = "SEQ", default_value_t = 0, hide_default_value = true)]
    since: u64,
    /// The file to make [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes records with their receipts.
pub(crate) fn export(session: &mut Session, args: &ExportArgs) -> Result<(), Failure> {
    if let Some(file) = args.out.as_ref().filter(|file| file.exists()) {
        return Err(is_there(file));
    }
    let client = session.reader()?;
    let threads = (!args.threads.is_empty()).then(|| args.threads.join("\n"));
    let target = Target::of(&["v1", "portability", "export"])
        .with_some("thread", threads)
        .with("since", args.since);
    let download = client.download(&target)?;
    let erased = download.number(ERASED).unwrap_or_default();
    let Some(file) = &args.out else {
        copy(download, args.since, &mut |bytes| session.out.raw(bytes))?;
        return Ok(());
    };
    let records = write_whole(file, |partial| {
        let mut into = io::BufWriter::new(partial);
        let records = copy(download, args.since, &mut |bytes| {
            into.write_all(bytes).map_err(|error| not_written(file, &error))
        })?;
        into.flush().map_err(|error| not_written(file, &error))?;
        Ok(records)
    })?;
    let path = file.display().to_string();
    let answer = object! {
        "erased": erased,
        "file": path.as_str(),
        "object": "export",
        "records": records,
    };
    session.out.answer(&answer, |out| {
        let left_out = match erased {
            0 => String::new(),
            erased => format!("; {erased} that were erased are left out"),
        };
        writeln!(out, "{GOOD}✓{GOOD:#} {path} ({}{left_out})", plural(records, "record"))
    })
}

/// Hands on what comes, and returns how many lines that were.
fn copy(
    mut download: Download<'_>,
    since: u64,
    take: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let total = download.number(THROUGH).unwrap_or_default().saturating_sub(since);
    let progress = Progress::of("export");
    let mut lines: u64 = 0;
    while let Some(bytes) = download.next()? {
        take(&bytes)?;
        let ended = bytes.split(|byte| *byte == b'\n').count() - 1;
        lines = lines.saturating_add(u64::try_from(ended).unwrap_or(u64::MAX));
        progress.at(lines, total);
    }
    Ok(lines)
}

/// Makes a file under another name, and gives it its own once it is whole and durable.
fn write_whole<T>(
    file: &Path,
    write: impl FnOnce(&fs::File) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let name = random_bytes::<8>()
        .map_err(|error| Failure::local("the file could not be named", &error))?;
    let mut partial = file.as_os_str().to_owned();
    partial.push(format!(".{}.partial", hex(&name)));
    let partial = PathBuf::from(partial);
    let mut options = fs::OpenOptions::new();
    let made = options.write(true).create_new(true).mode(0o600).open(&partial);
    let made = made.map_err(|error| not_written(file, &error))?;
    let filled = write(&made).and_then(|filled| {
        settle(&made, &partial, file)?;
        Ok(filled)
    });
    if filled.is_err() {
        let _ = fs::remove_file(&partial);
    }
    filled
}

fn settle(made: &fs::File, partial: &Path, file: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| not_written(file, &error);
    made.sync_all().map_err(failed)?;
    // Unlike a rename, a second name takes nobody's place.
    match fs::hard_link(partial, file) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(is_there(file)),
        Err(error) => return Err(failed(error)),
        Ok(()) => fs::remove_file(partial).map_err(failed)?,
    }
    // Makes the name durable too, where the file system has such a thing.
    if let Ok(folder) = fs::File::open(file.with_file_name(".")) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn not_written(file: &Path, error: &io::Error) -> Failure {
    Failure::local(format!("`{}` could not be written", file.display()), error)
}

fn is_there(file: &Path) -> Failure {
    Failure::new(Exit::Error, "FILE_EXISTS", format!("`{}` is there already", file.display()))
        .with_hint("Name a file that is not there yet; none is written over.")
}
