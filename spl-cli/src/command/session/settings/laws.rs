//! Laws of the changes: over the files of `fixtures/install`, and over texts that are generated.

use std::fs;
use std::path::Path;

use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions};
use proptest::prelude::*;

use super::super::command_line::CommandLines;
use super::super::harness::{Event, Harness};
use super::{Document, Fault, Syntax, entries, install, uninstall};

const COMMAND: &str = "'/usr/bin/spl' session hook --harness claude --env SYNCROPEL_HOME='/h'";
const DECIDING: &str = "'/usr/bin/spl' session hook --harness claude --policy --env A=''";

fn commands() -> CommandLines {
    CommandLines { recording: COMMAND.into(), deciding: DECIDING.into() }
}

/// The files below a folder of the fixtures, with their names.
fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/install").join(folder);
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(path).expect("text"))
        })
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn installed(text: &str, harness: Harness) -> Result<Option<String>, Fault> {
    install(&Document::parse(text, Syntax::ANY)?, &harness.events(false), &commands())
}

fn deciding(text: &str, harness: Harness) -> Result<Option<String>, Fault> {
    install(&Document::parse(text, Syntax::ANY)?, &harness.events(true), &commands())
}

/// What fits into a snapshot.
fn two_events(text: &str) -> Option<String> {
    let document = Document::parse(text, Syntax::ANY).expect("it parses");
    let event = |name| Event { name, timeout: 10, decides: false };
    let line = || "/spl session hook".to_owned();
    let commands = CommandLines { recording: line(), deciding: line() };
    install(&document, &[event("AfterTool"), event("Stop")], &commands).expect("hooks")
}

fn uninstalled(text: &str, before: Option<&str>) -> Option<String> {
    let document = Document::parse(text, Syntax::ANY).expect("it parses");
    let before = before.map(|before| Document::parse(before, Syntax::ANY).expect("it parses"));
    uninstall(&document, before.as_ref(), &|_, _| true).expect("hooks")
}

/// What a program reads in a text. A file that is empty is as good as an empty object.
fn meaning(text: &str) -> jsonc_parser::JsonValue<'_> {
    let text = text.trim_start_matches('\u{feff}');
    let value = jsonc_parser::parse_to_value(text, &ParseOptions::default()).expect("it parses");
    value.unwrap_or(jsonc_parser::JsonValue::Object(jsonc_parser::JsonObject::with_capacity(0)))
}

/// The comments of a text, in their order.
fn comments(text: &str) -> Vec<String> {
    let text = text.trim_start_matches('\u{feff}');
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed = jsonc_parser::parse_to_ast(text, &collect, &ParseOptions::default());
    let tokens = parsed.expect("it parses").tokens.expect("tokens");
    let comment = |token: &jsonc_parser::tokens::Token<'_>| match token {
        jsonc_parser::tokens::Token::CommentLine(text)
        | jsonc_parser::tokens::Token::CommentBlock(text) => Some((*text).to_owned()),
        _ => None,
    };
    tokens.iter().filter_map(|token| comment(&token.token)).collect()
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut whole = whole.bytes();
    part.bytes().all(|byte| whole.any(|other| other == byte))
}

/// What holds of every text without hooks of ours that a harness reads.
fn laws(name: &str, text: &str, harness: Harness) {
    let new = installed(text, harness).expect(name).expect(name);
    let document = Document::parse(&new, Syntax::ANY).expect(name);
    let found = entries(&document).expect(name);
    let mut events: Vec<&str> = found.iter().map(|entry| entry.event.as_str()).collect();
    let mut wanted: Vec<&str> = harness.events(false).iter().map(|event| event.name).collect();
    events.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(events, wanted, "{name}: each event has one hook");
    assert!(found.iter().all(|entry| entry.command == COMMAND), "{name}");
    assert!(is_subsequence(text, &new), "{name}: a byte is lost\n{new}");
    assert_eq!(installed(&new, harness).expect(name), None, "{name}: twice is once");
    assert_eq!(comments(&new), comments(text), "{name}: a comment is lost\n{new}");
    let crlf = |text: &str| text.matches("\r\n").count();
    if text.contains('\n') && crlf(text) == text.matches('\n').count() {
        assert_eq!(crlf(&new), new.matches('\n').count(), "{name}: the line ends differ");
    }

    for start in [text, new.as_str()] {
        decides(name, start, text, harness);
    }

    let old = uninstalled(&new, Some(text)).expect(name);
    assert_eq!(meaning(&old), meaning(text), "{name}: it means something else\n{new}\n{old}");
    assert_eq!(comments(&old), comments(text), "{name}: a comment is lost\n{old}");
    assert_eq!(uninstalled(&old, None), None, "{name}");
    let bare = uninstalled(&new, None).expect(name);
    assert_eq!(comments(&bare), comments(text), "{name}: a comment is lost\n{bare}");
}

