use super::*;

const TIMEOUT: Duration = Duration::from_secs(5);

fn end(ending: Ending, stdout: &str, stderr: &str) -> ScriptEnd {
    let took = Duration::from_millis(3);
    ScriptEnd { ending, stdout: stdout.into(), stderr: stderr.into(), took }
}

fn of(ending: Ending, stdout: &str, stderr: &str) -> Reply {
    read_answer(Event::PreToolUse, &end(ending, stdout, stderr), TIMEOUT)
}

#[track_caller]
fn blocks(stdout: &str, stderr: &str, reason: &str) {
    assert_eq!(of(Ending::Exited(2), stdout, stderr), Reply::Block { reason: reason.to_owned() });
}

#[track_caller]
fn proceeds(stdout: &str) {
    assert_eq!(of(Ending::Exited(0), stdout, "told"), Reply::Proceed { context: None });
}

#[test]
fn the_reason_of_a_status_2() {
    blocks(r#"{"reason":"j"}"#, "s", "j");
    blocks(" \u{feff}{\"reason\":\"j\"}\r\n", "s", "j");
    blocks("plain", " s\n", "s");
    blocks(" plain \n", " \n", "plain");
    blocks(r#"{"reason":7}"#, "s", "s");
    blocks(r#"{"reason":""}"#, "s", "s");
    blocks(r#"{"decision":"allow"}"#, "s", "s");
    blocks("[1]", "", "[1]");
    let unexplained = "a preToolUse hook blocked it and gave no reason";
    blocks("", "", unexplained);
    // An object is no text for people.
    blocks(r#"{"reason":null}"#, "", unexplained);
}

#[test]
fn a_status_0_blocks_by_its_object_alone() {
    let blocked = |stdout: &str, reason: &str| {
        let reply = of(Ending::Exited(0), stdout, "told");
        assert_eq!(reply, Reply::Block { reason: reason.to_owned() }, "{stdout}");
    };
    blocked(r#"{"decision":"block","reason":"r"}"#, "r");
    blocked(r#"{"decision":"allow","decision":"block","reason":"r"}"#, "r");
    blocked(r#"{"decision":"block"}"#, "a preToolUse hook blocked it and gave no reason");
    blocked(
        r#"{"decision":"block","reason":[]}"#,
        "a preToolUse hook blocked it and gave no reason",
    );
    for stdout in [
        "",
        "fine",
        r#"{"decision":"allow"}"#,
        r#"{"decision":"Block"}"#,
        r#"{"decision":["block"]}"#,
        r#"{"reason":"r"}"#,
        "log\n{\"decision\":\"block\"}",
        "{\"decision\":\"block\"}\nlog",
        r#"{"decision":"block"}{"decision":"block"}"#,
        r#"[{"decision":"block"}]"#,
        r#""block""#,
        r#"{"decision":"block""#,
    ] {
        proceeds(stdout);
    }
}

#[test]
fn words_are_added_to_a_prompt_alone() {
    let said = r#"{"additionalContext":"C"}"#;
    let at = |event, stdout: &str| read_answer(event, &end(Ending::Exited(0), stdout, ""), TIMEOUT);
    let context = |context: Option<&str>| Reply::Proceed { context: context.map(str::to_owned) };
    assert_eq!(at(Event::UserPromptSubmit, said), context(Some("C")));
    assert_eq!(at(Event::PreToolUse, said), context(None));
    assert_eq!(at(Event::PostToolUse, said), context(None));
    for none in [r#"{"additionalContext":""}"#, r#"{"additionalContext":{}}"#] {
        assert_eq!(at(Event::UserPromptSubmit, none), context(None));
    }
}

#[test]
fn whatever_else_happens_is_a_failure() {
    let block = r#"{"decision":"block","reason":"r"}"#;
    for (ending, how) in [
        (Ending::Exited(1), "exit status 1"),
        (Ending::Exited(127), "exit status 127"),
        (Ending::Signalled(11), "ended by signal 11"),
        (Ending::TimedOut, "timed out after 5000 ms"),
        (Ending::Overflowed, "wrote more than it may"),
    ] {
        let (how, detail) = (how.to_owned(), "oops".to_owned());
        assert_eq!(of(ending, block, " oops\n"), Reply::Failed { how, detail });
    }
    let (how, detail) = ("could not be started".to_owned(), "no such folder".to_owned());
    let ending = Ending::NotStarted("no such folder".to_owned());
    assert_eq!(of(ending, "", ""), Reply::Failed { how, detail });
    assert_eq!(of(Ending::Cancelled, block, "s"), Reply::Cancelled);
}

#[test]
fn what_is_told_of_a_failure_is_short_and_keeps_no_secret() {
    let detail = |stderr: &str| match of(Ending::Exited(3), "", stderr) {
        Reply::Failed { detail, .. } => detail,
        other => panic!("{other:?}"),
    };
    assert_eq!(detail(&"é".repeat(500)), "é".repeat(200));
    assert_eq!(detail(""), "");
    let token = ["gh", "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
    assert_eq!(detail(&format!("no {token}")), "no [masked:github-token]");
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let mut end = end(Ending::Exited(2), "", "");
    end.stderr = b"a\xff\xfeb".to_vec();
    let reply = read_answer(Event::PreToolUse, &end, TIMEOUT);
    assert_eq!(reply, Reply::Block { reason: "a\u{fffd}\u{fffd}b".to_owned() });
}
