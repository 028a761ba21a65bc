//! Hooks in the settings of harnesses: written, written again, and taken out.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::terminal::{Terminal, assert_session};

/// A user whose `spl` is a link on the path, and who stands in a project.
pub(crate) fn user() -> Terminal {
    let mut terminal = Terminal::new();
    let bin = terminal.path("bin");
    fs::create_dir(&bin).expect("a folder");
    symlink(env!("CARGO_BIN_EXE_spl"), bin.join("spl")).expect("a link");
    terminal.set("PATH", &format!("{}:/usr/bin:/bin", bin.display()));
    terminal.does("mkdir project");
    terminal
}

/// The harnesses that have hooks in a JSON file, and where that is.
const FILES: [(&str, &str); 4] = [
    ("claude", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json"),
];

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/install").join(folder);
    let entries = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

#[test]
fn hooks_are_installed_once_and_taken_out() {
    let mut terminal = user();
    terminal.session(&[
        "cd project && spl session install-hooks",
        "cd project && spl session install-hooks",
        "head -n 14 .claude/settings.json",
        "ls -ld .claude .claude/settings.json | cut -c 1-10",
        "cd project && spl session install-hooks --uninstall",
        "cd project && spl session install-hooks --uninstall",
        "ls -A",
        "ls .syncro/installed",
    ]);
    assert_session!(terminal);
}

#[test]
fn each_harness_has_its_own_file_and_events() {
    let mut terminal = user();
    for harness in ["codex", "gemini", "qwen", "opencode"] {
        let _ =
            terminal.run(&format!("cd project && spl session install-hooks --harness {harness}"));
    }
    terminal.session(&[
        "grep -h -o '\"timeout\": .*' .codex/hooks.json | tail -n 2",
        "grep -h -o '\"timeout\": .*' .gemini/settings.json | tail -n 1",
        "grep -h -o '\"timeout\": .*' .qwen/settings.json | tail -n 1",
        "grep -h COMMAND .config/opencode/plugins/spl.js | head -n 1",
        "cd project && CODEX_HOME=$HOME/elsewhere spl session install-hooks --harness codex | head -n 1",
        "cd project && CLAUDE_CONFIG_DIR=$HOME/moved spl session install-hooks | head -n 1",
        "cd project && QWEN_HOME=$HOME/also spl session install-hooks --harness qwen | head -n 1",
        "cd project && XDG_CONFIG_HOME=$HOME/x spl session install-hooks --harness opencode | head -n 1",
        "cd project && spl session install-hooks --harness opencode --uninstall",
        "ls -A",
    ]);
    assert_session!(terminal);
}

#[test]
fn policy_hooks_decide_from_when_it_is_asked_for_until_it_is_taken_back() {
    let mut terminal = user();
    let deciding = "grep -A 6 -e UserPromptSubmit -e PreToolUse .claude/settings.json | grep -e command -e timeout";
    terminal.session(&[
        "cd project && spl session install-hooks | grep -v command",
        "cd project && spl session install-hooks --with-policy --dry-run | grep '^[+-]'",
        "cd project && spl session install-hooks --with-policy",
        deciding,
        "cd project && spl session install-hooks",
        "cd project && spl session install-hooks --uninstall --with-policy | grep -v command",
        deciding,
        "cd project && spl session install-hooks --uninstall --with-policy",
        "cd project && spl session install-hooks --uninstall",
        "ls -A",
    ]);
    for harness in ["codex", "gemini", "qwen", "opencode"] {
        let install = format!("cd project && spl session install-hooks --harness {harness}");
        terminal.session(&[&format!("{install} --with-policy | grep -e hooks -e decided")]);
    }
    terminal.session(&[
        "grep -h -A 1 -e --policy .codex/hooks.json .gemini/settings.json .qwen/settings.json | grep timeout",
        "grep -h -e COMMAND -e DECIDING .config/opencode/plugins/spl.js | head -n 2",
        "cd project && spl session install-hooks --harness opencode --uninstall --with-policy | head -n 1",
        "grep -h DECIDING .config/opencode/plugins/spl.js | head -n 1",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_dry_run_shows_and_changes_nothing() {
    let mut terminal = user();
    terminal.write("settings.json", "{\n  // mine\n  \"model\": \"opus\"\n}\n");
    terminal.session(&[
        "cd project && spl session install-hooks --harness gemini --dry-run --settings ../settings.json",
        "cat settings.json; ls -A",
        "cd project && spl session install-hooks --dry-run --json | cut -c 1-400",
        "cd project && spl session install-hooks --dry-run --uninstall",
        "ls -A",
    ]);
    assert_session!(terminal);
}

#[test]
fn the_command_says_what_the_hook_needs() {
    let mut terminal = user();
    terminal.register(&["default/shop"]);
    terminal.session(&[
        "cd project && spl session install-hooks --namespace default/shop --env RUST_LOG=debug --env 'A=it'\\''s \"b\"' | grep command",
        "cd project && spl session install-hooks --env SYNCROPEL_HOME=team | grep -e hooks -e command",
        "ls -A project",
        "cd project && spl session install-hooks --uninstall",
        "ls -A; ls project/team/installed",
        "cd project && spl -o json session install-hooks",
        "cd project && spl session install-hooks --env A",
        "cd project && spl session install-hooks --env 1=2",
        "cd project && spl session install-hooks --namespace Shop",
        "cd project && spl session install-hooks --namespace default/shop/web/eu",
        "cd project && spl session install-hooks --namespace shop --env SYNCROPEL_HOME=nowhere",
        "cd project && spl session install-hooks --harness cursor",
        "cd project && spl --server http://127.0.0.1:1 session install-hooks",
        "env -u HOME SYNCROPEL_HOME=/nowhere CLAUDE_CONFIG_DIR= spl session install-hooks --dry-run | head -n 1",
    ]);
    assert_session!(terminal);
}

#[test]
fn the_program_is_the_one_that_the_user_types() {
    let mut terminal = user();
    let other = "#!/bin/sh\\n";
    terminal.session(&[
        &format!("mkdir other && printf '{other}' > other/spl && chmod +x other/spl"),
        "cd project && PATH=$HOME/other:$PATH ../bin/spl session install-hooks --harness qwen | grep command",
        "cd project && PATH=/usr/bin:/bin ../bin/spl session install-hooks --harness codex | grep command",
        "mkdir -p 'a b/1.2.3/bin' && mv bin/spl 'a b/1.2.3/bin/'",
        "cd project && PATH=\"$HOME/a b/1.2.3/bin:$PATH\" spl session install-hooks | grep -e command -e hooks",
        "mkdir \"it's 鉤\" && mv 'a b/1.2.3/bin/spl' \"it's 鉤\"",
        "cd project && PATH=\"$HOME/it's 鉤:$PATH\" spl session install-hooks | grep -e command -e hooks",
        "sh -c \"$(grep -m 1 -o \"'.*'\" .claude/settings.json | sed 's/\\\\\\\\/\\\\/g')\" < /dev/null",
    ]);
    let program = env!("CARGO_BIN_EXE_spl");
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(&regex_of(program), "<program>");
    settings.bind(|| {
        assert_session!(terminal);
    });
}

fn regex_of(path: &str) -> String {
    path.replace('.', "\\.")
}

/// In one's own folder the user's file is the project's as well, and then Claude Code may run
/// nothing. Nobody said so.
#[test]
fn a_home_that_is_a_project_is_told_of() {
    let mut terminal = user();
    terminal.session(&[
        "spl session install-hooks | head -n 1",
        "cd project && spl session install-hooks | head -n 1",
    ]);
    assert_session!(terminal);
}

/// Over every file and every harness: what it reads is changed and comes back to the byte; what it
/// does not read is left alone.
#[test]
fn every_file_comes_back_to_the_byte() {
    let terminal = user();
    terminal.does("spl init");
    let mut refused = Vec::new();
    for (harness, _) in FILES {
        let file = terminal.path("settings.json");
        let run = |more: &str| {
            let line = format!(
                "cd project && spl session install-hooks --harness {harness} --settings ../settings.json {more}"
            );
            terminal.quietly(&line).status
        };
        for fixture in fixtures("settings") {
            let name = fixture.file_name().expect("a name").to_string_lossy().into_owned();
            let bytes = fs::read(&fixture).expect("read");
            fs::write(&file, &bytes).expect("written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("a mode");
            let status = run("");
            let installed = fs::read(&file).expect("read");
            if status == 4 {
                assert_eq!(installed, bytes, "{harness} {name}: refused, and changed");
                refused.push(format!("{harness} {name}"));
                continue;
            }
            assert_eq!(status, 0, "{harness} {name}");
            assert_ne!(installed, bytes, "{harness} {name}");
            assert_eq!(
                fs::metadata(&file).expect("there").mode() & 0o777,
                0o640,
                "{harness} {name}"
            );
            assert_eq!(run(""), 0, "{harness} {name}");
            assert_eq!(
                fs::read(&file).expect("read"),
                installed,
                "{harness} {name}: twice differs"
            );
            assert_eq!(run("--uninstall"), 0, "{harness} {name}");
            assert_eq!(fs::read(&file).expect("read"), bytes, "{harness} {name}: not as before");
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(refused.join("\n")));
}

#[test]
fn a_file_that_does_not_read_is_left_alone() {
    let mut terminal = user();
    terminal.does("spl init && mkdir files");
    for fixture in fixtures("refused") {
        let name = fixture.file_name().expect("a name").to_string_lossy().into_owned();
        let bytes = fs::read(&fixture).expect("read");
        fs::write(terminal.path(&format!("files/{name}")), &bytes).expect("written");
        let line = format!("cd project && spl session install-hooks --settings ../files/{name}");
        let _ = terminal.run(&line);
        assert_eq!(
            fs::read(terminal.path(&format!("files/{name}"))).expect("read"),
            bytes,
            "{name}"
        );
    }
    assert_session!(terminal);
}

#[test]
fn what_a_harness_would_not_read_is_explained() {
    let mut terminal = user();
    terminal.does("spl init && mkdir .codex .gemini");
    terminal.session(&[
        "printf '{ // mine\\n}\\n' > .codex/hooks.json; cd project && spl session install-hooks --harness codex",
        "printf '\\357\\273\\277{}' > .codex/hooks.json; cd project && spl session install-hooks --harness codex",
        "printf '{\"hooks\":{},}' > .codex/hooks.json; cd project && spl session install-hooks --harness codex",
        "printf '{\"version\":1}' > .codex/hooks.json; cd project && spl session install-hooks --harness codex",
        "rm .codex/hooks.json; printf '[[hooks.Stop]]\\n' > .codex/config.toml; cd project && spl session install-hooks --harness codex",
        "printf '[hooks.state.\"x\"]\\nenabled = true\\n' > .codex/config.toml; cd project && spl session install-hooks --harness codex | head -n 1",
        "printf '\\357\\273\\277{}' > .gemini/settings.json; cd project && spl session install-hooks --harness gemini",
        "printf '{\"hooksConfig\":{\"enabled\":false}}' > .gemini/settings.json; cd project && spl session install-hooks --harness gemini | head -n 1",
        "mkdir -p .config/opencode/plugins; echo '// mine' > .config/opencode/plugins/spl.js; cd project && spl session install-hooks --harness opencode",
        "rm .config/opencode/plugins/spl.js; cd project; spl session install-hooks --harness opencode | head -n 1; echo '// more' >> ../.config/opencode/plugins/spl.js; spl session install-hooks --harness opencode",
        "cd project && spl session install-hooks --harness opencode --uninstall",
    ]);
    assert_session!(terminal);
}

/// The tests may run as somebody who can write to any file, so the mode is what counts.
#[test]
fn what_is_read_only_is_left_alone() {
    let mut terminal = user();
    terminal.does("spl init && mkdir .claude kept && echo '{}' > .claude/settings.json && echo '{}' > kept/s.json");
    terminal.session(&[
        "chmod 444 .claude/settings.json; cd project && spl session install-hooks",
        "chmod 500 kept; cd project && spl session install-hooks --settings ../kept/s.json",
        "cat .claude/settings.json kept/s.json; ls -A .claude kept; chmod 700 kept",
        "mkdir folder; cd project && spl session install-hooks --settings ../folder",
        "ln -s loop loop; cd project && spl session install-hooks --settings ../loop",
        "printf '{\\n  \\377' > picture; cd project && spl session install-hooks --settings ../picture",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_link_stays_a_link() {
    let mut terminal = user();
    terminal.does("spl init && mkdir .claude dotfiles && printf '{\\n}\\n' > dotfiles/claude.json");
    terminal.does(
        "chmod 604 dotfiles/claude.json && ln -s ../dotfiles/claude.json .claude/settings.json",
    );
    terminal.does("mkdir .qwen && ln -s ../dotfiles/not/yet.json .qwen/settings.json");
    terminal.session(&[
        "cd project && spl session install-hooks | head -n 1",
        "readlink .claude/settings.json; ls -l dotfiles/claude.json | cut -c 1-10; grep -c session dotfiles/claude.json",
        "ls -A dotfiles .claude",
        "cd project && spl session install-hooks --settings ../dotfiles/claude.json | head -n 1",
        "cd project && spl session install-hooks --settings ../dotfiles/claude.json --uninstall",
        "cat .claude/settings.json",
        "cd project && spl session install-hooks --harness qwen | head -n 1",
        "readlink .qwen/settings.json; ls -ld dotfiles/not dotfiles/not/yet.json | cut -c 1-10",
        "cd project && spl session install-hooks --harness qwen --uninstall",
        "readlink .qwen/settings.json; ls -A dotfiles",
    ]);
    assert_session!(terminal);
}

#[test]
fn what_somebody_writes_later_stays() {
    let mut terminal = user();
    terminal.does("spl init && mkdir .claude");
    terminal.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    terminal.session(&["cd project && spl session install-hooks | head -n 1"]);
    let text = fs::read_to_string(terminal.path(".claude/settings.json")).expect("text");
    let text = text.replace("\"opus\",", "\"sonnet\", // mine");
    terminal.write(".claude/settings.json", &text);
    terminal.register(&["default/shop"]);
    terminal.session(&[
        "cd project && spl session install-hooks | head -n 1",
        "cd project && spl session install-hooks --namespace default/shop | head -n 1",
        "cd project && spl session install-hooks --uninstall",
        "cat .claude/settings.json; ls .syncro/installed",
    ]);
    assert_session!(terminal);
}

/// Hooks of an older program are not doubled, and what was there before them is not forgotten.
#[test]
fn an_older_program_is_replaced_in_its_place() {
    let mut terminal = user();
    terminal.does("spl init && mkdir .claude && printf '{\\n  \"a\": 1 // mine\\n}\\n' > .claude/settings.json");
    terminal.session(&[
        "cd project && spl session install-hooks | head -n 1",
        "mkdir newer && mv bin/spl newer",
        "cd project && PATH=$HOME/newer:$PATH spl session install-hooks | grep -e hooks -e command",
        "grep -c newer/spl .claude/settings.json; grep -c bin/spl .claude/settings.json",
        "cd project && PATH=$HOME/newer:$PATH spl session install-hooks --uninstall",
        "cat .claude/settings.json",
    ]);
    assert_session!(terminal);
}