/// What holds where policy hooks decide from now on: in a file without hooks of ours, and in one that
/// has them.
fn decides(name: &str, start: &str, before: &str, harness: Harness) {
    let new = deciding(start, harness).expect(name).expect(name);
    for event in harness.events(true) {
        let hook = last_hook(&new, event.name).expect(name);
        let command = if event.decides { DECIDING } else { COMMAND };
        assert_eq!(
            hook.get_string("command").map(|it| it.as_ref()),
            Some(command),
            "{name}\n{new}"
        );
        let timeout = hook.get_number("timeout").and_then(|it| it.parse().ok());
        assert_eq!(timeout, Some(event.timeout), "{name}\n{new}");
    }
    let found = entries(&Document::parse(&new, Syntax::ANY).expect(name)).expect(name);
    assert_eq!(found.len(), harness.events(true).len(), "{name}: each event has one hook");
    assert_eq!(deciding(&new, harness).expect(name), None, "{name}: twice is once");
    let old = uninstalled(&new, Some(before)).expect(name);
    assert_eq!(meaning(&old), meaning(before), "{name}: it means something else\n{new}\n{old}");
}

/// The hook that stands last in an event.
fn last_hook<'t>(text: &'t str, event: &str) -> Option<jsonc_parser::JsonObject<'t>> {
    let jsonc_parser::JsonValue::Object(root) = meaning(text) else { return None };
    let groups = root.get_object("hooks")?.get_array(event)?;
    let group = groups.iter().last()?;
    let jsonc_parser::JsonValue::Object(group) = group else { return None };
    match group.get_array("hooks")?.iter().last()? {
        jsonc_parser::JsonValue::Object(hook) => Some(hook.clone()),
        _ => None,
    }
}

/// The formats that have hooks in settings. The events of one are foreign to the others.
const JSON: [Harness; 4] = [Harness::Claude, Harness::Codex, Harness::Gemini, Harness::Qwen];

#[test]
fn the_laws_hold_of_every_file() {
    for (name, text) in files("settings") {
        for harness in JSON {
            laws(&name, &text, harness);
        }
    }
}

/// A comment behind what was taken out became part of the one before it.
#[test]
fn two_comments_stay_two() {
    let text = "{\"hooks\":{\"Stop\":[], // one\n\"SessionEnd\"\n:[] // two\n,\n}}";
    laws("two comments", text, Harness::Claude);
}

/// Where nothing was written in an odd way, taking our entries out gives the bytes back.
#[test]
fn taking_entries_out_is_the_way_back() {
    // What was empty is written anew.
    const REWRITTEN: [&str; 7] = [
        "blank.json",
        "comments-alone.json",
        "empty-object-lines.json",
        "empty-object-space.json",
        "empty.json",
        "events-empty.json",
        "mark-alone.json",
    ];
    let mut differing = Vec::new();
    for (name, text) in files("settings") {
        let new = installed(&text, Harness::Claude).expect("installed").expect("changed");
        if uninstalled(&new, Some(&text)).expect("changed") != text {
            differing.push(name);
        }
    }
    assert_eq!(differing, REWRITTEN);
}

#[test]
fn a_file_looks_as_if_its_owner_had_written_it() {
    let mut shown = String::new();
    for (name, text) in files("settings").into_iter().filter(|(_, text)| text.len() < 1500) {
        let new = two_events(&text).expect("changed");
        shown.push_str(&format!(
            "── {name}\n{}\n",
            new.escape_debug().to_string().replace("\\n", "\n")
        ));
    }
    insta::assert_snapshot!(shown.replace("\\\"", "\"").replace("\\'", "'"));
}

