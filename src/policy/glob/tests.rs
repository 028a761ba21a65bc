use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::canon::{Limits, Value, parse};

const TABLE: &str = include_str!("../../../fixtures/policy/polyglot/globs.json");

#[track_caller]
fn matches(pattern: &str, name: &str) -> bool {
    Glob::new(pattern).expect(pattern).matches(name)
}

#[test]
fn the_table() {
    let table = parse(TABLE.as_bytes(), Limits::STORED).expect("a fixture");
    let rows = table.as_array().expect("rows");
    assert!(rows.len() > 200);
    let mut wrong = Vec::new();
    for row in rows {
        let text = |key: &str| row.get(key).and_then(Value::as_str).expect(key);
        let want = row.get("matches").and_then(Value::as_bool).expect("matches");
        if matches(text("pattern"), text("name")) != want {
            wrong.push(format!("{:?} {:?} {want}", text("name"), text("pattern")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn in_a_text_slashes_and_dots_are_characters() {
    let text = |pattern: &str, name: &str| Glob::of_text(pattern).expect(pattern).matches(name);
    assert!(text("rm *", "rm -rf /a/.b") && text("*", ".a/b") && text("**", "a/b"));
    assert!(text("a/../b", "a/../b") && !text("a/../b", "b") && !text("a", "a/"));
    let path = |pattern: &str, name: &str| Glob::of_paths(pattern).expect(pattern).matches(name);
    assert!(
        path("*", ".a") && !path("*", "a/b") && path("**", "a/.b/c") && path("a/**/c", "a/.b/c")
    );
}

#[test]
fn what_stands_for_too_much_is_refused() {
    let ranges = "{1..100}".repeat(4);
    let doubles = "{a,b}".repeat(11);
    let nested = "@(".repeat(9) + &")".repeat(9);
    for pattern in [ranges.as_str(), &doubles, "{1..9999999999}", &nested] {
        assert_eq!(Glob::new(pattern), Err(GlobError::TooComplex), "{pattern}");
    }
    assert_eq!(Glob::new(&"a".repeat(1025)), Err(GlobError::TooLong));
}

/// Each of these would take a matcher that tries one way after another longer than anybody waits.
#[test]
fn time_is_bounded_whatever_the_pattern() {
    let name = "a".repeat(2000) + "b";
    for pattern in [
        "*a".repeat(200) + "c",
        "?(a)".repeat(200),
        "+(+(+(+(a))))c".to_owned(),
        "*(*(*(*(a|aa)|a)|a)|a)c".to_owned(),
        "+(a|a|a|a)+(a|a|a|a)+(a|a|a|a)c".to_owned(),
        "!(!(!(a*)*)*)c".to_owned(),
        "!(a)".repeat(60),
        "+(!(a)a)".repeat(6),
        "*(!(*(!(a)b)c)d)".to_owned(),
        "@(*a|*a|*a|*a|*b)".repeat(20),
    ] {
        let pieces = segment::read(&pattern).expect("pieces");
        let program = Program::compile(&pieces, true).expect("a program");
        let loops = 1 + pattern.matches(['*', '+']).count();
        let (_, steps) = program.run(&name);
        assert!(steps <= (name.len() + 1) * program.len() * loops, "{pattern}: {steps}");
    }
}

/// A name in which nothing means anything but itself.
fn plain() -> impl Strategy<Value = String> {
    "[a-z_][a-z0-9_-]{0,12}"
}

proptest! {
    #[test]
    fn a_plain_name_matches_itself_alone(name in plain(), other in plain()) {
        assert!(matches(&name, &name));
        prop_assert_eq!(matches(&name, &other), name == other);
        prop_assert_eq!(matches(&format!("!{name}"), &other), name != other);
        prop_assert_eq!(matches(&format!("!!{name}"), &other), name == other);
        prop_assert_eq!(matches(&format!("!({name})"), &other), name != other);
        assert!(!matches(&format!("#{name}"), &name));
    }

    #[test]
    fn what_is_added_to_a_name_is_what_a_star_stands_for(
        name in plain(),
        before in "[a-z]{0,4}",
        after in "[a-z.]{0,4}",
    ) {
        assert!(matches("*", &name));
        assert!(matches(&format!("{name}*"), &format!("{name}{after}")));
        assert!(matches(&format!("*{name}"), &format!("{before}{name}")));
        assert!(matches(&format!("*{name}*"), &format!("{before}{name}{after}")));
        assert!(!matches("*", &format!("{name}/{after}")));
        assert!(!matches(&format!("*{name}"), &format!(".{name}")));
        assert!(matches(&"?".repeat(name.len()), &name));
    }

    #[test]
    fn braces_and_lists_hold_what_stands_in_them(names in vec(plain(), 2..6), other in plain()) {
        let is_in = names.contains(&other);
        prop_assert_eq!(matches(&format!("{{{}}}", names.join(",")), &other), is_in);
        prop_assert_eq!(matches(&format!("@({})", names.join("|")), &other), is_in);
        prop_assert_eq!(matches(&format!("!({})", names.join("|")), &other), !is_in);
        for name in &names {
            assert!(matches(&format!("+({})", names.join("|")), &name.repeat(2)));
        }
    }

    #[test]
    fn any_characters_are_themselves_behind_a_backslash(name in "[^/]{1,12}") {
        let escaped: String = name.chars().flat_map(|c| ['\\', c]).collect();
        assert!(matches(&escaped, &name));
    }

    /// Whatever the pattern is: it is read or refused, and matching ends.
    #[test]
    fn no_pattern_does_harm(
        pieces in vec(select(&PIECES[..]), 0..24),
        name in "[ab./({\\[]{0,12}",
    ) {
        if let Ok(glob) = Glob::new(&pieces.concat()) {
            glob.matches(&name);
            glob.matches(glob.as_str());
        }
    }
}

const PIECES: [&str; 26] = [
    "a",
    "b",
    ".",
    "/",
    "*",
    "**",
    "?",
    "!",
    "#",
    "\\",
    "[",
    "]",
    "-",
    "{",
    "}",
    ",",
    "..",
    "1",
    "9",
    "@(",
    "!(",
    "+(",
    "*(",
    "|",
    ")",
    "[:alpha:]",
];
