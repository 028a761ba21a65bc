//! The hooks that may have something to say about one call.
//!
//! A process that has the live configuration asks that. One that lives for a single call reads the
//! index of the store instead and compiles what it finds there, which gives the same words: a hook
//! that no key of the index fits would not hold, and would not fail either.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::live::see_clocks;
use super::{Engine, EngineError, Live};
use crate::hook::{Hook, HookSet, InForce, ReturnedCall, head};
use crate::predicate::{Place, PlaceName, SearchKey};
use crate::record::{Draft, Namespace, RecordId};
use crate::store::{IndexedHook, Reader, StoreError};

/// The hooks that may have something to say about a call.
#[derive(Debug, Clone)]
pub struct Concerned {
    /// The hooks, and perhaps others.
    pub hooks: HookSet,
    /// Whether one of them may look at the clock of the call.
    pub see_clocks: bool,
}

impl From<&Live> for Concerned {
    fn from(live: &Live) -> Self {
        Self { hooks: live.hooks.clone(), see_clocks: live.see_clocks() }
    }
}

impl Engine {
    /// Returns the hooks that may have something to say about `call` in `namespace`, and perhaps
    /// others. Asking them gives the words that asking all of them does.
    pub fn hooks_about(
        &self,
        call: &ReturnedCall<'_>,
        namespace: &Namespace,
    ) -> Result<Concerned, EngineError> {
        if self.is_live() {
            return Ok(Concerned::from(&*self.live()?));
        }
        let indexed = self.whole().read(|reader| indexed(reader, call, namespace))?;
        match indexed {
            Some(drafts) => Ok(self.compiled(&drafts)),
            None => self.index(),
        }
    }

    /// Compiles hooks that stand in the index: they have passed the validator.
    fn compiled(&self, drafts: &[(RecordId, Draft)]) -> Concerned {
        let in_force = |(id, draft): &(RecordId, Draft)| {
            let hook = Hook::check_with(draft, self.expressions()).ok()?;
            Some(InForce { hook: Arc::new(hook), record_id: Some(*id) })
        };
        let hooks = HookSet::new(drafts.iter().filter_map(in_force));
        Concerned { see_clocks: see_clocks(&hooks), hooks }
    }

    /// Folds the configuration, and writes the index for those who come later.
    fn index(&self) -> Result<Concerned, EngineError> {
        let live = self.live()?;
        let (as_of, entries) = (live.config.watermark().sequence(), entries(&live));
        self.whole().write(move |tx| tx.index_hooks(as_of, &entries).map_err(EngineError::from))?;
        Ok(Concerned::from(&*live))
    }
}

/// Returns the records of the hooks that a call may concern; `None` if the index is behind.
fn indexed(
    reader: &Reader<'_>,
    call: &ReturnedCall<'_>,
    namespace: &Namespace,
) -> Result<Option<Vec<(RecordId, Draft)>>, StoreError> {
    if !reader.has_hook_index()? {
        return Ok(None);
    }
    let (tool, resource) = (format!("tool={}", call.tool), format!("resource={}", call.resource));
    let mut found = BTreeMap::new();
    for entry in reader.hooks_at(["*", &tool, &resource])? {
        if fits(&entry, call) && namespace.lineage().any(|path| path == entry.namespace) {
            found.insert((entry.namespace, entry.name), entry.record);
        }
    }
    let mut drafts = Vec::with_capacity(found.len());
    for id in found.into_values() {
        drafts.extend(reader.indexed_draft(id)?.map(|draft| (id, draft)));
    }
    Ok(Some(drafts))
}

/// Tells whether a call is what an entry asks for, as far as the look-up has not seen to it.
fn fits(entry: &IndexedHook, call: &ReturnedCall<'_>) -> bool {
    let begins = match entry.place.split_once('^') {
        Some(("tool", beginning)) => call.tool.starts_with(beginning),
        Some(("resource", beginning)) => call.resource.starts_with(beginning),
        _ => true,
    };
    begins
        && entry.status.as_ref().is_none_or(|status| status == call.status)
        && entry.needle.as_ref().is_none_or(|needle| head(call.content).contains(needle.as_str()))
}

fn entries(live: &Live) -> Vec<IndexedHook> {
    let mut entries = Vec::new();
    for in_force in live.hooks.iter() {
        let Some(record) = in_force.record_id else { continue };
        let key = in_force.hook.key();
        let entry = |search: &SearchKey| IndexedHook {
            place: place(&search.place),
            status: search.status.as_deref().map(str::to_owned),
            needle: search.needle.as_deref().map(str::to_owned),
            namespace: key.namespace.as_str().to_owned(),
            name: key.name.to_string(),
            record,
        };
        entries.extend(in_force.hook.when().search_keys().iter().map(entry));
    }
    entries
}

fn place(place: &Place) -> String {
    let named = |what: &str, name: &PlaceName| match name {
        PlaceName::Is(name) => format!("{what}={name}"),
        PlaceName::StartsWith(beginning) => format!("{what}^{beginning}"),
    };
    match place {
        Place::Anywhere => "*".to_owned(),
        Place::Tool(name) => named("tool", name),
        Place::Resource(name) => named("resource", name),
    }
}