#[test]
fn hooks_of_ours_are_brought_up_to_date_in_their_place() {
    let mut shown = String::new();
    for (name, text) in files("ours") {
        let new = two_events(&text).expect("changed");
        assert_eq!(two_events(&new), None, "{name}");
        let old = uninstalled(&new, None).expect("changed");
        shown.push_str(&format!("── {name}\n{new}\n── without ours\n{old}\n"));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn two_megabytes_are_read_at_once() {
    let entry =
        |n: usize| format!("  \"key {n}\": [\"{}\", {{ \"a\": null }}], // {n}\n", "x".repeat(64));
    let text = format!("{{\n{}  \"last\": 1\n}}\n", (0..20_000).map(entry).collect::<String>());
    assert!(text.len() > 2_000_000);
    laws("2 MB", &text, Harness::Claude);
}

/// Writes a text from a tape of bytes: each decides one thing. Without bytes left, it ends soon.
struct Writer<'t> {
    tape: std::slice::Iter<'t, u8>,
    out: String,
}

impl Writer<'_> {
    fn choose(&mut self, among: u8) -> u8 {
        self.tape.next().map_or(0, |byte| byte % among)
    }

    fn space(&mut self) {
        match self.choose(12) {
            1 => self.out.push(' '),
            2 => self.out.push_str("\n\t"),
            3 => self.out.push_str("\r\n  "),
            4 => self.out.push_str(" // a \" { , comment\n"),
            5 => self.out.push_str("/* , ] */"),
            6 => self.out.push_str("\n    "),
            _ => {}
        }
    }

    fn members(&mut self, ends: [char; 2], level: u8, mut member: impl FnMut(&mut Self, u8)) {
        let [open, close] = ends;
        self.out.push(open);
        self.space();
        let count = if level > 4 { 0 } else { self.choose(4) };
        for at in 0..count {
            if at > 0 {
                self.out.push(',');
                self.space();
            }
            member(self, at);
            self.space();
        }
        if count > 0 && self.choose(5) == 1 {
            self.out.push(',');
            self.space();
        }
        self.out.push(close);
    }

    fn value(&mut self, level: u8) {
        match self.choose(7) {
            1 => self.out.push_str("\"te\\\"xt 🦄 // no\""),
            2 => self.out.push_str("-1.5e3"),
            3 => self.members(['[', ']'], level, |writer, _| writer.value(level + 1)),
            4 | 5 => self.members(['{', '}'], level, |writer, at| {
                writer.key(&format!("key {at}"));
                writer.value(level + 1);
            }),
            6 => self.out.push_str("true"),
            _ => self.out.push_str("null"),
        }
    }

    fn key(&mut self, key: &str) {
        self.out.push_str(&format!("\"{key}\""));
        self.space();
        self.out.push(':');
        self.space();
    }

    fn hooks(&mut self) {
        const EVENTS: [&str; 4] = ["PostToolUse", "Stop", "SessionEnd", "Other"];
        self.members(['{', '}'], 0, |writer, at| {
            writer.key(EVENTS[usize::from(at)]);
            writer.members(['[', ']'], 1, |writer, _| {
                if writer.choose(3) == 0 {
                    return writer.value(2);
                }
                writer.members(['{', '}'], 2, |writer, at| match at {
                    0 => {
                        writer.key("hooks");
                        writer.members(['[', ']'], 3, |writer, _| {
                            writer.out.push_str(r#"{"type":"command","command":"bell"}"#);
                        });
                    }
                    at => {
                        writer.key(&format!("matcher {at}"));
                        writer.value(4);
                    }
                });
            });
        });
    }

    fn file(mut self) -> String {
        if self.choose(8) == 1 {
            self.out.push('\u{feff}');
        }
        self.space();
        if self.choose(16) == 1 {
            return self.out;
        }
        let hooks = self.choose(4);
        self.members(['{', '}'], 0, |writer, at| {
            if at == hooks {
                writer.key("hooks");
                writer.hooks();
            } else {
                writer.key(&format!("setting {at}"));
                writer.value(0);
            }
        });
        self.space();
        self.out
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_laws_hold_of_any_file(tape in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = Writer { tape: tape.iter(), out: String::new() }.file();
        laws(&text, &text, Harness::Claude);
    }

    /// A person goes on writing after the hooks are in: what they have written stays.
    #[test]
    fn what_is_written_later_stays(tape in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = Writer { tape: tape.iter(), out: String::new() }.file();
        let codex = installed(&text, Harness::Codex).expect("installed").expect("changed");
        let gemini = codex.replacen("session hook", "session hooked", usize::MAX);
        let both = installed(&gemini, Harness::Gemini).expect("installed").expect("changed");
        let old = uninstalled(&both, Some(&gemini)).expect("changed");
        prop_assert_eq!(meaning(&old), meaning(&gemini));
    }
}
