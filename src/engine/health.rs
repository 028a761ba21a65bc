//! What the engine says about itself (contract §2.7).

use std::sync::atomic::Ordering;

use super::{Engine, EngineError};
use crate::canon::{Object, Value};
use crate::object;

impl Engine {
    /// Returns the body of `GET /v1/engine/health`. The live set is brought up to date first.
    pub fn health(&self) -> Result<Object, EngineError> {
        let live = self.live()?;
        let (records, bytes) =
            self.store().read(|reader| Ok((reader.last()?.get(), reader.size_bytes()?)))?;
        Ok(object! {
            "object": "engine_health",
            "ingested_total": self.0.ingested.load(Ordering::Relaxed),
            "uptime_secs": self.0.up.elapsed().as_secs(),
            "work_loop": object! {
                "hooks_builtin": live.config.hooks_builtin(),
                "hooks_loaded": live.config.hooks_loaded(),
                "member_transport": "in_process",
                "transport": "in_process",
            },
            "store": object! {
                "over_ceiling": false,
                "ceiling_bytes": Value::Null,
                "poisoned": self.store().is_poisoned(),
                "records_total": records,
                "total_bytes": bytes,
            },
        })
    }

    /// Returns the rows of `GET /v1/config/hooks` (decision 5): what is in force, what was refused,
    /// and how often each was asked.
    pub fn hook_rows(&self) -> Result<Vec<Object>, EngineError> {
        let live = self.live()?;
        let counters = self.store().read(|reader| reader.hook_counters())?;
        let row = |row: crate::config::HookRow| {
            let key = (row.key.namespace.clone(), row.key.name.to_string());
            let counted = counters.get(&key).cloned().unwrap_or_default();
            let mut object = row.to_object();
            object.extend(object! {
                "asked": counted.asked,
                "errors": counted.errors,
                "fires": counted.fires,
                "last_fire": counted.last_fire.map(|at| at.to_string()),
                "matched": counted.matched,
                "overruns": counted.overruns,
            });
            object
        };
        Ok(live.config.rows().into_iter().map(row).collect())
    }

    /// Returns how many seconds this engine has been open.
    pub fn uptime_secs(&self) -> u64 {
        self.0.up.elapsed().as_secs()
    }
}
