//! Nothing comes out of a place, and what is to work in it does.

use std::fs;

use crate::stand::{SECRET, Stand, ways};

/// Tries `attack` outside and in every kind of place.
#[track_caller]
fn check(attack: &str) {
    let stand = Stand::new();
    let outside = stand.report_outside(attack);
    assert!(outside.iter().all(|line| line.starts_with("breach: ")), "{outside:#?}");
    for way in ways() {
        let report = stand.report_of(attack, way);
        assert!(report.len() >= outside.len(), "{report:#?}");
        let breaches: Vec<&String> =
            report.iter().filter(|line| !line.starts_with("held: ")).collect();
        assert!(breaches.is_empty(), "{way}: {breaches:#?}");
    }
}

#[test]
fn nothing_is_reached_over_a_network_or_a_socket() {
    check("connects");
}

#[test]
fn nothing_is_read_but_the_system_and_the_workspace() {
    check("reads");
}

#[test]
fn nothing_is_written_but_the_workspace() {
    let stand = Stand::new();
    for way in ways() {
        let report = stand.report_of("writes", way);
        let breaches: Vec<&String> =
            report.iter().filter(|line| !line.starts_with("held: ")).collect();
        assert!(breaches.is_empty(), "{way}: {breaches:#?}");
        let names = fs::read_dir(stand.path("outside")).expect("read").flatten();
        let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, ["notes", "sock"]);
        assert_eq!(fs::read_to_string(stand.path("outside/notes")).expect("read"), SECRET);
        assert!(!stand.path("home/beside").exists());
    }
    let outside = stand.report_outside("writes");
    assert!(stand.path("home/beside").exists());
    assert!(outside.iter().all(|line| line.starts_with("breach: ")), "{outside:#?}");
}

#[test]
fn a_program_works_in_its_workspace_with_what_it_was_given() {
    let stand = Stand::new();
    for way in ways() {
        let report = stand.report_of("works", way);
        let none = "0000000000000000";
        let [permitted, effective, privileges, names] = report.as_slice() else {
            panic!("{report:#?}");
        };
        assert_eq!(*permitted, format!("CapPrm: {none}"), "{way}");
        assert_eq!(*effective, format!("CapEff: {none}"), "{way}");
        assert_eq!(privileges, "NoNewPrivs: 1", "{way}");
        let mut names: Vec<&str> = names.split(' ').skip(1).filter(|name| *name != "PWD").collect();
        names.sort_unstable();
        let given = "ABSTRACT BYSTANDER ENGINE HOME HOMES OUTSIDE PATHNAME TCP TMPDIR UDP";
        assert_eq!(names.join(" "), given, "{way}");
        let moved = stand.path("home/project/a/b/moved");
        assert_eq!(fs::read_to_string(moved).expect("what was made inside is there"), "x");
        fs::remove_dir_all(stand.path("home/project/a")).expect("it is ours");
    }
}
