//! What has gone wrong for others, each by the input that shows it.

use super::*;
use crate::hook::CONTENT_CHARS;

/// What a payload is told to be by its command line is what it is.
#[test]
fn a_harness_that_is_named_beats_what_the_payload_looks_like() {
    let text =
        r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"t","turn_id":"1"}"#;
    let payload = Payload::read(text.as_bytes()).expect("a payload");
    for harness in Harness::ALL {
        assert_eq!(Event::read(&payload, Some(harness)).expect("an event").harness, harness);
    }
}

#[test]
fn an_answer_of_two_megabytes_is_read_to_its_end() {
    let text = "ä\\n\\\"".repeat(500_000);
    let payload = format!(
        r#"{{"session_id":"s","hook_event_name":"AfterTool","tool_name":"run_shell_command",
            "tool_response":{{"llmContent":"{text}\nExit Code: 7"}},"timestamp":"t"}}"#
    );
    let event = event(&payload);
    let call = call_of(&event);
    assert_eq!(call.status, Status::Error);
    assert!(call.content.chars().count() >= CONTENT_CHARS);
    assert!(call.content.len() < 20_000, "{}", call.content.len());
}

#[test]
fn bytes_of_another_code_page_stay_where_they_are() {
    // The second byte of a character of cp932 is a backslash.
    let bytes =
        b"{\"session_id\":\"s\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"\x95\\\"x\"}";
    let payload = Payload::read(bytes).expect("a payload");
    let event = Event::read(&payload, Some(Harness::Claude)).expect("an event");
    assert_eq!(event.moment, Moment::Prompted { text: "\u{fffd}\"x".into() });
}

#[test]
fn half_a_character_is_one_that_is_not_known() {
    let event = event(
        r#"{"session_id":"s\ud83d","hook_event_name":"UserPromptSubmit","prompt":"\udc00 \ud83d\ude00"}"#,
    );
    assert_eq!(event.session_id, "s\u{fffd}");
    assert_eq!(event.moment, Moment::Prompted { text: "\u{fffd} 😀".into() });
}

#[test]
fn words_with_signs_of_any_script_are_answered_in_utf8() {
    let event = event(r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash"}"#);
    assert!(answer(&event, "⚠ über 表").contains("⚠ über 表"));
}

/// Any text with something in it is the name of a tool, and its case and signs are kept.
#[test]
fn any_name_is_a_tools() {
    for tool in
        ["mcp__Linear__search-docs", "mcp__notes", "a b", "</hook_context>", "表", "\u{1}", "."]
    {
        let payload = object! {
            "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": tool,
        };
        let event = Event::read(&Payload::of(payload), None).expect("an event");
        let call = call_of(&event);
        assert_eq!((&*call.tool, &*call.canonical), (tool, tool));
        assert_eq!((call.status, &*call.content, call.args.len()), (Status::Ok, "", 0));
    }
}

#[test]
fn a_long_name_is_known_by_its_hash() {
    let long = "x".repeat(1_000_000);
    let payload = object! {
        "session_id": &*long, "hook_event_name": "PostToolUse", "tool_name": &*long,
        "tool_use_id": &*long, "agent_id": &*long, "cwd": &*long, "model": &*long,
    };
    let event = Event::read(&Payload::of(payload), None).expect("an event");
    let call = call_of(&event);
    for id in [&event.session_id, &call.tool, &call.canonical, &call.call_id] {
        assert!(id.starts_with("sha256:") && id.len() == 71, "{id}");
    }
    assert_eq!(event.cwd.map(|cwd| cwd.len()), Some(4096));
}

/// A resumed session begins twice, the second time under an id of which nothing else is ever heard.
#[test]
fn each_start_says_where_it_comes_from() {
    for source in ["startup", "resume", "clear", "compact", "fork", "of tomorrow"] {
        let payload = object! {
            "session_id": "s", "hook_event_name": "SessionStart", "source": source,
        };
        let event = Event::read(&Payload::of(payload), None).expect("an event");
        assert_eq!(event.moment, Moment::Started { source: Some(source.into()) });
    }
}

#[test]
fn the_stop_of_a_subagent_is_not_that_of_its_session() {
    let event =
        event(r#"{"session_id":"s","hook_event_name":"Stop","agent_id":"a9","agent_type":""}"#);
    assert_eq!(event.agent, Some(Agent { id: "a9".into(), kind: None }));
    assert_eq!(event.moment, Moment::TurnEnded { text: None, failed: None });
    assert!(!event.delivers());
}

#[test]
fn a_subagent_without_an_id_is_nobodys_event() {
    for name in ["SubagentStart", "SubagentStop", "subagentStart"] {
        let payload = object! { "session_id": "s", "hook_event_name": name, "agent_id": "" };
        let event = Event::read(&Payload::of(payload), None).expect("an event");
        assert_eq!((event.agent, event.moment), (None, Moment::Other), "{name}");
    }
}

#[test]
fn two_equal_calls_without_an_id_differ_by_their_time() {
    let at = |time: &str, command: &str| {
        let text = format!(
            r#"{{"session_id":"s","hook_event_name":"AfterTool","tool_name":"run_shell_command",
                "tool_input":{{"command":"{command}"}},"timestamp":"{time}"}}"#
        );
        call_of(&event(&text)).call_id.clone()
    };
    assert_eq!(at("10:00:01.000", "ls"), at("10:00:01.000", "ls"));
    assert_ne!(at("10:00:01.000", "ls"), at("10:00:01.001", "ls"));
    assert_ne!(at("10:00:01.000", "ls"), at("10:00:01.000", "pwd"));
}

