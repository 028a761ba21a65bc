//! Files that a goal names: `@path`, a word of its own.
//!
//! The goal itself stays as it was typed. What it names follows behind it, so the words of whoever
//! typed it, and what hooks add to them, stand before anything that comes from a file.

use spl::run::RunSpec;
use spl::tool::{NoText, Workspace};

use crate::failure::Failure;
use crate::output::{self, printable};

/// The most bytes of one file.
const MOST_OF_ONE: usize = 256 * 1024;

/// The most bytes of all files together.
const MOST: usize = 1024 * 1024;

/// What may stand behind the name of a file in a sentence.
const PUNCTUATION: [char; 7] = ['.', ',', ';', ':', '!', '?', ')'];

/// The files that a goal names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Attached(Vec<(String, String)>);

impl Attached {
    /// Reads what a goal names. A word that names no file of the workspace stays a word.
    pub(super) fn of(goal: &str, workspace: &Workspace) -> Result<Self, Failure> {
        let mut attached = Self::default();
        for word in goal.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
            attached.take(word, workspace)?;
        }
        Ok(attached)
    }

    /// Reads the file that a word names, as it stands or without what ends a sentence behind it.
    fn take(&mut self, word: &str, workspace: &Workspace) -> Result<(), Failure> {
        let bare = word.trim_end_matches(PUNCTUATION);
        let candidates = [Some(word), Some(bare).filter(|bare| *bare != word)];
        for path in candidates.into_iter().flatten().filter(|path| !path.is_empty()) {
            if self.0.iter().any(|(known, _)| known == path) {
                return Ok(());
            }
            match workspace.read_text(path, MOST_OF_ONE) {
                Ok(text) => return self.add(path, text),
                Err(NoText::NoFile(_)) => {}
                Err(NoText::Outside(why)) => {
                    output::warn(&printable(&format!("{why}; it is not read")));
                    return Ok(());
                }
                Err(refused) => return Err(unreadable(&refused.to_string())),
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &str, text: String) -> Result<(), Failure> {
        let so_far: usize = self.0.iter().map(|(_, text)| text.len()).sum();
        if so_far + text.len() > MOST {
            return Err(unreadable(&format!("the files of a goal have at most {MOST} bytes")));
        }
        self.0.push((path.to_owned(), text));
        Ok(())
    }

    /// Puts the files behind what the model reads as its goal.
    pub(super) fn to(&self, spec: RunSpec) -> RunSpec {
        if self.0.is_empty() {
            return spec;
        }
        let mut prompt = spec.prompt().to_owned();
        for (path, text) in &self.0 {
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            prompt.push_str(&format!("\n\n<file path=\"{path}\">\n{text}{end}</file>"));
        }
        RunSpec { prompt: Some(prompt), ..spec }
    }
}

fn unreadable(message: &str) -> Failure {
    Failure::usage(message).with_hint("Name a shorter one, or let the run read it.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use spl::record::{ActorId, ThreadId};

    fn house() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        write("a.txt", "one\n");
        write("b.txt", "two");
        write("empty", "");
        write("long", &"x".repeat(MOST_OF_ONE + 1));
        let workspace = Workspace::open(folder.path()).expect("opened");
        (folder, workspace)
    }

    fn prompt(goal: &str, said: Option<&str>) -> String {
        let (_folder, workspace) = house();
        let attached = Attached::of(goal, &workspace).expect("read");
        let thread = ThreadId::parse("th_1").expect("a thread");
        let actor = ActorId::parse("did:sync:agent:spl").expect("an actor");
        let spec = RunSpec::new(thread, actor, goal, "echo");
        let spec = attached.to(RunSpec { prompt: said.map(str::to_owned), ..spec });
        assert_eq!(spec.goal, goal);
        spec.prompt().to_owned()
    }

    #[test]
    fn a_file_stands_behind_the_goal() {
        insta::assert_snapshot!(prompt("compare @a.txt with @b.txt, then @a.txt @empty.", None), @r#"
        compare @a.txt with @b.txt, then @a.txt @empty.

        <file path="a.txt">
        one
        </file>

        <file path="b.txt">
        two
        </file>

        <file path="empty">
        </file>
        "#);
    }

    #[test]
    fn what_hooks_have_added_stands_before_it() {
        let said = "see @b.txt\n\n<context>\nC\n</context>";
        assert_eq!(
            prompt("see @b.txt", Some(said)),
            format!("{said}\n\n<file path=\"b.txt\">\ntwo\n</file>")
        );
    }

    #[test]
    fn a_word_that_names_no_file_stays_a_word() {
        for goal in
            ["ask @vera", "mail vera@a.txt", "@", "@.", "@missing.txt", "@../a.txt", "a.txt"]
        {
            assert_eq!(prompt(goal, None), goal);
        }
    }

    #[test]
    fn what_is_too_long_is_refused() {
        let (folder, workspace) = house();
        let refused = Attached::of("read @long", &workspace).expect_err("too long");
        assert_eq!(refused.message(), "`long` is longer than 262144 bytes");
        for n in 0..5 {
            let path = folder.path().join(format!("n{n}"));
            std::fs::write(path, "y".repeat(MOST_OF_ONE)).expect("written");
        }
        assert!(Attached::of("@n0 @n1 @n2 @n3", &workspace).is_ok());
        let refused = Attached::of("@n0 @n1 @n2 @n3 @n4", &workspace).expect_err("too long");
        assert_eq!(refused.message(), "the files of a goal have at most 1048576 bytes");
    }
}
