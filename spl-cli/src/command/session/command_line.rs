//! The command line that stands in the settings of a harness.
//!
//! It is the same in every version: a harness that asks a person to accept a command asks again
//! over each byte that changes. So it names no version, and it is quoted in one way.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use spl::record::Namespace;

use super::harness::{Event, Harness};
use crate::failure::Failure;

/// The variable that says where the instance is.
pub(super) const HOME: &str = "SYNCROPEL_HOME";

/// What a command line is made of.
pub(super) struct CommandLine<'a> {
    /// The program.
    pub(super) program: &'a str,
    /// Who starts it.
    pub(super) harness: Harness,
    /// Where the instance is.
    pub(super) home: &'a str,
    /// The namespace of the sessions.
    pub(super) namespace: Option<&'a Namespace>,
    /// More variables.
    pub(super) variables: &'a [(String, String)],
}

/// The lines for the events of a harness.
pub(super) struct CommandLines {
    /// What is started for an event.
    pub(super) recording: String,
    /// What is started for one that policy hooks decide about.
    pub(super) deciding: String,
}

impl CommandLines {
    /// Returns the line for an event.
    pub(super) fn of(&self, event: &Event) -> &str {
        if event.decides { &self.deciding } else { &self.recording }
    }
}

/// What a line has that asks policy hooks.
const POLICY: &str = "--policy";

impl CommandLine<'_> {
    /// Returns the lines, for a shell.
    pub(super) fn write(&self) -> CommandLines {
        CommandLines { recording: self.line(""), deciding: self.line(&format!(" {POLICY}")) }
    }

    fn line(&self, option: &str) -> String {
        let mut line = format!(
            "{} session hook --harness {}{option} --env {HOME}={}",
            quoted(self.program),
            self.harness.name(),
            quoted(self.home),
        );
        if let Some(namespace) = self.namespace {
            line.push_str(&format!(" --namespace {}", quoted(namespace.as_str())));
        }
        for (key, value) in self.variables {
            line.push_str(&format!(" --env {key}={}", quoted(value)));
        }
        line
    }
}

/// Returns a word in single quotes, whatever it holds: nothing inside means anything to a shell.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Reads `KEY=VALUE`.
pub(super) fn variable(given: &str) -> Result<(String, String), String> {
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
    let holds = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match given.split_once('=') {
        Some((key, _)) if !key.starts_with(starts) || !key.chars().all(holds) => {
            Err(format!("`{key}` is not the name of a variable"))
        }
        Some((_, value)) if value.contains('\0') => Err("a value holds no NUL".into()),
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err("it must be KEY=VALUE".into()),
    }
}

/// Returns whether a command of a settings file is one of ours: of whichever version, at whichever
/// place its program was then.
pub(super) fn is_ours(command: &str) -> bool {
    let Some(words) = words(command) else { return false };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [program, "session", "hook", rest @ ..] => {
            rest.first() == Some(&"--harness") || Path::new(program).ends_with("spl")
        }
        _ => false,
    }
}

/// Returns whether a command of ours asks policy hooks.
pub(super) fn decides(command: &str) -> bool {
    words(command).is_some_and(|words| words.iter().any(|word| word == POLICY))
}

/// Returns a command of ours without what asks policy hooks.
pub(super) fn without_policy(command: &str) -> String {
    command.replacen(&format!(" {POLICY}"), "", 1)
}

/// Returns the program that a command of ours starts.
pub(super) fn program_of(command: &str) -> Option<PathBuf> {
    words(command)?.into_iter().next().map(PathBuf::from)
}

/// Returns the home that a command of ours names.
pub(super) fn home_of(command: &str) -> Option<PathBuf> {
    let words = words(command)?;
    let homes = words.windows(2).filter(|pair| pair.first().is_some_and(|word| word == "--env"));
    let mut homes = homes.filter_map(|pair| pair.get(1)?.strip_prefix(HOME)?.strip_prefix('='));
    homes.next_back().filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Returns the words of a line as a shell would, if it is made of nothing but plain and quoted
/// words. What uses more of a shell is somebody's own.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut chars = line.trim().chars().peekable();
    while chars.peek().is_some() {
        let mut word = String::new();
        while let Some(c) = chars.next() {
            match c {
                ' ' | '\t' => break,
                '\'' => loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                },
                '"' => loop {
                    match chars.next()? {
                        '"' => break,
                        '$' | '`' => return None,
                        '\\' if matches!(chars.peek(), Some('"' | '\\' | '$' | '`')) => {
                            word.extend(chars.next());
                        }
                        c => word.push(c),
                    }
                },
                '\\' => word.push(chars.next()?),
                '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '\n' => return None,
                c => word.push(c),
            }
        }
        words.push(word);
        while matches!(chars.peek(), Some(' ' | '\t')) {
            chars.next();
        }
    }
    Some(words)
}

/// The program that the hooks start, and what a person should know about it.
pub(super) struct Program {
    /// Its path.
    pub(super) path: String,
    /// Why it may not be what they expect.
    pub(super) note: Option<String>,
}

