//! Whether an invocation with a gate may begin.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use spl::engine::Settings;
use spl::policy::polpo::combine::Control;
use spl::policy::polpo::gate::{Configured, Handling, Limits, Standing, precondition};
use spl::policy::polpo::{
    Assigned, Event, Invocation, PackName, Runtime, Scope, Surface, read_pack, select,
};

use crate::cases::{cases, text_of};

/// A host, a pack, and how an invocation stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beginning {
    /// The text of the host's `config.toml`.
    #[serde(default)]
    config: String,
    kill_switch: Option<String>,
    /// The pack `quality`.
    pack: Value,
    #[serde(default)]
    parallel: bool,
    /// How many hooks of it decide without a gate.
    #[serde(default)]
    ordinary: usize,
    /// Whether the agent may not use the tools that validate.
    #[serde(default)]
    tool_refused: bool,
    /// Why it may not, as code and cause; null, if it may.
    refused: Option<(String, Option<String>)>,
}

#[test]
fn what_keeps_an_invocation_from_beginning() {
    let mut seen = 0;
    for case in cases() {
        for (at, beginning) in case.begin.iter().enumerate() {
            seen += 1;
            let id = format!("{} begin[{at}]", case.id);
            let settings = Settings::parse(&beginning.config).expect(&id);
            let runtime = Runtime::new(&settings.runtime, beginning.kill_switch.as_deref());
            let found = begins(&id, beginning, &runtime);
            assert_eq!(found, beginning.refused, "{id}");
        }
    }
    assert!(seen > 4);
}

fn begins(id: &str, of: &Beginning, runtime: &Runtime) -> Option<(String, Option<String>)> {
    let name = PackName::parse("quality").expect("a name");
    let reading = read_pack(&name, text_of(&of.pack).as_bytes(), &[]);
    let pack = Arc::new(reading.pack.unwrap_or_else(|| panic!("{id}: {:?}", reading.findings)));
    let assigned = [Assigned { scope: Scope::Agent, pack }];
    let invocation = Invocation { parallel: of.parallel, ..Invocation::of(Surface::Run, "coder") };
    let selection = select(&assigned, &invocation, Event::TurnStop, None);
    // A gate is asked on its own, and never as one of those whose word is one of many.
    let ordinary = Control::ordinary(&selection);
    assert_eq!(ordinary.len() + selection.gates().count(), selection.control.len(), "{id}");
    assert_eq!(ordinary.len(), of.ordinary, "{id}");
    let handling = if of.tool_refused { Handling::ToolRefused } else { Handling::Able };
    let off = selection.disabled.iter().copied().filter(|it| it.hook.gate.is_some());
    let gates: Vec<_> =
        selection.gates().chain(off).map(|it| Configured::of(it.hook, handling)).collect();
    let limits = Limits::of(selection.gates().filter_map(|it| it.hook.gate), 20);
    assert!(limits.is_some() || !gates.iter().any(|gate| gate.enabled), "{id}");
    let standing = Standing { durable: true, parallel: invocation.parallel };
    let failure = precondition(runtime, standing, &gates).err()?;
    let cause = failure.cause.map(|cause| cause.as_str().to_owned());
    Some((failure.code.as_str().to_owned(), cause))
}
