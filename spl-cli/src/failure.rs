//! What goes wrong, as a person and as a program see it.
//!
//! A failure is the envelope that the server sends (contract §2.2), or would have sent, together
//! with an exit status. The class of a code decides the status, and nothing finer does.

mod excerpt;

pub(crate) use excerpt::around;

use std::io;

use spl::canon::{Object, Value};
use spl::code::{Class, Code, Coded};
use spl::object;

/// How the process ends when something went wrong. The numbers are public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Something failed.
    Error = 1,
    /// The command line is not one.
    Usage = 2,
    /// There is no such thing.
    Missing = 3,
    /// What was to be written or checked is not valid.
    Invalid = 4,
    /// Nobody answers there.
    Unreachable = 5,
    /// The caller is not known, or may not.
    Auth = 6,
}

impl From<Class> for Exit {
    fn from(class: Class) -> Self {
        match class {
            Class::Invalid | Class::Unprocessable | Class::TooLarge | Class::MediaType => {
                Self::Invalid
            }
            Class::Unauthenticated | Class::Refused => Self::Auth,
            Class::Missing => Self::Missing,
            Class::Timeout => Self::Unreachable,
            Class::Conflict | Class::TooMany | Class::Internal | Class::Unavailable => Self::Error,
        }
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure(Box<Parts>);

/// The code of a command line that is not one.
const USAGE: &str = "USAGE";

#[derive(Debug)]
struct Parts {
    exit: Exit,
    envelope: Object,
    causes: Vec<String>,
    excerpt: Option<String>,
    /// Whoever read the output has gone, which is no failure.
    reader_gone: bool,
}

impl Failure {
    /// Returns a failure of the command's own, with a code of its own.
    pub(crate) fn new(exit: Exit, code: &str, message: impl Into<String>) -> Self {
        let kind = match exit {
            Exit::Error => "internal_error",
            Exit::Missing => "not_found_error",
            Exit::Unreachable => "unavailable_error",
            Exit::Auth => "authentication_error",
            Exit::Usage | Exit::Invalid => "invalid_request_error",
        };
        let envelope = object! {
            "code": code,
            "error": code,
            "message": message.into(),
            "object": "error",
            "type": kind,
        };
        Self::of(exit, envelope)
    }

    fn of(exit: Exit, envelope: Object) -> Self {
        let (causes, excerpt) = (Vec::new(), None);
        Self(Box::new(Parts { exit, envelope, causes, excerpt, reader_gone: false }))
    }

    /// Returns the failure of a command line that is not one.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, USAGE, message)
    }

    /// Returns the failure of a server that does not answer.
    pub(crate) fn unreachable(message: impl Into<String>) -> Self {
        Self::new(Exit::Unreachable, "NOT_REACHABLE", message)
    }

    /// Returns the failure of something that is not there.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(Exit::Missing, Code::NotFound.as_str(), message)
    }

