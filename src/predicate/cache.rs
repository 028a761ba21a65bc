//! Compiled expressions, kept for the next time that somebody brings the same text.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hashlink::LruCache;

use super::check::bindings::Names;
use super::program::{Evaluator, Program, Purpose};
use super::{Context, Expression, Predicate, PredicateError};
use crate::time::Stopwatch;

/// How many are kept (contract §4.4).
const CAPACITY: usize = 1024;

/// How many bytes of compiled patterns are kept at most. One text of 2 KiB can stand for 20 MiB.
const MAX_PATTERNS: usize = 32 * 1024 * 1024;

/// The expressions that were used last, and how often that helped. One that is in use elsewhere is
/// shared and not copied.
#[derive(Default)]
pub struct ExpressionCache(Mutex<Kept>);

/// The counters of an [`ExpressionCache`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExpressionCacheStats {
    /// Times that what was wanted was there.
    pub hits: u64,
    /// Times that it had to be compiled.
    pub misses: u64,
    /// Of those, how often it could not be.
    pub compile_errors: u64,
    /// What compiling took, all in all.
    pub compile_nanos: u64,
    /// How many are kept.
    pub size: usize,
    /// How many may be.
    pub capacity: usize,
}

type Key = (Purpose, Context, Box<str>);

struct Kept {
    programs: LruCache<Key, Arc<Program>>,
    /// The bytes of the patterns of all of them.
    patterns: usize,
    counters: ExpressionCacheStats,
}

impl ExpressionCache {
    /// Returns the predicate that [`Predicate::compile`] does.
    pub fn predicate(&self, source: &str, context: Context) -> Result<Predicate, PredicateError> {
        let program = self.program(source, context, Purpose::Predicate)?;
        Ok(Predicate(program, context))
    }

    /// Returns the expression that [`Expression::compile`] does.
    pub fn expression(&self, source: &str, context: Context) -> Result<Expression, PredicateError> {
        let program = self.program(source, context, Purpose::Result)?;
        Ok(Expression { program, names: context })
    }

    fn program(
        &self,
        source: &str,
        context: Context,
        purpose: Purpose,
    ) -> Result<Arc<Program>, PredicateError> {
        let key = (purpose, context, source.into());
        if let Some(program) = self.with(|kept| kept.find(&key)) {
            return Ok(program);
        }
        // Not under the lock: compiling takes a thousand times longer than looking up.
        let took = Stopwatch::start();
        let names = Names::Of(context);
        let compiled = Program::compile(source, names, purpose, Evaluator::Fastest);
        let nanos = u64::try_from(took.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.with(|kept| {
            let counters = &mut kept.counters;
            counters.compile_nanos = counters.compile_nanos.saturating_add(nanos);
            counters.compile_errors += u64::from(compiled.is_err());
            compiled.map(|program| kept.keep(key, program))
        })
    }

    /// Returns the counters.
    pub fn stats(&self) -> ExpressionCacheStats {
        self.with(|kept| ExpressionCacheStats {
            size: kept.programs.len(),
            capacity: CAPACITY,
            ..kept.counters
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Kept) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for ExpressionCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExpressionCache").field(&self.stats()).finish()
    }
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            programs: LruCache::new_unbounded(),
            patterns: 0,
            counters: ExpressionCacheStats::default(),
        }
    }
}

impl Kept {
    fn find(&mut self, key: &Key) -> Option<Arc<Program>> {
        let found = self.programs.get(key).map(Arc::clone);
        let counter = match found {
            Some(_) => &mut self.counters.hits,
            None => &mut self.counters.misses,
        };
        *counter += 1;
        found
    }

    /// Keeps a program and returns it, or the one that somebody else was faster with.
    fn keep(&mut self, key: Key, program: Arc<Program>) -> Arc<Program> {
        if let Some(faster) = self.programs.get(&key) {
            return Arc::clone(faster);
        }
        self.patterns += program.pattern_bytes;
        self.programs.insert(key, Arc::clone(&program));
        while self.programs.len() > CAPACITY || self.patterns > MAX_PATTERNS {
            let Some((_, oldest)) = self.programs.remove_lru() else { break };
            self.patterns -= oldest.pattern_bytes;
        }
        program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(cache: &ExpressionCache, number: usize) {
        cache.expression(&format!("{number} + 1"), Context::Permission).expect("compiled");
    }

    #[test]
    fn what_was_used_last_is_kept() {
        let cache = ExpressionCache::default();
        (0..CAPACITY).for_each(|number| numbered(&cache, number));
        numbered(&cache, 0);
        numbered(&cache, CAPACITY);
        assert!(cache.expression("1 +", Context::Permission).is_err());
        let stats = cache.stats();
        assert_eq!((stats.hits, stats.misses, stats.compile_errors), (1, 1026, 1));
        assert_eq!((stats.size, stats.capacity), (1024, 1024));
        assert!(stats.compile_nanos > 0);
        // The one that was used again has stayed; the one after it has made room.
        numbered(&cache, 0);
        assert_eq!(cache.stats().hits, 2);
        numbered(&cache, 1);
        assert_eq!(cache.stats().hits, 2);
    }

    #[test]
    fn one_source_in_two_contexts_or_for_two_purposes_is_compiled_for_each() {
        let cache = ExpressionCache::default();
        for context in [Context::Hook, Context::Permission] {
            cache.predicate("resource == \"a\"", context).expect("compiled");
            cache.expression("resource == \"a\"", context).expect("compiled");
        }
        assert_eq!((cache.stats().hits, cache.stats().size), (0, 4));
    }

    #[test]
    fn the_same_predicate_is_one() {
        let cache = ExpressionCache::default();
        let compile = || cache.predicate("resource == \"a\"", Context::Hook).expect("compiled");
        let (first, second) = (compile(), compile());
        assert!(Arc::ptr_eq(&first.0, &second.0));
        assert_eq!((cache.stats().hits, cache.stats().misses), (1, 1));
    }

    #[test]
    fn large_patterns_leave_sooner() {
        let cache = ExpressionCache::default();
        for number in 0..200 {
            let source = format!("resource.matches(\"{number}[a-z]{{2000}}\")");
            cache.predicate(&source, Context::Hook).expect("compiled");
        }
        let size = cache.stats().size;
        assert!((2..200).contains(&size), "{size} are kept");
        let kept = cache.with(|kept| {
            let bytes: usize = kept.programs.iter().map(|(_, it)| it.pattern_bytes).sum();
            (bytes, kept.patterns)
        });
        assert_eq!(kept.0, kept.1);
        assert!(kept.0 <= MAX_PATTERNS);
    }
}
