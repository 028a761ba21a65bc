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
fn a_check_shows_the_place_in_any_writing() {
    let mut terminal = Terminal::new();
    let long = ["record.clock > 1"; 12].join(" || ");
    terminal.session(&[
        "spl expr check 'record.body.tool == \"日本語\" + 1' --context hook",
        "spl expr check 'record.body.tool == \"e\u{301}\" + 1' --context hook",
        "spl expr check 'record.body.tool == \"bash\" &&\n\trecord.body.sttus != \"ok\" &&\n\ttrue' --context hook",
        &format!("spl expr check '{long} || tol' --context hook"),
        "spl expr check 'has(record.body.args[\"path\"])' --context hook",
        "spl expr check 'record.body.tool == \"a\" and true' --context hook",
        "spl expr check 'record.body.args.path.matches(\"*.rs\")' --context hook",
        "spl expr check 'record.body.tool == 3' --context hook",
        "spl expr check 'record.clock + \"x\" == \"y\"' --context hook",
        "spl expr check '\"record.body.tool\"' --context hook",
        "spl expr check 'records.size() > 3' --context hook",
        "spl expr check 'record.body.content.matches(record.body.tool)' --context hook",
    ]);
    assert_session!(terminal);
}

#[test]
fn what_is_odd_is_warned_of_and_valid() {
    let mut terminal = Terminal::new();
    terminal.session(&[
        "spl expr check 'record.body.tool == \"mcp__notes\" && record.body.status == \"failed\"' --context hook",
        "spl expr check 'resource == \"bash\"' --context hook",
        "spl expr check 'record.body.tol == \"bash\"' --context permission",
        "spl -o json expr check 'size(record.body.content) > 5000' --context hook",
    ]);
    assert_session!(terminal);
}

#[test]
fn an_evaluation_explains_itself() {
    let mut terminal = Terminal::new();
    let body = r#"{"tool":"bash","args":{"paths":["a.py","b.rs","c.py","d.py","e.rs"]},"status":"error","content":"no rule"}"#;
    let long = body.replace("no rule", &"a long answer ".repeat(20));
    terminal.write("call.json", &format!("{{\"body\":{body}}}"));
    terminal.write("long.json", &format!("{{\"body\":{long}}}"));
    terminal.session(&[
        "spl expr eval 'record.body.tool == \"sh\" && now() > 1 || record.body.args.paths.all(p, p.endsWith(\".py\") || p.size() == 4)' --context hook --record @call.json --explain",
        "spl expr eval 'record.body.content.contains(\"error\") || size(record.body.args.paths.filter(p, p > \"b\")) > 2' --context hook --record @long.json --explain",
        "spl expr eval 'record.body.args.path.startsWith(\"/etc\")' --context hook --record @call.json --explain",
        "spl expr eval 'record.body.status' --context hook --record @call.json --explain",
        "spl -o json expr eval 'record.body.status != \"ok\"' --context hook --record @call.json --explain",
        "spl -o json expr eval 'record.body.args.none == 1' --context hook --explain",
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