    /// Returns the failure of something that cannot be done to what is there.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Exit::Invalid, Code::InvalidBody.as_str(), message)
    }

    /// Returns the failure of something on this machine that the command needs.
    pub(crate) fn local(message: impl Into<String>, cause: &dyn std::error::Error) -> Self {
        Self::new(Exit::Error, Code::Internal.as_str(), message).with_causes(Some(cause))
    }

    /// Returns the failure that an error of the library is to a person.
    pub(crate) fn coded(error: &impl Coded) -> Self {
        let mut envelope = spl::http::wire::error(error);
        // A server keeps its own failures to its log; here the reader is the owner.
        envelope.insert("message".into(), error.to_string().into());
        Self::of(error.code().class().into(), envelope).with_causes(error.source())
    }

    /// Returns the failure that an answer of a server tells of.
    pub(crate) fn sent(status: u16, body: Value) -> Self {
        let envelope = match body {
            Value::Object(envelope)
                if envelope.get("code").is_some_and(|c| c.as_str().is_some()) =>
            {
                envelope
            }
            _ => {
                let message = format!("the server answered with status {status} and no error code");
                return Self::new(exit_of_status(status), "UNKNOWN", message);
            }
        };
        let code = envelope.get("code").and_then(Value::as_str).unwrap_or_default();
        let known = Code::ALL.iter().find(|known| known.as_str() == code);
        let exit = match known {
            Some(known) => known.class().into(),
            // A server in the background that was started with a line that is none.
            None if code == USAGE => Exit::Usage,
            None => exit_of_status(status),
        };
        let causes = envelope.get("causes").and_then(Value::as_array).unwrap_or_default();
        let causes = causes.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let mut failure = Self::of(exit, envelope);
        failure.0.causes = causes;
        failure
    }

    /// Returns the same failure with one sentence on what to do next.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.envelope.insert("hint".into(), Value::String(hint.into()));
        self
    }

    /// Returns the same failure with the lines that show where in an expression it is, if it says
    /// where: a failure of something else shows nothing.
    pub(crate) fn pointing_into(mut self, expression: &str) -> Self {
        let column = self.0.envelope.get("column").and_then(Value::as_u64);
        let column = column.and_then(|column| usize::try_from(column).ok());
        self.0.excerpt = column.map(|column| around(expression, column));
        self
    }

    fn with_causes(mut self, mut cause: Option<&dyn std::error::Error>) -> Self {
        while let Some(error) = cause {
            self.0.causes.push(error.to_string());
            cause = error.source();
        }
        if !self.0.causes.is_empty() {
            self.0.envelope.insert("causes".into(), self.0.causes.clone().into());
        }
        self
    }

    /// Returns how the process ends.
    pub(crate) fn exit(&self) -> u8 {
        if self.0.reader_gone { 0 } else { self.0.exit as u8 }
    }

    /// Returns whether nobody answered.
    pub(crate) fn is_unreachable(&self) -> bool {
        self.0.exit == Exit::Unreachable
    }

    /// Returns whether there is nobody left to tell.
    pub(crate) const fn is_silent(&self) -> bool {
        self.0.reader_gone
    }

    /// Returns whether another record has the thread, actor and clock of this one.
    pub(crate) fn is_duplicate_clock(&self) -> bool {
        self.code() == Code::IngestFailed.as_str() && self.message().contains("DuplicateClock")
    }

    /// Returns the code.
    pub(crate) fn code(&self) -> &str {
        self.text("code")
    }

    /// Returns the sentence.
    pub(crate) fn message(&self) -> &str {
        self.text("message")
    }

    /// Returns what to do next, if that is known.
    pub(crate) fn hint(&self) -> Option<&str> {
        self.0.envelope.get("hint").and_then(Value::as_str)
    }

    /// Returns what led to it, nearest first.
    pub(crate) fn causes(&self) -> &[String] {
        &self.0.causes
    }

    /// Returns the lines that show where it is.
    pub(crate) fn excerpt(&self) -> Option<&str> {
        self.0.excerpt.as_deref()
    }

    /// Returns the envelope, as a server would send it.
    pub(crate) const fn envelope(&self) -> &Object {
        &self.0.envelope
    }

    fn text(&self, key: &str) -> &str {
        self.0.envelope.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// For a code that this version does not know.
const fn exit_of_status(status: u16) -> Exit {
    match status {
        401 | 403 => Exit::Auth,
        404 | 410 => Exit::Missing,
        400..=499 => Exit::Invalid,
        502..=504 => Exit::Unreachable,
        _ => Exit::Error,
    }
}

/// A failure to write output. A reader who has left has seen what they wanted.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let mut failure = Self::local("the output could not be written", &error);
        failure.0.reader_gone = error.kind() == io::ErrorKind::BrokenPipe;
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statuses are public: a diff here is a change to the contract.
    #[test]
    fn each_code_has_its_exit_status() {
        let table: Vec<String> = Code::ALL
            .iter()
            .map(|code| format!("{} {code}", Exit::from(code.class()) as u8))
            .collect();
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn an_unknown_code_goes_by_its_status() {
        let of = |status| {
            Failure::sent(status, object! { "code": "NEWER", "message": "m" }.into()).exit()
        };
        assert_eq!([of(400), of(403), of(404), of(503), of(500)], [4, 6, 3, 5, 1]);
    }

    #[test]
    fn a_reader_who_has_left_is_no_failure() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((failure.exit(), failure.is_silent()), (0, true));
        let failure = Failure::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!((failure.exit(), failure.is_silent()), (1, false));
    }
}
