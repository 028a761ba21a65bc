//! Rules about the tree itself.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of `src/`, lowest layer first. A module uses what is below it: neither its
/// neighbours nor anything above.
const LAYERS: &[&[&str]] = &[
    &["canon", "cancel", "code", "time"],
    &["identity", "predicate", "record", "secret"],
    &["fold", "hook", "permission", "trust"],
    &["config"],
    &["store"],
    &["engine"],
    &["blueprint", "model", "sandbox", "tool"],
    &["policy"],
    &["run", "session"],
    &["http"],
];

/// What a module may use of its own layer, and why.
const NEIGHBOURS: &[(&str, &str)] = &[
    // A wish may have a deadline.
    ("cancel", "time"),
    // A predicate's facts name records as records do.
    ("predicate", "record"),
];

/// Each outside thing, and the modules that may name it.
const OWNERS: &[(&str, &[&str])] = &[
    ("aho_corasick::", &["predicate"]),
    ("axum::", &["http"]),
    ("cap_std::", &["tool"]),
    ("cel::", &["predicate"]),
    ("chrono::", &["predicate"]),
    ("ed25519_dalek::", &["identity"]),
    ("genai::", &["model"]),
    ("getrandom::", &["identity"]),
    ("json_event_parser::", &["canon"]),
    ("jiff::", &["time"]),
    ("jsonschema::", &["tool"]),
    ("landlock::", &["sandbox"]),
    ("nix::", &["sandbox"]),
    ("reqwest::", &["model", "tool"]),
    ("rmcp::", &["tool"]),
    ("rusqlite::", &["store"]),
    ("sha2::", &["canon"]),
    ("subtle::", &["http"]),
    ("std::process", &["sandbox", "tool"]),
    ("std::time::Instant", &["time"]),
    ("SystemTime::", &["time"]),
    ("tokio::", &["http", "model", "tool"]),
    ("tower::", &["http"]),
    ("url::", &["policy"]),
];

/// Names that say nothing about what is inside.
const NAMELESS: &[&str] = &["util", "utils", "helper", "helpers", "common", "manager", "misc"];

struct Source {
    /// The first folder or file name under `src/`.
    module: String,
    path: PathBuf,
    text: String,
}

fn sources(root: &str) -> Vec<Source> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<Source>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, root, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let inside = path.strip_prefix(root).expect("inside");
                let first = inside.components().next().expect("a name").as_os_str();
                let module = first.to_string_lossy().trim_end_matches(".rs").to_owned();
                let text = fs::read_to_string(&path).expect("text");
                found.push(Source { module, path, text });
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
    let mut found = Vec::new();
    walk(&root, &root, &mut found);
    assert!(!found.is_empty(), "no sources under {}", root.display());
    found
}

/// Whether `thing` stands in `text` as a word of its own, and not at the end of another.
fn names(text: &str, thing: &str) -> bool {
    text.match_indices(thing).any(|(at, _)| {
        !text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
    })
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

#[test]
fn a_module_uses_what_is_below_it() {
    for Source { module, path, text } in sources("src") {
        if module == "lib" {
            continue;
        }
        let layer = layer_of(&module);
        let layer = layer.unwrap_or_else(|| panic!("`{module}` stands in no layer of this test"));
        for (other_layer, others) in LAYERS.iter().enumerate().skip(layer) {
            for other in others.iter().filter(|other| **other != module) {
                let allowed = other_layer == layer && NEIGHBOURS.contains(&(&module, other));
                let names = text.contains(&format!("crate::{other}::"))
                    || text.contains(&format!("crate::{other};"));
                assert!(
                    allowed || !names,
                    "{}: `{module}` names `{other}`, which is not below it",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn each_outside_thing_has_its_owner() {
    for Source { module, path, text } in sources("src") {
        for (thing, owners) in OWNERS {
            assert!(
                owners.contains(&module.as_str()) || !names(&text, thing),
                "{}: names `{thing}`, which belongs to {owners:?}",
                path.display()
            );
        }
    }
}

#[test]
fn the_reading_order_is_bottom_up() {
    let text = sources("src").into_iter().find(|source| source.module == "lib").expect("lib").text;
    let declared: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let layers: Vec<usize> = declared.iter().filter_map(|module| layer_of(module)).collect();
    assert_eq!(layers.len(), declared.len(), "{declared:?}");
    assert!(layers.is_sorted(), "{declared:?}");
    assert_eq!(declared.len(), LAYERS.iter().map(|layer| layer.len()).sum::<usize>());
}

/// Whoever reads `hook::observe`'s answer must see that it holds words and nothing else.
#[test]
fn hooks_are_asked_in_one_place() {
    let asks = |source: &Source| source.text.matches(".tool_returned(").count();
    let places: Vec<String> = sources("src")
        .iter()
        .filter(|source| asks(source) > 0)
        .map(|source| format!("{} {}", source.module, asks(source)))
        .collect();
    assert_eq!(places, ["run 1"]);
}

/// Policy hooks decide and hooks teach, and neither knows of the other: so a lesson can block nothing,
/// and no policy hook hears what was said, or says it.
#[test]
fn policy_hooks_never_touch_the_post_tool_seam_and_hooks_never_touch_decisions() {
    let forbidden = |module: &str| match module {
        // A hook of a pack may be one that observes, which is another thing.
        "policy" => &[
            "crate::hook",
            "tool_returned",
            "::observe",
            ".observe(",
            "observe_",
            "core.hook",
            "Observation",
        ][..],
        "hook" => &["policy", "Verdict", "Decision", "Block"][..],
        _ => &[][..],
    };
    let mut looked_at = 0;
    for Source { module, path, text } in sources("src") {
        for thing in forbidden(&module) {
            looked_at += 1;
            assert!(!text.contains(thing), "{}: names `{thing}`", path.display());
        }
    }
    assert!(looked_at > 50, "{looked_at}");
}

#[test]
fn names_say_what_is_inside() {
    for source in sources("src").iter().chain(&sources("spl-cli")).chain(&sources("tests")) {
        let stem = source.path.file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(!NAMELESS.contains(&stem.as_str()), "{}", source.path.display());
    }
}

#[test]
fn files_stay_readable() {
    for Source { path, text, .. } in sources("src").iter().chain(&sources("spl-cli/src")) {
        let lines = text.lines().count();
        assert!(
            lines <= 700,
            "{} has {lines} lines; what is the second thing in it?",
            path.display()
        );
        for (number, line) in text.lines().enumerate() {
            let columns = line.chars().count();
            assert!(columns <= 110, "{}:{} has {columns} columns", path.display(), number + 1);
        }
    }
}

#[test]
fn the_map_names_every_module() {
    let map = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let map = fs::read_to_string(map).expect("ARCHITECTURE.md");
    for module in LAYERS.iter().copied().flatten() {
        assert!(
            map.contains(&format!("| `{module}` |")),
            "ARCHITECTURE.md has no row for `{module}`"
        );
    }
}

/// What `tests/clients/run` runs is what the README shows.
#[test]
fn the_example_of_the_readme_is_the_one_that_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md");
    let example = fs::read_to_string(root.join("tests/clients/own_loop.py")).expect("the example");
    assert!(readme.contains(&format!("```python\n{example}```")), "README.md has another one");
}
