//! Which hooks are asked, and in which order (contract §5).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Event, Invocation, Mode, Pack, PackHook, Scope};

/// A pack, and how it came to an invocation. Those of one scope stand in the order of its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    /// By way of what.
    pub scope: Scope,
    /// The pack.
    pub pack: Arc<Pack>,
}

/// A hook that an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selected<'a> {
    /// By way of what its pack came.
    pub scope: Scope,
    /// Its pack.
    pub pack: &'a Pack,
    /// The hook.
    pub hook: &'a PackHook,
}

/// The hooks that an event is for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection<'a> {
    /// Those that decide, in the order in which they are asked.
    pub control: Vec<Selected<'a>>,
    /// Those that are told, in the same order. They are told at once.
    pub observe: Vec<Selected<'a>>,
    /// Those that would be among them if they were enabled. One that carries a gate blocks.
    pub disabled: Vec<Selected<'a>>,
}

impl<'a> Selection<'a> {
    /// Returns the gates among those that decide.
    pub fn gates(&self) -> impl Iterator<Item = Selected<'a>> + '_ {
        self.control.iter().copied().filter(|selected| selected.hook.gate.is_some())
    }

    /// Returns a gate that is set up and is not enabled, if there is one.
    pub fn disabled_gate(&self) -> Option<Selected<'a>> {
        self.disabled.iter().copied().find(|selected| selected.hook.gate.is_some())
    }
}

/// Selects the hooks that an event of an invocation is for: by scope, the broadest first; then by
/// priority, the lowest first; then as they are declared.
pub fn select<'a>(
    assigned: &'a [Assigned],
    invocation: &Invocation,
    event: Event,
    tool: Option<&str>,
) -> Selection<'a> {
    let mut found: Vec<Selected<'a>> = once_each(assigned)
        .flat_map(|(scope, pack)| pack.hooks.iter().map(move |hook| Selected { scope, pack, hook }))
        .filter(|it| it.hook.event == event && it.hook.matcher.matches(invocation, event, tool))
        .collect();
    // Stable: of equals, what was declared first stays first.
    found.sort_by_key(|selected| (selected.scope, selected.hook.priority));
    let mut selection = Selection::default();
    for selected in found {
        let hook = selected.hook;
        match hook.mode {
            _ if !hook.enabled => selection.disabled.push(selected),
            Mode::Control => selection.control.push(selected),
            Mode::Observe => selection.observe.push(selected),
        }
    }
    selection
}

/// Returns each pack once, in the broadest scope by which it came.
fn once_each(assigned: &[Assigned]) -> impl Iterator<Item = (Scope, &Pack)> {
    let mut broadest: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, own) in assigned.iter().enumerate() {
        let kept = broadest.entry(own.pack.name.as_str()).or_insert(at);
        if assigned.get(*kept).is_some_and(|kept| own.scope < kept.scope) {
            *kept = at;
        }
    }
    let is_kept =
        move |(at, own): &(usize, &Assigned)| broadest.get(own.pack.name.as_str()) == Some(at);
    assigned.iter().enumerate().filter(is_kept).map(|(_, own)| (own.scope, &*own.pack))
}
