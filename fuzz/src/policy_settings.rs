//! Settings of policy hooks: a policy or a refusal that names a place, and a project that is not opted
//! into only tightens.

use std::path::Path;

use spl::canon::Object;
use spl::code::Coded as _;
use spl::object;
use spl::policy::polyglot::{Files, Project, Texts, load_texts};
use spl::policy::{Policy, Scope, SettingsError};

/// What parts the user's own settings from the project's.
const BETWEEN: &[u8] = b"\n---\n";

/// Checks bytes as the user's own settings, with those of a project behind them.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let at = bytes.windows(BETWEEN.len()).position(|window| window == BETWEEN);
    let (global, project) = match at {
        Some(at) => (&bytes[..at], Some(bytes[at + BETWEEN.len()..].to_vec())),
        None => (bytes, None),
    };
    let alone = laid(Some(global.to_vec()), None, "0");
    let policy = match laid(Some(global.to_vec()), project, "0") {
        Ok(policy) => policy,
        Err(error) => {
            named(&error);
            return false;
        }
    };
    let own = alone.expect("settings that are taken with others are taken alone");
    whole(&policy);
    let theirs = policy.hooks().iter().filter(|hook| hook.source.scope == Scope::Project).count();
    assert!(own.hooks().iter().all(|hook| policy.hooks().contains(hook)));
    assert_eq!(policy.hooks().len(), own.hooks().len() + theirs);
    for (tool, input) in calls() {
        assert!(own.denies(tool, &input).is_none() || policy.denies(tool, &input).is_some());
    }
    if !allows(global) {
        assert_eq!(theirs, 0);
        assert!(own.audit().is_none_or(|audit| {
            policy
                .audit()
                .is_some_and(|it| it.folder == audit.folder && (it.hash_args || !audit.hash_args))
        }));
    }
    let off = laid(Some(global.to_vec()), None, "1").expect("a switch refuses nothing");
    assert!(off.hooks().is_empty() && off.summary() == "none");
    assert_eq!(off.skipped().len(), own.hooks().len());
    true
}

fn laid(
    global: Option<Vec<u8>>,
    project: Option<Vec<u8>>,
    off: &str,
) -> Result<Policy, SettingsError> {
    let (home, workspace) = (Some(Path::new("/home/vera")), Path::new("/work"));
    let files = Files { home, workspace, project: Project::Asked };
    load_texts(&Texts { global, project }, &files, &|name| {
        (name == "POLYGLOT_NO_HOOKS").then(|| off.to_owned())
    })
}

/// Whether it may say that hooks of projects are asked. Written so, or with an escape.
fn allows(global: &[u8]) -> bool {
    let text = String::from_utf8_lossy(global);
    text.contains("allowProjectHooks") || text.contains("\\u")
}

fn whole(policy: &Policy) {
    let counted = policy.summary();
    assert_eq!(counted == "none", policy.hooks().is_empty());
    for hook in policy.hooks() {
        assert!(!hook.timeout.is_zero());
        assert!(!hook.source.event.is_empty());
        for (tool, _) in calls() {
            hook.matcher.matches(Some(tool));
        }
        assert!(hook.matcher.matches(None));
    }
    for text in ["", "password=hunter2hunter2 x", "a\u{e9}\n"] {
        policy.shown(text);
    }
}

fn calls() -> [(&'static str, Object); 5] {
    [
        ("bash", object! { "command": "rm -rf /tmp/.x" }),
        ("read_file", object! { "path": "./a/../.env" }),
        ("web_fetch", object! { "url": "https://example.test/a" }),
        ("mcp__ci__run", Object::new()),
        ("", Object::new()),
    ]
}

fn named(error: &SettingsError) {
    let text = error.to_string();
    assert!(text.contains("/.polyglot/settings.json: "), "{text}");
    assert!(error.hint().is_some() && error.reason().is_some());
    assert!(error.message.chars().count() < 600, "{text}");
}
