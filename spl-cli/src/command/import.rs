//! `spl import`: take over records of another store.

mod lines;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use spl::canon::{Object, Value};
use spl::code::Code;
use spl::object;

use super::WELL;
use super::record::find;
use crate::client::{Client, Target};
use crate::failure::{Exit, Failure};
use crate::output::{self, GOOD, Progress, WARN, printable, short};
use crate::session::{self, Session};
use lines::Lines;

/// The most lines that are sent at once: they are one commit.
const BATCH_LINES: usize = 500;

/// The most bytes that are sent at once, unless one line alone has more.
const BATCH_BYTES: usize = 1024 * 1024;

/// The most refused lines that are told one by one, and that an answer lists.
const MAX_TOLD: usize = 100;

/// Take over records of another store
#[derive(Args, Debug)]
#[command(after_help = "\
Takes what `spl export` writes, and lines that are an envelope each. A record is known by its id, so
an import that broke off is begun again, and nothing is there twice. A line that is none is refused
with its number, and the others are taken.

Hooks, rules and other configuration are stored and do not hold here; `spl hook list` shows them as
refused. --adopt writes one of them once more, as yours.

Examples:
  spl import all.jsonl
  ssh elsewhere spl export | spl import -
  spl import --adopt 5b6bf5cf

Exit status: 0 every line was taken or known, 4 a line was refused.")]
pub(crate) struct ImportArgs {
    /// The file, or `-` for standard input
    #[arg(required_unless_present = "adopt", conflicts_with = "adopt")]
    file: Option<PathBuf>,
    /// Stop at the first line that is refused; those before it stay
    #[arg(long, conflicts_with = "adopt")]
    strict: bool,
    /// Let an imported record of the configuration hold here: write it as yours
    #[arg(long, value_name = "ID")]
    adopt: Option<String>,
    /// Who adopts it [default: `SPL_ACTOR`, else the owner of the instance]
    #[arg(long, value_name = "DID", requires = "adopt")]
    actor: Option<String>,
}

/// Takes over records of another store.
pub(crate) fn import(session: &mut Session, args: &ImportArgs) -> Result<u8, Failure> {
    if let Some(id) = &args.adopt {
        adopt(session, id, args.actor.as_deref())?;
        return Ok(WELL);
    }
    let file = args.file.as_deref().unwrap_or(Path::new("-"));
    let (input, length) = opened(file)?;
    let client = session.writer()?;
    let mut importing = Importing::new(&client, args.strict);
    let read = importing.all(Lines::of(BufReader::new(input)), length);
    let Importing { told, .. } = importing;
    read?;
    let answer = told.to_object();
    session.out.answer(&answer, |out| {
        let mark = if told.refused == 0 { GOOD } else { WARN };
        let sign = if told.refused == 0 { "✓" } else { "!" };
        write!(out, "{mark}{sign}{mark:#} {} new, {} known", told.new, told.known)?;
        match told.refused {
            0 => writeln!(out),
            refused => writeln!(out, ", {refused} refused"),
        }
    })?;
    Ok(if told.refused == 0 { WELL } else { Exit::Invalid as u8 })
}

/// Opens what is to be read, and says how long it is if that is known.
fn opened(file: &Path) -> Result<(Box<dyn Read>, Option<u64>), Failure> {
    if file == Path::new("-") {
        return Ok((Box::new(io::stdin()), None));
    }
    let failed = |error: io::Error| {
        let message = format!("`{}` could not be read", file.display());
        match error.kind() {
            io::ErrorKind::NotFound => Failure::missing(message),
            _ => Failure::local(message, &error),
        }
    };
    let opened = File::open(file).map_err(failed)?;
    let about = opened.metadata().map_err(failed)?;
    Ok((Box::new(opened), about.is_file().then_some(about.len())))
}

/// What came of the lines so far.
#[derive(Default)]
struct Told {
    new: u64,
    known: u64,
    refused: u64,
    lines: Vec<Object>,
    has_more: bool,
}

impl Told {
    fn to_object(&self) -> Object {
        object! {
            "known": self.known,
            "new": self.new,
            "object": "import",
            "refused": self.refused,
            "refused_lines": self.lines.clone(),
        }
    }

