//! The engines that are compared, all asked alike.

use super::calls::Call;
use super::hooks::Hook;
use super::{cedar, cel, rego, spl_set};

/// An engine that has loaded hooks.
pub trait Loaded {
    /// Puts the numbers of the hooks that hold of a call into `hits`.
    ///
    /// What an engine needs of a call in a form of its own is made here, once for all hooks, as
    /// its users do it.
    fn ask(&mut self, call: &Call, hits: &mut Vec<usize>);
}

/// An engine.
pub struct Rival {
    pub name: &'static str,
    /// Loads hooks.
    pub load: fn(&[Hook]) -> Box<dyn Loaded>,
    /// Tells whether it can express a hook.
    pub can: fn(&Hook) -> bool,
}

/// Every engine of this process. The first is ours, the second what it is measured against.
pub const RIVALS: [Rival; 4] = [
    Rival { name: "spl", load: spl_set::load, can: |_| true },
    Rival { name: "cel", load: cel::load, can: |_| true },
    Rival { name: "cedar-policy", load: cedar::load, can: |hook| hook.cedar().is_some() },
    Rival { name: "regorus", load: rego::load, can: |_| true },
];

/// Returns the numbers of the hooks that hold of each call, ascending.
pub fn hits(loaded: &mut dyn Loaded, calls: &[Call]) -> Vec<Vec<usize>> {
    let hits = |call| {
        let mut hits = Vec::new();
        loaded.ask(call, &mut hits);
        hits.sort_unstable();
        hits
    };
    calls.iter().map(hits).collect()
}
