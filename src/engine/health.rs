//! What the engine says about itself (contract §2.7).

use std::sync::atomic::Ordering;

use super::{Engine, EngineError};
use crate::canon::{Object, Value};
use crate::config::{HookRow, Refusal};
use crate::object;
use crate::record::Namespace;
use crate::store::{HookCounters, StoreError};

impl Engine {
    /// Returns the body of `GET /v1/engine/health`. The live set is brought up to date first.
    pub fn health(&self) -> Result<Object, EngineError> {
        let live = self.live()?;
        let (records, bytes) =
            self.whole().read(|reader| Ok((reader.last()?.get(), reader.size_bytes()?)))?;
        Ok(object! {
            "object": "engine_health",
            "decisions_pending": self.ledger()?.pending(),
            "ingested_total": self.0.ingested.load(Ordering::Relaxed),
            "uptime_secs": self.0.up.elapsed().as_secs(),
            "work_loop": object! {
                "hooks_builtin": live.config.hooks_builtin(),
                "hooks_loaded": live.config.hooks_loaded(),
                "member_transport": live.config.members_transport().as_str(),
                "transport": live.config.transport().as_str(),
            },
            "store": object! {
                "over_ceiling": false,
                "ceiling_bytes": Value::Null,
                "poisoned": self.whole().is_poisoned(),
                "records_total": records,
                "total_bytes": bytes,
            },
        })
    }

    /// Returns the rows of `GET /v1/config/hooks` (decision 5): what is in force, what was refused,
    /// and how often each was asked.
    pub fn hook_rows(&self) -> Result<Vec<Object>, EngineError> {
        let live = self.live()?;
        let rows = live.config.rows();
        Ok(self.whole().read(|reader| {
            let counters = reader.hook_counters()?;
            let namespaces = reader.seam_namespaces()?;
            let object = |row: &HookRow| -> Result<Object, StoreError> {
                let Ok(namespace) = Namespace::parse(&row.namespace) else {
                    return Ok(object_of(row, 0, &HookCounters::default()));
                };
                let mut asked = 0;
                for below in namespaces.iter().filter(|below| namespace.covers(below)) {
                    asked += reader.seam_calls(below, row.since)?;
                }
                let counted = counters.get(&(namespace, row.name.clone())).cloned();
                Ok(object_of(row, asked, &counted.unwrap_or_default()))
            };
            rows.iter().map(object).collect()
        })?)
    }

    /// Returns how many seconds this engine has been open.
    pub fn uptime_secs(&self) -> u64 {
        self.0.up.elapsed().as_secs()
    }
}

fn object_of(row: &HookRow, asked: u64, counted: &HookCounters) -> Object {
    object! {
        "asked": asked,
        "compiled": row.compiled,
        "enabled": row.enabled,
        "errors": counted.failed.total(),
        "errors_by_kind": object! {
            "error": counted.failed.error,
            "not_boolean": counted.failed.not_boolean,
            "over_budget": counted.failed.over_budget,
            "panicked": counted.failed.panicked,
            "too_large": counted.failed.too_large,
        },
        "fires": counted.fires,
        "last_fire": counted.last_fire.map(|at| at.to_string()),
        "loaded": row.loaded,
        "matched": counted.matched,
        "name": row.name.as_str(),
        "namespace": row.namespace.as_str(),
        "object": "hook",
        "overruns": counted.failed.overruns(),
        "record_id": row.record_id,
        "refused": row.refused.as_ref().map(refusal),
        "source": row.source.as_str(),
        "timing": object! {
            "mean_nanos": counted.mean_nanos(),
            "nanos": counted.nanos,
            "samples": counted.samples,
        },
    }
}

pub(super) fn refusal(refusal: &Refusal) -> Object {
    object! {
        "code": refusal.code.as_str(),
        "column": refusal.column,
        "field": refusal.field.as_deref(),
        "hint": refusal.hint.as_deref(),
        "message": refusal.message.as_str(),
        "reason": refusal.reason,
        "record_id": refusal.record_id,
    }
}
