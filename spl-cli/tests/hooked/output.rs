//! What comes out: one JSON object or nothing, whoever still listens.

use std::process::Stdio;

use crate::house::{Ended, House, failed};

#[test]
fn the_answer_is_one_object_on_a_line() {
    let house = House::taught();
    let said = house.hook(&["--harness", "claude"], failed("toolu_1")).well();
    insta::assert_snapshot!(said, @r#"{"hookSpecificOutput":{"additionalContext":"it-failed: Bash ended with error; read stderr first.","hookEventName":"PostToolUseFailure"}}"#);
    assert!(said.ends_with("}\n"));
    // The same event, told of by another process.
    assert_eq!(house.hook(&["--harness", "claude"], failed("toolu_1")).well(), "");
    assert_eq!(house.count("core.session.tool.v1"), 1);
}

/// A harness that has given up on its hook is not told so with a signal.
#[test]
fn nobody_needs_to_listen() {
    let house = House::taught();
    for (number, line) in [
        "\"$SPL\" session hook <\"$PAYLOAD\" | true; test \"${PIPESTATUS[0]}\" = 0",
        "\"$SPL\" session hook <\"$PAYLOAD\" >&-",
        "\"$SPL\" session hook <\"$PAYLOAD\" >/dev/full",
        "\"$SPL\" session hook <\"$PAYLOAD\" >&- 2>&-",
        "\"$SPL\" session hook <\"$PAYLOAD\" >/dev/null 2>/dev/full",
    ]
    .iter()
    .enumerate()
    {
        let payload = house.path("payload.json");
        std::fs::write(&payload, failed(&format!("toolu_{number}"))).expect("written");
        let mut shell = house.program("bash");
        shell.args(["-c", line]).env("SPL", env!("CARGO_BIN_EXE_spl")).env("PAYLOAD", payload);
        Ended::of(&shell.output().expect("a shell"));
        assert_eq!(house.count("core.session.tool.v1"), number + 1, "{line}");
    }
}

#[test]
fn nothing_is_read_where_there_is_nothing_to_read() {
    let house = House::taught();
    for line in ["\"$SPL\" session hook <&-", "\"$SPL\" session hook </dev/null"] {
        let mut shell = house.program("bash");
        shell.args(["-c", line]).env("SPL", env!("CARGO_BIN_EXE_spl")).stdin(Stdio::null());
        Ended::of(&shell.output().expect("a shell")).complaint();
    }
}
