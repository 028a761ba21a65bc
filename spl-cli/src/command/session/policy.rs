//! Switches of a harness that keep every hook from being run, and the files in which they stand.

use std::fs;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::Value;

use super::codex::Config;
use super::file::SettingsFile;
use super::harness::Harness;
use super::settings::{Document, Syntax};

/// A switch: where it stands in a file, and as what it keeps hooks from being run.
type Switch = (&'static [&'static str], bool);

/// Switches of the user's and the project's files.
const fn switches(harness: Harness) -> &'static [Switch] {
    match harness {
        Harness::Claude | Harness::Qwen => &[(&["disableAllHooks"], true)],
        Harness::Gemini => {
            &[(&["hooksConfig", "enabled"], false), (&["tools", "enableHooks"], false)]
        }
        Harness::Codex | Harness::Opencode => &[],
    }
}

/// The files of whoever manages the machine, with a switch of their own in some.
fn managed(harness: Harness) -> (&'static [&'static str], &'static [Switch]) {
    match harness {
        Harness::Claude => (
            &[
                "/etc/claude-code/managed-settings.json",
                "/Library/Application Support/ClaudeCode/managed-settings.json",
            ],
            &[(&["disableAllHooks"], true), (&["allowManagedHooksOnly"], true)],
        ),
        Harness::Gemini => (
            &[
                "/etc/gemini-cli/settings.json",
                "/Library/Application Support/GeminiCli/settings.json",
            ],
            switches(harness),
        ),
        Harness::Qwen => (
            &[
                "/etc/qwen-code/settings.json",
                "/Library/Application Support/QwenCode/settings.json",
            ],
            switches(harness),
        ),
        Harness::Codex | Harness::Opencode => (&[], &[]),
    }
}

/// Returns what keeps the hooks of a file from being run, one sentence each.
pub(super) fn switched_off(harness: Harness, file: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let own = [file.to_owned()].into_iter().chain(of_the_project(harness));
    for path in own {
        look(&path, switches(harness), &mut found);
        if harness == Harness::Gemini {
            look_for_names(&path, &mut found);
        }
    }
    let (files, switches) = managed(harness);
    for path in files {
        look(Path::new(path), switches, &mut found);
    }
    if harness == Harness::Codex
        && let Ok(Some(config)) = Config::beside(file)
        && let Some(switch) = config.switch_off()
    {
        found.push(format!("`{switch}` is false in {}", Config::path(file).display()));
    }
    found
}

/// Returns what a person is warned of who installs hooks.
pub(super) fn warnings(harness: Harness, file: &SettingsFile) -> Vec<String> {
    let title = harness.title();
    let told = |reason| format!("{title} runs no hooks: {reason}");
    switched_off(harness, &file.path).into_iter().map(told).collect()
}

/// The files of the project that one stands in.
fn of_the_project(harness: Harness) -> Vec<PathBuf> {
    let Ok(here) = std::env::current_dir() else { return Vec::new() };
    let names: &[&str] = match harness {
        Harness::Claude => &[".claude/settings.json", ".claude/settings.local.json"],
        Harness::Gemini => &[".gemini/settings.json"],
        Harness::Qwen => &[".qwen/settings.json"],
        Harness::Codex | Harness::Opencode => &[],
    };
    names.iter().map(|name| here.join(name)).collect()
}

fn look(path: &Path, switches: &[Switch], found: &mut Vec<String>) {
    let Ok(text) = fs::read_to_string(path) else { return };
    let Ok(document) = Document::parse(&text, Syntax::ANY) else { return };
    for (keys, off) in switches {
        if let Some(Value::BooleanLit(value)) = document.at(keys)
            && value.value == *off
        {
            let sentence = format!("`{}` is {off} in {}", keys.join("."), path.display());
            if !found.contains(&sentence) {
                found.push(sentence);
            }
        }
    }
}

/// Gemini CLI knows single hooks by name, and one without a name by its command.
fn look_for_names(path: &Path, found: &mut Vec<String>) {
    let Ok(text) = fs::read_to_string(path) else { return };
    let Ok(document) = Document::parse(&text, Syntax::ANY) else { return };
    let Some(Value::Array(names)) = document.at(&["hooksConfig", "disabled"]) else { return };
    let ours = |name: &Value<'_>| {
        name.as_string_lit().is_some_and(|name| super::command_line::is_ours(&name.value))
    };
    if names.elements.iter().any(ours) {
        found.push(format!("our command stands in `hooksConfig.disabled` in {}", path.display()));
    }
}
