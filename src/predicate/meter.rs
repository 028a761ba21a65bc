//! What one evaluation may spend, and the tariff: what each operation counts as.
//!
//! The evaluator of the CEL crate calls plain functions, so what they count lives in the thread
//! that evaluates. An exhausted budget is an error like any other to it, and `||` may absorb it; so
//! the meter remembers it, and whoever started the evaluation looks here before believing an
//! answer.

use std::cell::RefCell;
use std::sync::Arc;

use cel::ExecutionError;
use cel::common::ast::{Expr, IdedExpr};

use super::guard::{MAX_BUILT, MAX_UNITS, UNIT_BYTES};
use super::pattern::Pattern;
use super::ruling::Failure;
use super::tree::{Part, children};
use super::value::Value;

/// What an element of a list or an entry of a map counts as when it is handled.
pub(super) const ELEMENT: usize = 16;
/// What an entry counts as when two maps are compared, which look it up in each other.
pub(super) const ENTRY: usize = 64;
/// What an element of a list or an entry of a map counts as when it is built.
pub(super) const SLOT: usize = 32;
/// What a value counts as when it is made for whoever asked, texts and bytes aside.
pub(super) const VALUE: usize = 16;
/// What asking for the trust in an actor counts as, in units.
pub(super) const TRUST_UNITS: usize = 16;
/// How many operations of a loop's body one unit pays for.
const NODES_PER_UNIT: usize = 8;
/// As how many operations a conversion counts, or what reads a calendar: each takes up to a
/// microsecond, however short a text it is about.
const NODES_OF_A_CONVERSION: usize = 16;
/// How deep values may nest that are compared or returned. Facts nest less.
pub(super) const MAX_VALUE_DEPTH: usize = 256;

/// Returns the units that a round of a loop counts, by what its body does apart from the loops in it.
pub(super) fn round_units(step: &IdedExpr) -> usize {
    let mut nodes = 0_usize;
    let mut todo = vec![step];
    while let Some(expr) = todo.pop() {
        nodes += match &expr.expr {
            Expr::Call(call) if converts(&call.func_name) => NODES_OF_A_CONVERSION,
            _ => 1,
        };
        children(expr, |child, part| {
            if part == Part::Once {
                todo.push(child);
            }
        });
    }
    nodes.div_ceil(NODES_PER_UNIT)
}

/// Tells whether a function converts between types, or reads a calendar.
fn converts(function: &str) -> bool {
    const TO: [&str; 8] =
        ["bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint"];
    let name = function.trim_start_matches('.');
    TO.contains(&name) || name.starts_with("get")
}

/// What an evaluation has spent.
#[derive(Debug, Default)]
pub(super) struct Spent {
    /// Bytes handled, with everything else that counts turned into bytes.
    handled: u64,
    /// Bytes built.
    pub(super) built: u64,
    /// The limit that stopped it: the first it ran into.
    pub(super) limit: Option<Limit>,
}

/// A limit that an evaluation ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    OverBudget,
    TooLarge,
}

/// The evaluation must not go on.
#[derive(Debug)]
pub(super) struct Stopped;

impl Spent {
    /// Returns the units spent, a part of one counted as one.
    pub(super) const fn units(&self) -> u64 {
        self.handled.div_ceil(UNIT_BYTES)
    }

    /// Counts `bytes` as handled, before they are.
    #[inline]
    pub(super) fn handle(&mut self, bytes: usize) -> Result<(), Stopped> {
        self.handled = self.handled.saturating_add(bytes as u64);
        if self.handled > MAX_UNITS * UNIT_BYTES {
            self.limit.get_or_insert(Limit::OverBudget);
        }
        self.go_on()
    }

    /// Counts whole units of work, before it is done.
    pub(super) fn work(&mut self, units: usize) -> Result<(), Stopped> {
        self.handle(units.saturating_mul(usize::try_from(UNIT_BYTES).unwrap_or(usize::MAX)))
    }

    /// Counts `bytes` as built, before they are.
    pub(super) fn build(&mut self, bytes: usize) -> Result<(), Stopped> {
        self.built = self.built.saturating_add(bytes as u64);
        if self.built > MAX_BUILT {
            self.limit.get_or_insert(Limit::TooLarge);
        }
        self.go_on()
    }

    /// Counts a new text or new bytes.
    pub(super) fn make(&mut self, bytes: usize) -> Result<(), Stopped> {
        self.handle(bytes)?;
        self.build(bytes)
    }

    /// Counts a look-up by a key of `bytes`. Keys of ordinary length are free: there are only as
    /// many look-ups as operations, and those are bounded.
    #[inline]
    pub(super) fn look_up(&mut self, bytes: usize) -> Result<(), Stopped> {
        if bytes as u64 > UNIT_BYTES { self.handle(bytes) } else { Ok(()) }
    }

    const fn go_on(&self) -> Result<(), Stopped> {
        if self.limit.is_some() { Err(Stopped) } else { Ok(()) }
    }
}

impl Limit {
    /// Returns the failure of an evaluation that was stopped.
    pub(super) const fn failure(self, spent: &Spent) -> Failure {
        match self {
            Self::OverBudget => Failure::OverBudget { units: spent.units(), limit: MAX_UNITS },
            Self::TooLarge => Failure::TooLarge { bytes: spent.built, limit: MAX_BUILT },
        }
    }
}

/// What one evaluation of the CEL crate spent, and what it said besides its result.
#[derive(Default)]
pub(super) struct Meter {
    /// The patterns of the running predicate.
    patterns: Arc<[Arc<Pattern>]>,
    pub(super) spent: Spent,
    /// The type of its result, which should have been true or false.
    pub(super) not_boolean: Option<String>,
    /// Its result, where that is not just true or false.
    pub(super) answer: Option<Value>,
}

thread_local! {
    static METER: RefCell<Meter> = RefCell::default();
}

/// Runs `work` with a fresh meter and returns both. What ran before has its own meter back.
pub(super) fn metered<T>(
    patterns: &Arc<[Arc<Pattern>]>,
    work: impl FnOnce() -> T,
) -> (std::thread::Result<T>, Meter) {
    let meter = Meter { patterns: Arc::clone(patterns), ..Meter::default() };
    let outer = METER.replace(meter);
    // What `work` could leave half done is the meter, which is replaced, and the context, which
    // evaluations only read.
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    (result, METER.replace(outer))
}

/// Counts on the meter of this thread, as [`Spent`] does.
macro_rules! counted {
    ($($name:ident;)*) => { $(
        pub(super) fn $name(amount: usize) -> Result<(), ExecutionError> {
            Ok(METER.with_borrow_mut(|meter| meter.spent.$name(amount))?)
        }
    )* };
}
counted! {
    handle;
    work;
    build;
    make;
    look_up;
}

/// Remembers that the result is not a boolean.
pub(super) fn not_boolean(got: &str) -> ExecutionError {
    METER.with_borrow_mut(|meter| meter.not_boolean = Some(got.to_owned()));
    Stopped.into()
}

/// Remembers the result.
pub(super) fn answer(value: Value) {
    METER.with_borrow_mut(|meter| meter.answer = Some(value));
}

/// Returns a pattern of the running predicate.
pub(super) fn pattern(index: usize) -> Option<Arc<Pattern>> {
    METER.with_borrow(|meter| meter.patterns.get(index).cloned())
}

/// The error that unwinds a stopped evaluation. It allocates nothing and is never shown.
impl From<Stopped> for ExecutionError {
    fn from(_: Stopped) -> Self {
        Self::InternalError(String::new())
    }
}
