//! Checking and evaluating expressions.

use crate::terminal::{Terminal, assert_session};

#[test]
fn a_check_points_at_what_is_wrong() {
    let mut terminal = Terminal::new();
    terminal.session(&[
        "spl expr check 'record.body.tool == \"bash\"' --context hook",
        "spl expr check 'trust(record.actor, \"ops\") > 0.5' --context permission",
        "spl expr check 'record.body.tool == \"a\" && record.body.sttus != \"ok\"' --context hook",
        "spl expr check 'record.body.tool == ' --context hook",
        "spl expr check '\"ünïcödé\" + 1 == \"x\"' --context hook",
        "spl expr check '1 + 1' --context hook",
        "spl expr check '' --context hook",
        "spl expr check '-1 < 0' --context hook",
        "spl expr check 'true' --context trigger",
        "spl expr check 'true'",
        "spl -o json expr check 'true' --context hook",
        "spl -o json expr check '1 +' --context hook",
        "ls -A",
    ]);
    assert_session!(terminal);
}

#[test]
fn an_expression_is_evaluated_over_a_record() {
    let mut terminal = Terminal::with_instance();
    let body = r#"{"tool":"bash","args":{"command":"make"},"status":"error","content":"no rule"}"#;
    terminal.write("call.json", &format!("{{\"body\":{body}}}"));
    terminal.session(&[
        "spl expr eval 'record.body.status != \"ok\"' --context hook --record @call.json",
        "spl expr eval 'record.body.args.command' --context hook --record @call.json",
        "spl expr eval 'record.body.args.missing == 1' --context hook --record @call.json",
        "cat call.json | spl expr eval 'size(record.body.content)' --context hook --record -",
        "spl know hello --thread th_x >/dev/null",
        "spl -o stream-json thread records th_x >record.json",
        "spl expr eval 'record.act + record.body.text' --context permission --record @record.json",
        "spl expr eval 'record.body.' --context hook --record @call.json",
        "spl expr eval 'true' --context hook --record '[]'",
        "spl -o json expr eval '[1, 2].map(x, x * 2)' --context hook",
    ]);
    assert_session!(terminal);
}
