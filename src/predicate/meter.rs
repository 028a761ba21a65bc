//! What one evaluation may spend.
//!
//! The evaluator calls plain functions, so what they count lives in the thread that evaluates.
//! An exhausted budget is an error like any other to the evaluator, and `||` may absorb it; so the
//! meter remembers it, and whoever started the evaluation looks here before believing an answer.

use std::cell::RefCell;
use std::sync::Arc;

use cel::ExecutionError;

use super::guard::{MAX_BUILT, MAX_UNITS, UNIT_BYTES};
use super::pattern::Pattern;
use super::plain::Value;

/// What one evaluation spent, and what it said besides its result.
#[derive(Default)]
pub(super) struct Meter {
    /// The patterns of the running predicate.
    patterns: Arc<[Arc<Pattern>]>,
    /// Bytes handled, with everything else that counts turned into bytes.
    handled: u64,
    /// Bytes built.
    pub(super) built: u64,
    /// Why it was stopped.
    pub(super) stop: Option<Stop>,
    /// Its result, where that is not just true or false.
    pub(super) answer: Option<Value>,
}

/// Why an evaluation was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    OverBudget,
    TooLarge,
    NotBoolean(String),
}

impl Meter {
    /// Returns the units spent, a part of one counted as one.
    pub(super) const fn units(&self) -> u64 {
        self.handled.div_ceil(UNIT_BYTES)
    }
}

thread_local! {
    static METER: RefCell<Meter> = RefCell::default();
}

/// Runs `work` with a fresh meter and returns both. What ran before has its own meter back.
pub(super) fn metered<T>(
    patterns: &Arc<[Arc<Pattern>]>,
    work: impl FnOnce() -> T,
) -> (std::thread::Result<T>, Meter) {
    let fresh = Meter { patterns: Arc::clone(patterns), ..Meter::default() };
    let outer = METER.replace(fresh);
    // What `work` could leave half done is the meter, which is replaced, and the context, which
    // evaluations only read.
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    (result, METER.replace(outer))
}

/// Counts `bytes` as handled, before they are.
pub(super) fn handle(bytes: usize) -> Result<(), ExecutionError> {
    METER.with_borrow_mut(|meter| {
        meter.handled = meter.handled.saturating_add(bytes as u64);
        if meter.handled > MAX_UNITS * UNIT_BYTES {
            meter.stop.get_or_insert(Stop::OverBudget);
        }
        meter.go_on()
    })
}

/// Counts whole units of work, before it is done.
pub(super) fn work(units: usize) -> Result<(), ExecutionError> {
    handle(units.saturating_mul(usize::try_from(UNIT_BYTES).unwrap_or(usize::MAX)))
}

/// Counts `bytes` as built, before they are.
pub(super) fn build(bytes: usize) -> Result<(), ExecutionError> {
    METER.with_borrow_mut(|meter| {
        meter.built = meter.built.saturating_add(bytes as u64);
        if meter.built > MAX_BUILT {
            meter.stop.get_or_insert(Stop::TooLarge);
        }
        meter.go_on()
    })
}

/// Remembers that the result is not a boolean.
pub(super) fn not_boolean(got: &str) -> ExecutionError {
    METER.with_borrow_mut(|meter| {
        meter.stop.get_or_insert_with(|| Stop::NotBoolean(got.to_owned()));
    });
    stopped()
}

/// Remembers the result.
pub(super) fn answer(value: Value) {
    METER.with_borrow_mut(|meter| meter.answer = Some(value));
}

/// Returns a pattern of the running predicate.
pub(super) fn pattern(index: usize) -> Option<Arc<Pattern>> {
    METER.with_borrow(|meter| meter.patterns.get(index).cloned())
}

impl Meter {
    fn go_on(&self) -> Result<(), ExecutionError> {
        if self.stop.is_some() { Err(stopped()) } else { Ok(()) }
    }
}

/// The error that unwinds a stopped evaluation. It allocates nothing and is never shown.
const fn stopped() -> ExecutionError {
    ExecutionError::InternalError(String::new())
}

/// Counts a look-up by a key of `bytes`. Keys of ordinary length are free: there are only as many
/// look-ups as operations, and those are bounded.
pub(super) fn look_up(bytes: usize) -> Result<(), ExecutionError> {
    if bytes as u64 > UNIT_BYTES { handle(bytes) } else { Ok(()) }
}
