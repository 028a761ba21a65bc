//! What is seen of an evaluation: of each part that was evaluated, what came of it.

use std::sync::{Arc, Mutex, PoisonError};

use cel::common::ast::IdedExpr;
use cel::common::types::CelInt;
use cel::common::value::{CowVal, Val};
use cel::{Context, ExecutionError, FunctionContext, Value};

use super::outline::Outline;
use super::{Finding, Shown};
use crate::predicate::metered::in_words;

/// The rounds of a loop that are kept from its beginning. The last one is kept beside them.
const FIRST_ROUNDS: u64 = 3;
/// How many parts are looked at; a loop may have many more. After that they are only counted.
const MAX_LOOKS: usize = 10_000;
/// How many characters of a long text are counted at the price of one more look.
const CHARS_PER_LOOK: usize = 1_024;

/// The eyes on one evaluation.
#[derive(Clone)]
pub(super) struct Watch(Arc<Watched>);

struct Watched {
    outline: Arc<Outline>,
    parts: Vec<IdedExpr>,
    notes: Mutex<Notes>,
}

/// What came of a part, each time that it was evaluated.
pub(super) struct Frame {
    /// Where it stands in the outline.
    pub(super) part: usize,
    /// Which round of the loop around it, counted from 1; 0 if no loop is right around it.
    pub(super) round: u64,
    /// The value of the variable of that loop.
    pub(super) variable: Option<Shown>,
    pub(super) finding: Finding,
    /// How many rounds it took.
    pub(super) rounds: u64,
    pub(super) parts: Vec<Frame>,
}

#[derive(Default)]
struct Notes {
    /// What is being evaluated, innermost last.
    open: Vec<Frame>,
    root: Option<Frame>,
    looks: usize,
}

type Function = Box<
    dyn for<'b, 'v> Fn(&mut FunctionContext<'b, 'v>) -> Result<CowVal<'b, 'v>, ExecutionError>
        + Send
        + Sync,
>;

impl Watch {
    pub(super) fn new(outline: Arc<Outline>, parts: Vec<IdedExpr>) -> Self {
        Self(Arc::new(Watched { outline, parts, notes: Mutex::default() }))
    }

    /// Declares `@watch(part)`, which evaluates a part and notes what comes of it.
    pub(super) fn add_to(&self, context: &mut Context<'_, '_>) {
        let watch = self.clone();
        let function: Function = Box::new(move |call| watch.evaluate(call));
        // Only a name that is taken is refused, and no source can spell this one.
        let _ = context.add_function("@watch", function);
    }

    /// Returns what was seen, once.
    pub(super) fn seen(&self) -> Option<Frame> {
        self.with(|notes| notes.root.take())
    }

    fn evaluate<'b, 'v>(
        &self,
        call: &mut FunctionContext<'b, 'v>,
    ) -> Result<CowVal<'b, 'v>, ExecutionError> {
        let index = call.args.first().and_then(|index| index.downcast_ref::<CelInt>());
        let part = index.and_then(|index| usize::try_from(*index.inner()).ok());
        let Some((part, expr)) = part.and_then(|part| Some((part, self.0.parts.get(part)?))) else {
            return Err(ExecutionError::InternalError(String::new()));
        };
        let looks = self.with(|notes| notes.look());
        let variable = self.0.outline.part(part).variable.as_deref().filter(|_| looks);
        let variable = variable.and_then(|name| call.ptx.get_variable(name));
        self.enter(part, variable.map(|value| self.look_at(value.as_ref())));
        let result = Value::resolve_val(expr, call.ptx).map(CowVal::into_owned);
        self.leave(looks.then(|| match &result {
            Ok(value) => Finding::Value(self.look_at(value.as_ref())),
            Err(error) => Finding::Failed(in_words(error).to_string()),
        }));
        result.map(CowVal::Owned)
    }

    fn look_at(&self, value: &dyn Val) -> Shown {
        let shown = Shown::of(value);
        let chars = shown.size.unwrap_or_default();
        self.with(|notes| notes.looks += chars / CHARS_PER_LOOK);
        shown
    }

    fn enter(&self, part: usize, variable: Option<Shown>) {
        let outline = self.0.outline.part(part);
        self.with(|notes| {
            let mut round = 0;
            if let Some(around) = notes.open.last_mut()
                && outline.variable.is_some()
            {
                around.rounds += u64::from(outline.begins_round);
                round = around.rounds;
                if outline.begins_round {
                    around.parts.retain(|part| part.round <= FIRST_ROUNDS);
                }
            }
            let (finding, parts) = (Finding::Skipped, Vec::new());
            notes.open.push(Frame { part, round, variable, finding, rounds: 0, parts });
        });
    }

    /// Notes what came of the innermost part; what was not looked at is forgotten.
    fn leave(&self, finding: Option<Finding>) {
        self.with(|notes| {
            let (Some(mut frame), Some(finding)) = (notes.open.pop(), finding) else { return };
            frame.finding = finding;
            match notes.open.last_mut() {
                Some(around) => around.parts.push(frame),
                None => notes.root = Some(frame),
            }
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut Notes) -> T) -> T {
        work(&mut self.0.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Notes {
    /// Tells whether one more part may be looked at.
    fn look(&mut self) -> bool {
        self.looks += 1;
        self.looks <= MAX_LOOKS
    }
}