impl Program {
    /// Finds `spl`: the one on `PATH`, by the name that it has there, which stays when the program
    /// behind it is replaced. If that is another program, this one.
    pub(super) fn find() -> Result<Self, Failure> {
        let this = env::current_exe()
            .map_err(|error| Failure::local("this program's own path is not known", &error))?;
        let first = env::var_os("PATH").into_iter().flat_map(|path| {
            // A folder that is named from here is another one elsewhere.
            env::split_paths(&path).filter(|folder| folder.is_absolute()).collect::<Vec<_>>()
        });
        let found = first.map(|folder| folder.join("spl")).find(|path| is_program(path));
        let same = |path: &Path| fs::canonicalize(path).ok() == fs::canonicalize(&this).ok();
        let (path, note) = match found {
            Some(found) if same(&found) => (found, None),
            Some(other) => {
                let other = other.display().to_string();
                let this = this.display().to_string();
                let note =
                    format!("`spl` on PATH is {other}; the hooks start this program, {this}");
                (PathBuf::from(this), Some(note))
            }
            None => {
                let note = format!("`spl` is not on PATH; the hooks start {}", this.display());
                (this, Some(note))
            }
        };
        let note = note.or_else(|| {
            let named = path.iter().filter_map(|part| part.to_str()).find(|part| is_version(part));
            named.map(|part| {
                let path = path.display();
                format!(
                    "{path} names the version {part}: an upgrade that removes it ends the hooks"
                )
            })
        });
        match path.into_os_string().into_string() {
            Ok(path) => Ok(Self { path, note }),
            Err(path) => Err(not_text("the program", Path::new(&path))),
        }
    }
}

/// The failure of a path that cannot stand in a settings file, which is text.
pub(super) fn not_text(what: &str, path: &Path) -> Failure {
    Failure::usage(format!("the path of {what}, `{}`, is not UTF-8", path.display()))
        .with_hint("Put it elsewhere: a settings file is text.")
}

/// Returns whether there is a file that the user may start.
pub(super) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Returns whether a part of a path is a version such as `1.2.3` or `v0.4`, or ends in one.
fn is_version(part: &str) -> bool {
    let last = part.rsplit(['-', '@', '_']).next().unwrap_or(part);
    let number = last.strip_prefix('v').unwrap_or(last);
    let mut parts = number.split('.');
    number.contains('.') && parts.all(|part| part.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(program: &str, home: &str) -> String {
        CommandLine { program, harness: Harness::Codex, home, namespace: None, variables: &[] }
            .write()
            .recording
    }

    #[test]
    fn the_line_is_the_same_in_every_version() {
        assert_eq!(
            line("/usr/bin/spl", "/home/vera/.syncro"),
            "'/usr/bin/spl' session hook --harness codex --env SYNCROPEL_HOME='/home/vera/.syncro'",
        );
        let namespace = Namespace::parse("default/shop").expect("a namespace");
        let variables = [variable("A=b c").expect("a pair"), variable("E=").expect("a pair")];
        let more = CommandLine {
            program: "/a b/it's/spl",
            harness: Harness::Claude,
            home: "/h",
            namespace: Some(&namespace),
            variables: &variables,
        };
        let CommandLines { recording, deciding } = more.write();
        assert_eq!(
            recording,
            "'/a b/it'\\''s/spl' session hook --harness claude --env SYNCROPEL_HOME='/h' \
             --namespace 'default/shop' --env A='b c' --env E=''",
        );
        assert_eq!(
            deciding,
            "'/a b/it'\\''s/spl' session hook --harness claude --policy --env SYNCROPEL_HOME='/h' \
             --namespace 'default/shop' --env A='b c' --env E=''",
        );
        assert!(is_ours(&deciding) && decides(&deciding) && !decides(&recording));
        assert_eq!(without_policy(&deciding), recording);
    }

    #[test]
    fn our_own_commands_are_known_and_no_others() {
        for (command, ours) in [
            (line("/usr/bin/spl", "/h").as_str(), true),
            (line("/opt/spl-0.1.0/bin/spl", "/x y/it's").as_str(), true),
            (line("/src/target/debug/spl-next", "/h").as_str(), true),
            ("spl session hook", true),
            ("\"/a b/spl\" session hook --namespace default", true),
            ("/usr/bin/spl session hooks", false),
            ("/usr/bin/spl session list", false),
            ("echo spl session hook", false),
            ("other session hook", false),
            ("spl session hook --harness claude; notify-send done", false),
            ("spl session hook --harness claude | tee log", false),
            ("sh -c 'spl session hook'", false),
            ("'unclosed session hook", false),
            ("", false),
        ] {
            assert_eq!(is_ours(command), ours, "{command}");
        }
        assert_eq!(home_of(&line("/spl", "/a b/it's")), Some(PathBuf::from("/a b/it's")));
        assert_eq!(home_of("spl session hook --env A=b"), None);
        let program = program_of(&line("/a b/it's/spl", "/h"));
        assert_eq!(program, Some(PathBuf::from("/a b/it's/spl")));
    }

    #[test]
    fn a_variable_has_a_name() {
        assert_eq!(variable("A=b=c"), Ok(("A".into(), "b=c".into())));
        for wrong in ["A", "=b", "1A=b", "A B=c", "Ä=b", "A=\0"] {
            assert!(variable(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_version_in_a_path_is_seen() {
        for (part, version) in
            [("1.2.3", true), ("v0.4", true), ("spl-0.1.0", true), ("bin", false), ("3", false)]
        {
            assert_eq!(is_version(part), version, "{part}");
        }
    }
}
