//! Which hooks an event is for, and in which order.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use spl::policy::polpo::{
    Assigned, Event, Invocation, Pack, PackName, Pattern, Scope, Selected, Surface, read_pack,
    select,
};

use crate::cases::{Invoked, Selecting, cases, fixtures, text_of};

fn pack(name: &str, value: &Value) -> Arc<Pack> {
    let name = PackName::parse(name).expect("a name");
    let reading = read_pack(&name, text_of(value).as_bytes(), &[]);
    Arc::new(reading.pack.unwrap_or_else(|| panic!("{:?}", reading.findings)))
}

fn invocation(of: Invoked) -> Invocation {
    let surface = Surface::parse(&of.surface).expect("a surface");
    Invocation {
        loop_name: of.loop_name,
        step_key: of.step_key,
        ..Invocation::of(surface, of.agent.as_deref().unwrap_or("coder"))
    }
}

fn names(selected: &[Selected<'_>]) -> Vec<String> {
    selected.iter().map(|it| format!("{}/{}", it.pack.name, it.hook.id)).collect()
}

#[test]
fn every_case_selects_what_it_says() {
    let mut seen = 0;
    for case in cases() {
        for (at, selecting) in case.select.into_iter().enumerate() {
            seen += 1;
            let Selecting {
                packs,
                assigned,
                invocation: invoked,
                event,
                tool,
                control,
                observe,
                disabled,
            } = selecting;
            let packs: BTreeMap<&str, Arc<Pack>> =
                packs.iter().map(|(name, value)| (name.as_str(), pack(name, value))).collect();
            let assigned: Vec<Assigned> = assigned
                .iter()
                .map(|(scope, name)| Assigned {
                    scope: Scope::parse(scope).expect("a scope"),
                    pack: Arc::clone(&packs[name.as_str()]),
                })
                .collect();
            let event = Event::parse(&event).expect("an event");
            let selection = select(&assigned, &invocation(invoked), event, tool.as_deref());
            assert_eq!(names(&selection.control), control, "{}[{at}]", case.id);
            assert_eq!(names(&selection.observe), observe, "{}[{at}]", case.id);
            assert_eq!(names(&selection.disabled), disabled, "{}[{at}]", case.id);
        }
    }
    assert!(seen > 10);
}

#[test]
fn patterns_are_read_as_the_table_has_it() {
    let text = std::fs::read_to_string(fixtures().join("patterns.json")).expect("the table");
    let table: Vec<(String, String, bool)> = serde_json::from_str(&text).expect("a table");
    assert!(table.len() > 20);
    for (pattern, name, matches) in table {
        let read = Pattern::new(&pattern).expect("a pattern");
        assert_eq!(read.matches(&name), matches, "`{pattern}` and `{name}`");
    }
    assert!(Pattern::new(" \t").is_err());
}
