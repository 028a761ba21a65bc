//! Models that are asked over the network, from the command line.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use mock_provider::{Fault, MockProvider, Script, Turn};
use serde_json::{Value, json};

use crate::terminal::{Terminal, assert_session};

const KEY: &str = "k-9c41d0aa17";

/// Returns a terminal whose providers are all played by this script.
fn with_provider(script: Script) -> (Terminal, MockProvider) {
    let mut terminal = Terminal::with_instance();
    let provider = MockProvider::start(script);
    let url = provider.url();
    let settings = format!(
        "[model.providers.anthropic]\nbase_url = \"{url}/v1\"\n\
         [model.providers.openai]\nbase_url = \"{url}/v1\"\n\
         [model.providers.gemini]\nbase_url = \"{url}/v1beta\"\n"
    );
    terminal.write(".syncro/config.toml", &settings);
    for provider in ["ANTHROPIC", "OPENAI", "GEMINI"] {
        terminal.set(&format!("{provider}_API_KEY"), KEY);
    }
    (terminal, provider)
}

fn write_key(terminal: &Terminal, name: &str, mode: u32) {
    let path = terminal.home().join("secrets").join(name);
    std::fs::write(&path, KEY).expect("written");
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
}

#[test]
fn providers_are_listed_and_keys_are_not() {
    let mut terminal = Terminal::with_instance();
    terminal.write(
        ".syncro/config.toml",
        "[model.providers.local]\nbase_url = \"http://127.0.0.1:11434/v1\"\n\
         [model.providers.acme]\nbase_url = \"https://models.acme.example/v1/\"\n\
         format = \"anthropic\"\nkey_env = \"ACME_KEY\"\n",
    );
    terminal
        .write(".syncro/prices.toml", "[models.\"acme/large\"]\ninput = 1500000\noutput = 75000\n");
    terminal.set("GEMINI_API_KEY", KEY);
    write_key(&terminal, "openai.key", 0o600);
    write_key(&terminal, "anthropic.key", 0o644);
    terminal.session(&["spl model list", "spl -o json model list", "spl model test claude-x"]);
    assert!(!terminal.transcript().contains(KEY));
    assert_session!(terminal);
}

#[test]
fn what_cannot_be_played_is_said_with_what_to_do() {
    let mut terminal = Terminal::new();
    terminal.session(&[
        "spl model test",
        "spl model test claude-sonnet-4-6",
        "spl model test llama3",
        "spl -o json model test llama3",
        "spl work-loop x --model claude-sonnet-4-6 --workspace .",
        "spl work-loop x --workspace .",
        "spl work-loop x --model a --echo --workspace .",
        "spl --server http://127.0.0.1:1 model list",
    ]);
    // Nothing was made for a run that nobody can play.
    assert!(!terminal.home().exists());
    assert_session!(terminal);
}

#[test]
fn a_model_is_tried() {
    let turn = Turn::text("I will report that I am ready to work.")
        .and_call("report", json!({"word": "ready"}))
        .with_usage(212, 31);
    let (terminal, provider) = with_provider(Script::new([turn]));
    let text = terminal.does("spl model test");
    for said in [
        "✓ claude-haiku-4-5 called the tool in ",
        "streamed   yes",
        "212 tokens read, 31 written",
        "cost       $0.000367",
    ] {
        assert!(text.contains(said), "{text}");
    }
    for model in ["claude-sonnet-4-6", "gpt-5.1", "gemini-2.5-flash"] {
        let answer = terminal.does(&format!("spl -o json model test {model}"));
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(
            (&answer["called_tool"], &answer["streamed"], &answer["input_tokens"]),
            (&json!(true), &json!(true), &json!(212)),
            "{answer}"
        );
    }
    assert_eq!(provider.requests().len(), 4);
}

#[test]
fn a_model_that_does_not_call_or_answer_is_reported() {
    let refused = Fault::Status { status: 401, retry_after: None, message: Some(KEY.into()) };
    let script = Script::new([Turn::text("hm").without_usage(), Turn::text("").always(refused)]);
    let (mut terminal, _provider) = with_provider(script.in_order());
    let mute = terminal.quietly("spl model test gpt-5.1");
    assert_eq!(mute.status, 1, "{}", mute.stderr);
    assert!(mute.stdout.contains("gpt-5.1 answered without calling the tool"), "{}", mute.stdout);
    assert!(mute.stdout.contains("estimated"), "{}", mute.stdout);
    terminal.session(&["spl model test claude-sonnet-4-6", "spl model test gemini-2.5-pro"]);
    assert_session!(terminal);
}

/// A whole run in each format: a tool is called, a hook that is written in the middle is heard in
/// the next request, and what it cost is counted.
#[test]
fn a_run_is_played_by_a_provider_and_hears_a_lesson_that_is_written_meanwhile() {
    for model in ["claude-sonnet-4-6", "gpt-5.1", "gemini-2.5-pro"] {
        let terminal = Terminal::with_instance();
        let add = terminal.spl(&[
            "hook",
            "add",
            "shell-failed",
            "--when",
            "record.body.status != \"ok\"",
            "--text",
            "${tool} ended with ${status}; read stderr first.",
        ]);
        let add = std::sync::Mutex::new(add);
        let script = Script::new([
            Turn::text("I try.").and_call("bash", json!({"command": "false one"})),
            Turn::text("I try again.").and_call("bash", json!({"command": "false two"})),
            Turn::call("bash", json!({"command": "true"})),
            Turn::text("That is all.").with_usage(1000, 100),
        ])
        .before(1, move || {
            assert!(add.lock().expect("a lock").status().expect("started").success());
        });
        let provider = MockProvider::start(script);
        let url = provider.url();
        let settings = format!(
            "[model.providers.anthropic]\nbase_url = \"{url}/v1\"\n\
             [model.providers.openai]\nbase_url = \"{url}/v1\"\n\
             [model.providers.gemini]\nbase_url = \"{url}/v1beta\"\n"
        );
        terminal.write(".syncro/config.toml", &settings);
        let said = terminal.does(&format!(
            "spl work-loop 'try it' --model {model} --workspace . --usd-budget 1 -o json"
        ));
        let report: Value = serde_json::from_str(&said).expect("JSON");
        assert_eq!(report["outcome"], "completed", "{model}: {report}");
        assert_eq!(report["observations"], 1, "{model}: {report}");
        let words = "shell-failed: bash ended with error; read stderr first.";
        let heard: Vec<usize> = provider
            .requests()
            .iter()
            .map(|request| request.to_string().matches(words).count())
            .collect();
        assert_eq!(heard, [0, 0, 1, 1], "{model}");
        let thread = report["thread"].as_str().expect("a thread");
        let records = terminal.does(&format!("spl -o json thread records {thread}"));
        assert!(records.contains("cost_usd_micros"), "{records}");
        terminal.does("spl verify");
    }
}