    /// Notes a line that was refused, and says so.
    fn refuse(&mut self, line: u64, field: Option<&str>, message: &str) {
        self.refused += 1;
        if self.lines.len() < MAX_TOLD {
            output::warn(&format!("line {line}: {}", printable(message)));
            self.lines.push(object! {
                "code": Code::ImportFailed.as_str(),
                "field": field,
                "line": line,
                "message": message,
            });
        } else if !std::mem::replace(&mut self.has_more, true) {
            output::warn("more lines are refused, and only counted");
        }
    }
}

/// Sends lines, so many at a time.
struct Importing<'c> {
    client: &'c Client,
    target: Target,
    strict: bool,
    batch: Vec<u8>,
    /// Which lines those of the batch are.
    numbers: Vec<u64>,
    told: Told,
}

impl<'c> Importing<'c> {
    fn new(client: &'c Client, strict: bool) -> Self {
        let target = Target::of(&["v1", "portability", "import"]).with("strict", strict);
        let (batch, numbers) = (Vec::new(), Vec::new());
        Self { client, target, strict, batch, numbers, told: Told::default() }
    }

    /// Sends every line, or all up to the first that is refused.
    fn all(
        &mut self,
        mut lines: Lines<impl io::BufRead>,
        length: Option<u64>,
    ) -> Result<(), Failure> {
        let progress = Progress::of("import");
        let broken = |error: io::Error| Failure::local("the lines could not be read", &error);
        while let Some(line) = lines.next().map_err(broken)? {
            let number = line.number;
            let sent = if let Some(text) = line.text {
                let full = self.numbers.len() >= BATCH_LINES
                    || (!self.batch.is_empty() && self.batch.len() + text.len() > BATCH_BYTES);
                let going_on = !full || self.send()?;
                if going_on {
                    self.batch.extend_from_slice(text);
                    self.batch.push(b'\n');
                    self.numbers.push(number);
                }
                going_on
            } else {
                let going_on = self.send()?;
                if going_on {
                    self.told.refuse(number, None, lines::TOO_LONG);
                }
                going_on && !self.strict
            };
            if !sent {
                return Ok(());
            }
            if let Some(length) = length {
                progress.at(lines.bytes(), length);
            }
        }
        self.send().map(drop)
    }

    /// Sends what is ready, and returns whether to go on.
    fn send(&mut self) -> Result<bool, Failure> {
        if self.numbers.is_empty() {
            return Ok(true);
        }
        let (batch, numbers) = (std::mem::take(&mut self.batch), std::mem::take(&mut self.numbers));
        let answer = self.client.send_lines(&self.target, batch)?.body;
        let count = |key: &str| answer.get(key).and_then(Value::as_u64).unwrap_or_default();
        self.told.new += count("new");
        self.told.known += count("known");
        let refused = answer.get("refused").and_then(Value::as_array).unwrap_or_default();
        for row in refused {
            let text = |key: &str| row.get(key).and_then(Value::as_str);
            let at = row.get("line").and_then(Value::as_u64).unwrap_or_default();
            let at = usize::try_from(at).unwrap_or_default().checked_sub(1);
            let number = at.and_then(|at| numbers.get(at)).copied().unwrap_or_default();
            self.told.refuse(number, text("field"), text("message").unwrap_or_default());
        }
        Ok(!self.strict || refused.is_empty())
    }
}

fn adopt(session: &mut Session, id: &str, actor: Option<&str>) -> Result<(), Failure> {
    let client = session.writer()?;
    let foreign = find(&client, id)?;
    let id = foreign.get("id").and_then(Value::as_str).unwrap_or_default();
    let request = object! { "actor": session::actor(actor)?, "id": id };
    let adopted = client.post(&Target::of(&["v1", "portability", "adopt"]), request)?.body;
    session.out.answer(&adopted, |out| {
        let written = adopted.get("id").and_then(Value::as_str).unwrap_or_default();
        writeln!(out, "{GOOD}✓{GOOD:#} adopted {} as {}", short(id), short(written))
    })
}
