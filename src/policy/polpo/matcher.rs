//! What a hook is about (contract §3).

use super::{Event, Invocation, Pattern, Surface};

/// What a hook is about. Where a list is empty, everything is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matcher {
    /// Keys of nodes of a loop.
    pub steps: Vec<Pattern>,
    /// Names of tools.
    pub tools: Vec<Pattern>,
    /// Names of loops.
    pub loops: Vec<Pattern>,
    /// Names of agents.
    pub agents: Vec<Pattern>,
    /// Surfaces.
    pub surfaces: Vec<Surface>,
}

impl Matcher {
    /// Returns whether a hook is about this. Entries of one list are alternatives; of the lists, each
    /// has to match.
    pub fn matches(&self, invocation: &Invocation, event: Event, tool: Option<&str>) -> bool {
        // Outside of a loop there is no node to match.
        let at_node = invocation.surface == Surface::Loop;
        let of_node = |name: &Option<String>, patterns: &[Pattern]| {
            matches_any(patterns, name.as_deref().filter(|_| at_node))
        };
        of_node(&invocation.step_key, &self.steps)
            && of_node(&invocation.loop_name, &self.loops)
            && matches_any(&self.agents, Some(&invocation.agent))
            && (self.surfaces.is_empty() || self.surfaces.contains(&invocation.surface))
            && (!event.is_of_a_tool() || matches_any(&self.tools, tool))
    }
}

fn matches_any(patterns: &[Pattern], name: Option<&str>) -> bool {
    patterns.is_empty()
        || name.is_some_and(|name| patterns.iter().any(|pattern| pattern.matches(name)))
}
