//! The cases of the Polpo dialect (contract-polpo §21), each a file of `fixtures/policy/polpo/cases/`,
//! and a corpus of packs.

mod begin;
mod capabilities;
mod cases;
mod corpus;
mod decide;
mod deploy;
#[path = "../policy/each.rs"]
mod each;
mod envelope;
mod gate;
mod keys;
mod outcome;
mod select;
mod validate;

use cases::{Case, Surface, cases};

#[test]
fn a_case_is_one_of_the_contract() {
    for Case { id, .. } in cases() {
        let number: usize = id.strip_prefix('P').and_then(|number| number.parse().ok()).expect(&id);
        assert!((1..=135).contains(&number), "{id}");
        assert_eq!(id, format!("P{number:02}"));
    }
}

#[test]
fn a_case_says_what_its_surface_needs() {
    for case in cases() {
        let Case { id, about, basis, surface, validate, select, capabilities, .. } = case;
        let Case { decide, keys, gate, begin, .. } = case;
        assert!(!about.is_empty(), "{id}");
        assert!(basis.split('/').all(|tag| ["S", "E", "R"].contains(&tag)), "{id}: {basis}");
        let says = match surface {
            Surface::Validate => !validate.is_empty(),
            Surface::Select => !select.is_empty(),
            Surface::Capabilities => !capabilities.is_empty(),
            Surface::Decide => !decide.is_empty(),
            Surface::Keys => !keys.is_empty(),
            Surface::Gate => !gate.is_empty(),
            Surface::Begin => !begin.is_empty(),
        };
        assert!(says, "{id}");
    }
}
