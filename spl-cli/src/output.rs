//! What the command says: to a person, or to a program.
//!
//! An answer is one object. A person is shown it as text; with `-o json` it is printed as it is,
//! on one line at the end; with `-o stream-json` each row of a list is a line of its own.
//!
//! **Invariant:** nothing else touches the terminal, and standard output holds the answer alone.
//! Notes, progress and logs go to standard error.

mod explanation;
mod pretty;
mod progress;
mod style;
mod table;
mod text;

use std::io::{self, BufWriter, StdoutLock, Write};

use anstream::adapter::strip_bytes;
use anstream::{AutoStream, ColorChoice};
use spl::canon::{Object, Value};

use crate::failure::Failure;
pub(crate) use explanation::explained;
pub(crate) use pretty::pretty;
pub(crate) use progress::Progress;
pub(crate) use style::{DIM, ERROR, GOOD, NAME, WARN};
pub(crate) use table::Table;
pub(crate) use text::{acts, cut, plural, printable, quote, short};

/// The form of what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Form {
    /// Text for a person
    #[default]
    Text,
    /// One JSON object, at the end
    Json,
    /// One JSON object a line, as they come
    StreamJson,
}

/// Where answers are written.
pub(crate) struct Output {
    form: Form,
    coloured: bool,
    stdout: BufWriter<StdoutLock<'static>>,
}

impl Output {
    /// Returns the output of this process, in this form.
    pub(crate) fn new(form: Form) -> Self {
        let coloured = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        Self { form, coloured, stdout: BufWriter::new(io::stdout().lock()) }
    }

    /// Returns the form of what is printed.
    pub(crate) const fn form(&self) -> Form {
        self.form
    }

    /// Prints the one answer of a command: `answer` to a program, `text` to a person.
    pub(crate) fn answer(
        &mut self,
        answer: &Object,
        text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self.form {
            Form::Text => self.text(text)?,
            Form::Json | Form::StreamJson => self.line(answer)?,
        }
        Ok(self.stdout.flush()?)
    }

    /// Prints a list: the envelope to a program, or its rows one a line, or `text` to a person.
    pub(crate) fn list(
        &mut self,
        envelope: &Object,
        text: impl FnOnce(&mut dyn Write, &[Value]) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let rows = envelope.get("data").and_then(Value::as_array).unwrap_or_default();
        match self.form {
            Form::Text => self.text(|out| text(out, rows))?,
            Form::Json => self.line(envelope)?,
            Form::StreamJson => {
                rows.iter().try_for_each(|row| writeln!(self.stdout, "{row}"))?;
            }
        }
        Ok(self.stdout.flush()?)
    }

    /// Prints one of many rows at once, as it comes.
    pub(crate) fn row(
        &mut self,
        row: &Value,
        text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self.form {
            Form::Text => self.text(text)?,
            Form::Json | Form::StreamJson => writeln!(self.stdout, "{row}")?,
        }
        Ok(self.stdout.flush()?)
    }

    /// Prints text as it is, whatever the form: for what is no answer but a file, such as a
    /// completion script.
    pub(crate) fn raw(&mut self, text: &[u8]) -> Result<(), Failure> {
        self.stdout.write_all(text)?;
        Ok(self.stdout.flush()?)
    }

    /// Prints what `render` writes, without its colours where there is no terminal. JSON never goes
    /// this way: what takes colours away takes control characters inside of strings away as well.
    fn text(&mut self, render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut text = Vec::new();
        render(&mut text)?;
        if !self.coloured {
            text = strip_bytes(&text).into_vec();
        }
        self.stdout.write_all(&text)
    }

    fn line(&mut self, object: &Object) -> io::Result<()> {
        writeln!(self.stdout, "{}", Value::from(object.clone()))
    }

    /// Says why the command did not do what it was asked. Whoever cannot be told is not told.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        if failure.is_silent() {
            return;
        }
        let _ = match self.form {
            Form::Text => tell(failure),
            Form::Json | Form::StreamJson => {
                self.line(failure.envelope()).and_then(|()| self.stdout.flush())
            }
        };
    }
}

fn tell(failure: &Failure) -> io::Result<()> {
    let mut stderr = anstream::stderr().lock();
    let (message, code) = (printable(failure.message()), failure.code());
    writeln!(stderr, "{ERROR}spl:{ERROR:#} {message} {DIM}[{code}]{DIM:#}")?;
    for line in failure.excerpt().into_iter().flat_map(str::lines) {
        writeln!(stderr, "  {line}")?;
    }
    for cause in failure.causes() {
        writeln!(stderr, "  caused by: {}", printable(cause))?;
    }
    if let Some(hint) = failure.hint() {
        writeln!(stderr, "  {DIM}hint:{DIM:#} {}", printable(hint))?;
    }
    Ok(())
}

/// Tells a person something beside the answer.
pub(crate) fn note(message: &str) {
    let _ = writeln!(anstream::stderr().lock(), "spl: {message}");
}

/// Tells a person of something that may not be what they want.
pub(crate) fn warn(message: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{WARN}spl: warning:{WARN:#} {message}");
}

/// Tells a person what a policy hook has done, whatever the form of the answer.
pub(crate) fn hook(message: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{WARN}hook:{WARN:#} {message}");
}
