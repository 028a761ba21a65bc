use std::path::PathBuf;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::policy::{Handler, Matcher, Scope, Seam, Source};

/// Answers in order, and keeps count.
struct Script<'a> {
    replies: &'a [Reply],
    asked: usize,
}

impl Handle for Script<'_> {
    fn ask(&mut self, hook: &PolicyHook, _: &Question<'_>) -> Ran {
        self.asked += 1;
        let source = hook.source.clone();
        let reply = self.replies[source.position].clone();
        Ran { source, command: String::new(), exit: None, took_ms: 0, reply }
    }
}

fn hook(seam: Seam, position: usize) -> PolicyHook {
    PolicyHook {
        seam,
        source: Source {
            path: PathBuf::from("settings.json"),
            scope: Scope::Global,
            event: "userPromptSubmit",
            position,
        },
        matcher: Matcher::default(),
        handler: Handler::Command(String::new()),
        timeout: Duration::from_secs(1),
    }
}

/// Asks hooks that answer like this about a prompt, and returns how many were asked.
fn asked(replies: &[Reply]) -> (Verdict, usize) {
    let hooks: Vec<PolicyHook> =
        (0..replies.len()).map(|position| hook(Seam::Prompt, position)).collect();
    let mut script = Script { replies, asked: 0 };
    let verdict = decide(&hooks, &Question::Prompt { text: "hi" }, &mut script);
    assert_eq!(verdict.ran.len(), script.asked);
    (verdict, script.asked)
}

fn says(words: &str) -> Reply {
    Reply::Proceed { context: Some(words.to_owned()) }
}

fn reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        Just(Reply::Proceed { context: None }),
        "[a-c]{1,3}".prop_map(|words| says(&words)),
        Just(Reply::Failed { how: "exit status 1".to_owned(), detail: "oops".to_owned() }),
    ]
}

fn block(reason: &str) -> Reply {
    Reply::Block { reason: reason.to_owned() }
}

#[test]
fn a_hook_of_another_seam_is_not_asked() {
    let hooks = [hook(Seam::Before, 0), hook(Seam::After, 0), hook(Seam::Stop, 0)];
    let mut script = Script { replies: &[block("no")], asked: 0 };
    let verdict = decide(&hooks, &Question::Prompt { text: "hi" }, &mut script);
    assert_eq!((verdict, script.asked), (Verdict::silent(), 0));
}

#[test]
fn words_that_are_too_many_are_cut_with_a_note() {
    let long = "é".repeat(CONTEXT_BYTES);
    let (verdict, _) = asked(&[says("a"), says(&long)]);
    let Decision::Proceed { context: Some(context) } = verdict.decision else {
        panic!("{verdict:?}")
    };
    let note = "\n[cut: 32771 bytes, of which 16384 are shown]";
    assert!(context.starts_with("a\n\né") && context.ends_with(note));
    assert!(context.len() <= CONTEXT_BYTES + note.len());
    let just = "a".repeat(CONTEXT_BYTES);
    let (verdict, _) = asked(&[says(&just)]);
    assert_eq!(verdict.decision, Decision::Proceed { context: Some(just) });
}

#[test]
fn whoever_is_cancelled_says_nothing() {
    let (verdict, count) = asked(&[says("a"), Reply::Cancelled, block("no")]);
    assert_eq!((verdict.decision, count), (Decision::Proceed { context: None }, 2));
}

proptest! {
    /// Hooks that are added after it, and hooks before it that do not block, never weaken a block.
    #[test]
    fn a_block_anywhere_is_a_block(
        before in vec(reply(), 0..5),
        after in vec(reply(), 0..5),
        more in any::<bool>(),
    ) {
        let mut replies = before.clone();
        replies.push(block("no"));
        replies.extend(after);
        if more {
            replies.push(block("another"));
        }
        let (verdict, count) = asked(&replies);
        prop_assert_eq!(verdict.block().map(|it| it.reason.as_str()), Some("no"));
        prop_assert_eq!(count, before.len() + 1);
    }

    #[test]
    fn words_stand_in_the_order_of_the_hooks_and_warnings_never_block(replies in vec(reply(), 0..8)) {
        let (verdict, count) = asked(&replies);
        prop_assert_eq!(count, replies.len());
        let failed = replies.iter().filter(|it| matches!(it, Reply::Failed { .. })).count();
        prop_assert_eq!(verdict.warnings().count(), failed);
        let words: Vec<&str> = replies
            .iter()
            .filter_map(|reply| match reply {
                Reply::Proceed { context } => context.as_deref(),
                _ => None,
            })
            .collect();
        let want = (!words.is_empty()).then(|| words.join("\n\n"));
        prop_assert_eq!(verdict.decision, Decision::Proceed { context: want });
    }
}
