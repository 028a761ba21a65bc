//! Compiled expressions, kept for the next time (contract §4.4).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::canon::{Object, Value};
use crate::object;
use crate::predicate::{Context, Expression, PredicateError};
use crate::time::Stopwatch;

/// How many are kept.
const CAPACITY: usize = 1024;

/// The expressions that were used last, and how often that helped.
#[derive(Default)]
pub(in crate::http) struct ExpressionCache(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    entries: HashMap<(Context, String), Entry>,
    uses: u64,
    hits: u64,
    misses: u64,
    compile_errors: u64,
    compile_micros: u128,
}

struct Entry {
    expression: Expression,
    last_used: u64,
}

impl ExpressionCache {
    /// Returns `source`, compiled for `context`.
    pub(in crate::http) fn get(
        &self,
        context: Context,
        source: &str,
    ) -> Result<Expression, PredicateError> {
        let key = (context, source.to_owned());
        if let Some(expression) = self.with(|kept| kept.find(&key)) {
            return Ok(expression);
        }
        // Not under the lock: compiling takes a thousand times longer than looking up.
        let took = Stopwatch::start();
        let compiled = Expression::compile(source, context);
        let micros = took.elapsed().as_micros();
        self.with(|kept| {
            kept.compile_micros += micros;
            match &compiled {
                Ok(expression) => kept.keep(key, expression.clone()),
                Err(_) => kept.compile_errors += 1,
            }
        });
        compiled
    }

    /// Returns the counters.
    pub(in crate::http) fn stats(&self) -> Object {
        self.with(|kept| {
            let asked = kept.hits + kept.misses;
            object! {
                "object": "expression_cache",
                "hits": kept.hits,
                "misses": kept.misses,
                "compile_errors": kept.compile_errors,
                "hit_rate_pct": ratio(kept.hits.into(), asked, 100.0),
                "avg_compile_micros": ratio(kept.compile_micros, kept.misses, 1.0),
                "size": kept.entries.len(),
                "capacity": CAPACITY,
            }
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Kept) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Kept {
    fn find(&mut self, key: &(Context, String)) -> Option<Expression> {
        self.uses += 1;
        let found = self.entries.get_mut(key).map(|entry| {
            entry.last_used = self.uses;
            entry.expression.clone()
        });
        match found {
            Some(_) => self.hits += 1,
            None => self.misses += 1,
        }
        found
    }

    fn keep(&mut self, key: (Context, String), expression: Expression) {
        if self.entries.len() >= CAPACITY
            && let Some(oldest) = self.oldest()
        {
            self.entries.remove(&oldest);
        }
        self.entries.insert(key, Entry { expression, last_used: self.uses });
    }

    /// Looks through all of them, which a compilation takes longer than.
    fn oldest(&self) -> Option<(Context, String)> {
        let (key, _) = self.entries.iter().min_by_key(|(_, entry)| entry.last_used)?;
        Some(key.clone())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn ratio(part: u128, whole: u64, scale: f64) -> Value {
    if whole == 0 {
        return Value::from(0);
    }
    Value::from_float((part as f64 * scale / whole as f64 * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_is_kept() {
        let cache = ExpressionCache::default();
        let get = |number: usize| {
            cache.get(Context::Permission, &format!("{number} + 1")).expect("compiled");
        };
        (0..CAPACITY).for_each(get);
        get(0);
        get(CAPACITY);
        assert!(cache.get(Context::Permission, "1 +").is_err());
        let stats = |key: &str| cache.stats().get(key).and_then(Value::as_u64);
        assert_eq!(stats("size"), Some(1024));
        assert_eq!(stats("hits"), Some(1));
        assert_eq!(stats("misses"), Some(1026));
        assert_eq!(stats("compile_errors"), Some(1));
        // The one that was used again has stayed; the one after it has made room.
        get(0);
        assert_eq!(stats("hits"), Some(2));
        get(1);
        assert_eq!(stats("hits"), Some(2));
    }

    #[test]
    fn one_source_in_two_contexts_is_two_expressions() {
        let cache = ExpressionCache::default();
        for context in [Context::Hook, Context::Permission] {
            cache.get(context, "record.body.tool == \"bash\"").expect("compiled");
        }
        assert_eq!(cache.stats().get("hits"), Some(&Value::from(0)));
    }
}
