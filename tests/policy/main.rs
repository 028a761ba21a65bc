//! The cases of the Polyglot dialect (contract-polyglot §17), each a file of
//! `fixtures/policy/polyglot/cases/`, driven with a real shell.

mod case_runs;
mod cases;
mod desk;
mod dispatch;
mod each;
#[path = "../tool/group.rs"]
mod group;
mod hostile;
#[path = "../it/overheard.rs"]
mod overheard;
mod runs;
mod stage;

use std::collections::BTreeSet;

use cases::{Case, Run, RunExpect, Surface, cases};

#[test]
fn every_case_of_the_contract_is_there_once() {
    let ids: Vec<String> = cases().map(|case| case.id).collect();
    let want: BTreeSet<String> = (1..=89).map(|number| format!("Y{number:02}")).collect();
    assert_eq!(ids.len(), want.len(), "{ids:?}");
    assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), want);
}

#[test]
fn a_case_says_what_its_surface_needs() {
    for Case { id, about, basis, surface, why, dispatch, run, command, .. } in cases() {
        assert!(!about.is_empty(), "{id}");
        assert!(basis.split('/').all(|tag| ["S", "E", "M", "R"].contains(&tag)), "{id}: {basis}");
        assert_eq!(why.is_some(), surface == Surface::NotApplicable, "{id}");
        match surface {
            Surface::Dispatch => assert!(!dispatch.is_empty(), "{id}"),
            Surface::Run => {
                let run = run.expect(&id);
                assert_ne!(run, Run::default(), "{id}");
                assert_ne!(run.expect, RunExpect::default(), "{id}");
            }
            Surface::Command => assert!(command.is_some(), "{id}"),
            Surface::NotApplicable => assert!(dispatch.is_empty(), "{id}"),
        }
    }
}