#[test]
fn one_id_runs_through_all_events_of_a_call_in_qwen() {
    let text = r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"t",
        "tool_use_id":"toolu_1","tool_call_id":"call_1"}"#;
    let payload = Payload::read(text.as_bytes()).expect("a payload");
    let id = |harness| {
        let event = Event::read(&payload, Some(harness)).expect("an event");
        call_of(&event).call_id.clone()
    };
    assert_eq!((id(Harness::Qwen), id(Harness::Claude)), ("call_1".into(), "toolu_1".into()));
}

#[test]
fn arguments_are_an_object_whatever_they_came_as() {
    for (input, want) in [
        (r#"{"a":1}"#, r#"{"a":1}"#),
        (r#""{\"a\":1}""#, r#"{"a":1}"#),
        (r#""[1]""#, r#"{"input":"[1]"}"#),
        (r#""plain""#, r#"{"input":"plain"}"#),
        ("[1,2]", r#"{"input":[1,2]}"#),
        ("7", r#"{"input":7}"#),
        ("null", "{}"),
    ] {
        let text = format!(
            r#"{{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"t","tool_input":{input}}}"#
        );
        assert_eq!(Value::from(call_of(&event(&text)).args.clone()).to_string(), want);
    }
}

#[test]
fn an_exit_status_is_a_line_of_the_shells_own() {
    let status = |harness: Harness, tool: &str, text: &str| {
        let payload = object! {
            "session_id": "s", "tool_name": tool, "timestamp": "t",
            "hook_event_name": if harness == Harness::Gemini { "AfterTool" } else { "PostToolUse" },
            "tool_response": object! { "llmContent": text },
        };
        call_of(&Event::read(&Payload::of(payload), Some(harness)).expect("an event")).status
    };
    for harness in [Harness::Gemini, Harness::Qwen] {
        for (tool, text, want) in [
            ("run_shell_command", "Output: x\nExit Code: 3\n", Status::Error),
            ("run_shell_command", "Exit Code: -1", Status::Error),
            ("run_shell_command", "Output: x\r\nExit Code: 3\r\n", Status::Error),
            ("run_shell_command", "Output: x\nExit Code: 0\n", Status::Ok),
            ("run_shell_command", "Output: Exit Code: 3\n", Status::Ok),
            ("run_shell_command", "Exit Code: 3\nExit Code: 0", Status::Ok),
            ("run_shell_command", "Exit Code: (none)", Status::Ok),
            ("read_file", "Exit Code: 3", Status::Ok),
        ] {
            assert_eq!(status(harness, tool, text), want, "{tool}: {text}");
        }
    }
}

#[test]
fn what_is_said_is_cut_to_what_a_record_has_room_for() {
    let payload = object! {
        "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "ä".repeat(1 << 20),
    };
    let event = Event::read(&Payload::of(payload), None).expect("an event");
    let Moment::Prompted { text } = event.moment else { panic!("no prompt") };
    assert_eq!(text.chars().count(), 1 << 16);
}

#[test]
fn context_of_other_hooks_is_no_part_of_a_prompt() {
    for (prompt, want) in [
        ("<hook_context>a</hook_context>\n\nhello", "hello"),
        ("\n<hook_context>a</hook_context><hook_context>b</hook_context> hello", "hello"),
        ("hello <hook_context>a</hook_context>", "hello <hook_context>a</hook_context>"),
        ("<hook_context>a", "<hook_context>a"),
        ("<hook_context>a</hook_context>", ""),
    ] {
        let payload = object! {
            "session_id": "s", "hook_event_name": "BeforeAgent", "prompt": prompt,
        };
        let event = Event::read(&Payload::of(payload), None).expect("an event");
        assert_eq!(event.moment, Moment::Prompted { text: want.into() });
    }
}
