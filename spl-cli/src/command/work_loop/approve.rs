//! Asking whoever sits at the terminal whether a call is made (`--approve ask`).
//!
//! What only looks is not asked about, unless it looks at a file that usually holds a secret. Where
//! nobody can be asked, the answer is no.

use std::collections::BTreeSet;

use spl::canon::Value;
use spl::model::CallRequest;
use spl::run::{Approval, Approver};
use spl::secret::mask_value;

use super::typist::Typist;
use crate::output::{self, cut, printable};

/// Who says whether a call is made that nothing forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Approve {
    // Nobody is asked.
    Auto,
    // Whoever sits at the terminal; where nobody does, the call is not made.
    Ask,
}

/// The tools that only look, that ask somebody themselves, or that write into the records of the run
/// and nowhere else.
const LOOKING: [&str; 9] = [
    "list_dir",
    "query_thread",
    "read_file",
    "read_record",
    "record_note",
    "report_blocked",
    "request_decision",
    "search",
    "search_records",
];

/// Files that usually hold a secret (contract-polyglot §11). A `*` is anything.
const SECRET_FILES: [&str; 19] = [
    ".env",
    ".env.*",
    "*.pem",
    "*.pfx",
    "*.p12",
    "*.key",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".npmrc",
    ".pypirc",
    ".netrc",
    ".pgpass",
    ".htpasswd",
    "*.keystore",
    "*.jks",
    "credentials",
    "credentials.json",
];

/// Folders in which every file does.
const SECRET_FOLDERS: [&str; 5] = [".ssh", ".aws", ".gnupg", ".gpg", "secrets"];

/// The most characters of a call that is shown: what is approved is to be seen.
const COLUMNS: usize = 2000;

/// Whoever approves at the terminal.
pub(crate) struct ByTypist<'a> {
    typist: &'a Typist,
    /// The tools that need no more approval in this run.
    always: BTreeSet<String>,
}

impl<'a> ByTypist<'a> {
    /// Returns whoever approves at this terminal.
    pub(crate) const fn new(typist: &'a Typist) -> Self {
        Self { typist, always: BTreeSet::new() }
    }
}

impl Approver for ByTypist<'_> {
    fn approve(&mut self, request: &CallRequest) -> Approval {
        if self.always.contains(&request.name) || !needs_approval(request) {
            return Approval::Granted;
        }
        if !self.typist.is_there() {
            return Approval::Refused("nobody is there to approve it".into());
        }
        output::note(&question(request));
        loop {
            output::note("  y yes, n [WHY] no, always for every call of this tool");
            let Some(line) = self.typist.line() else {
                return Approval::Refused("it was not approved".into());
            };
            match typed(&line) {
                Some(Typed::Yes) => return Approval::Granted,
                Some(Typed::Always) => {
                    self.always.insert(request.name.clone());
                    return Approval::Granted;
                }
                Some(Typed::No(None)) => return Approval::Refused("the operator said no".into()),
                Some(Typed::No(Some(why))) => {
                    return Approval::Refused(format!("the operator said no: {why}"));
                }
                None => {}
            }
        }
    }
}

fn needs_approval(request: &CallRequest) -> bool {
    if !LOOKING.contains(&request.name.as_str()) {
        return true;
    }
    let path = request.args.get("path").and_then(Value::as_str);
    path.is_some_and(is_secret)
}

/// Returns whether a file usually holds a secret, by its name and the folders above it.
fn is_secret(path: &str) -> bool {
    let mut steps = path.rsplit('/').filter(|step| !step.is_empty());
    let name = steps.next().unwrap_or_default();
    SECRET_FOLDERS.iter().any(|folder| path.split('/').any(|at| at == *folder))
        || SECRET_FILES.iter().any(|pattern| matches(pattern, name))
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            name.len() >= pattern.len() - 1 && name.starts_with(start) && name.ends_with(end)
        }
        None => name == pattern,
    }
}

/// Returns a call as it is asked about: in one line, without the secrets in it.
fn question(request: &CallRequest) -> String {
    let args = mask_value(&Value::from(request.args.clone())).to_string();
    format!("the run calls {} {}", printable(&request.name), cut(&args, COLUMNS))
}

/// What a line means.
#[derive(Debug, PartialEq, Eq)]
enum Typed {
    Yes,
    Always,
    No(Option<String>),
}

fn typed(line: &str) -> Option<Typed> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty()).map(str::to_owned);
    match (word.to_ascii_lowercase().as_str(), rest) {
        ("y" | "yes", None) => Some(Typed::Yes),
        ("a" | "always", None) => Some(Typed::Always),
        ("n" | "no", why) => Some(Typed::No(why)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spl::canon::Object;
    use spl::object;

    fn call(tool: &str, args: Object) -> CallRequest {
        CallRequest { id: "c1".into(), name: tool.into(), args, malformed: None }
    }

    #[test]
    fn what_only_looks_is_not_asked_about() {
        let asked = |tool: &str, path: &str| needs_approval(&call(tool, object! { "path": path }));
        for tool in ["bash", "write_file", "task", "mcp__ci__run", "record"] {
            assert!(asked(tool, "README.md"), "{tool}");
        }
        for path in ["README.md", "src/env.rs", "a.pemx", "key", "src/credentials.rs", "."] {
            assert!(!asked("read_file", path), "{path}");
        }
        for path in [
            ".env",
            "a/.env.local",
            "server.pem",
            "/srv/a.key",
            ".ssh/config",
            "x/secrets/y/z.txt",
            "secrets",
            "id_ed25519",
        ] {
            assert!(asked("read_file", path), "{path}");
        }
        assert!(!needs_approval(&call("query_thread", object! { "thread": "th_1" })));
    }

    #[test]
    fn a_line_is_an_answer_or_is_asked_again() {
        assert_eq!(typed(" y "), Some(Typed::Yes));
        assert_eq!(typed("ALWAYS"), Some(Typed::Always));
        assert_eq!(typed("n"), Some(Typed::No(None)));
        assert_eq!(typed("no not now"), Some(Typed::No(Some("not now".into()))));
        for unclear in ["", "yes please", "maybe", "1"] {
            assert_eq!(typed(unclear), None, "{unclear}");
        }
    }

    #[test]
    fn a_call_is_shown_in_one_line() {
        let shown = question(&call("bash", object! { "command": "echo \u{1b}[2J\nls" }));
        assert!(!shown.contains('\u{1b}') && !shown.contains('\n'), "{shown}");
        let shown = question(&call("bash", object! { "command": "password=hunter2hunter2 x" }));
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn where_nobody_is_there_the_answer_is_no() {
        let typist = Typist::new(true);
        let mut approver = ByTypist::new(&typist);
        let bash = call("bash", object! { "command": "ls" });
        let refused = Approval::Refused("nobody is there to approve it".into());
        assert_eq!(approver.approve(&bash), refused);
        let look = call("list_dir", object! { "path": "." });
        assert_eq!(approver.approve(&look), Approval::Granted);
        approver.always.insert("bash".into());
        assert_eq!(approver.approve(&bash), Approval::Granted);
    }
}
