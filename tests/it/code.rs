//! The table of codes: a contract with programs, so that a diff is a change of it.

use spl::code::Code;

#[test]
fn the_table_of_codes() {
    let rows: Vec<String> =
        Code::ALL.iter().map(|code| format!("{:<26}{:?}", code.as_str(), code.class())).collect();
    insta::assert_snapshot!(rows.join("\n"));
}

#[test]
fn a_code_is_spelled_once() {
    let mut names: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Code::ALL.len());
}
