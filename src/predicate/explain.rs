//! Why an expression says what it says: its parts, each with its value.
//!
//! The expression is compiled once more, and evaluated once as it always is; only that the parts
//! worth showing are *watched*, and note what came of them. So what is shown was evaluated, and
//! what was not evaluated is shown as such. Not for the hot path: it starts a thread.

mod outline;
mod shown;
mod watch;

pub use shown::Shown;

use std::sync::Arc;

use cel::Value;

use super::check::bindings::Names;
use super::error::PredicateError;
use super::metered::rewrite::rewrite_watched;
use super::metered::{engine, outcome};
use super::program::{Program, Purpose};
use super::question::Question;
use super::selector::order;
use super::{Context, Facts, Failure, check, deep, meter, parse};
use outline::Outline;
use watch::{Frame, Watch};

/// The most parts of one part that are shown.
const MAX_PARTS: usize = 32;
/// The most parts that are shown in all. The deepest are left out first.
const MAX_PARTS_IN_ALL: usize = 200;

/// A part of an expression, or all of it, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The part, as it may have been written. Its strings are cut.
    pub source: String,
    /// Where its operator stands, counted in characters from 0.
    pub column: Option<usize>,
    /// What came of it.
    pub finding: Finding,
    /// The round of the loop around it that this is about.
    pub round: Option<Round>,
    /// How many rounds it took, if it is a loop. The first three are shown, and the last.
    pub rounds: Option<u64>,
    /// Its own parts, in the order of the source. What is written out is no part.
    pub parts: Vec<Self>,
    /// How many of its own parts are not shown.
    pub hidden: usize,
}

/// What came of a part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// It has this value.
    Value(Shown),
    /// It has none.
    Failed(String),
    /// It was not needed.
    Skipped,
}

/// One round of a loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Which, counted from 1.
    pub number: u64,
    /// The variable of the loop.
    pub variable: String,
    /// Its value in this round.
    pub value: Shown,
}

/// Explains what `program` says about `facts`.
pub(super) fn explain(
    program: &Program,
    (context, purpose): (Context, Purpose),
    facts: &Facts<'_>,
) -> Explanation {
    let explained = deep::run_scoped(|| explain_here(program, (context, purpose), facts));
    // It was compiled before, so there is nothing in it that cannot be.
    explained.ok().and_then(Result::ok).unwrap_or_else(|| Explanation {
        source: program.source.to_string(),
        column: None,
        finding: Finding::Failed(Failure::Panicked.to_string()),
        round: None,
        rounds: None,
        parts: Vec::new(),
        hidden: 0,
    })
}

fn explain_here(
    program: &Program,
    (context, purpose): (Context, Purpose),
    facts: &Facts<'_>,
) -> Result<Explanation, PredicateError> {
    let (parsed, columns) = parse::parse(&program.source)?;
    let (_, checked) = check::check(&parsed, &Names::Of(context), &columns)?;
    let outline = Arc::new(Outline::of(&parsed, &columns));
    // Shown as it is written, and evaluated as it always is.
    let ordered = match purpose {
        Purpose::Predicate => order(parsed, context),
        Purpose::Result => parsed,
    };
    let (expression, parts) = rewrite_watched(ordered, &checked, purpose, outline.watched());
    let patterns = checked.patterns.into();
    let watch = Watch::new(Arc::clone(&outline), parts);
    let (said, seen) = engine::with_own_context(&Question::new(facts), |context| {
        watch.add_to(context);
        let (result, meter) = meter::metered(&patterns, || Value::resolve(&expression, context));
        (outcome(result, &meter), watch.seen())
    });
    let mut root = explanation(&outline, 0, seen.as_ref());
    if let Err(failure) = said {
        root.finding = Finding::Failed(failure.to_string());
    }
    prune(&mut root);
    Ok(root)
}

/// Returns what was seen of a part.
fn explanation(outline: &Outline, at: usize, seen: Option<&Frame>) -> Explanation {
    let part = outline.part(at);
    let mut own = Vec::new();
    for child in &part.parts {
        let is_round = outline.part(*child).variable.is_some();
        let frames = seen.into_iter().flat_map(|seen| &seen.parts);
        let mut frames = frames.filter(|frame| frame.part == *child).peekable();
        if seen.is_some() && frames.peek().is_none() && !is_round {
            own.push((0, explanation(outline, *child, None)));
        }
        own.extend(frames.map(|it| (it.round, explanation(outline, *child, Some(it)))));
    }
    own.sort_by_key(|(round, _)| *round);
    Explanation {
        source: part.source.clone(),
        column: part.column,
        finding: seen.map_or(Finding::Skipped, |seen| seen.finding.clone()),
        round: seen.and_then(|seen| {
            let (variable, value) = (part.variable.clone()?, seen.variable.clone()?);
            Some(Round { number: seen.round, variable, value })
        }),
        rounds: seen.filter(|_| part.is_loop).map(|seen| seen.rounds),
        parts: own.into_iter().map(|(_, part)| part).collect(),
        hidden: 0,
    }
}

/// Leaves out what is too much to read.
fn prune(root: &mut Explanation) {
    let mut levels = Vec::new();
    narrow(root, 0, &mut levels);
    let mut shown = 0;
    let too_deep = levels.iter().position(|level| {
        shown += level;
        shown > MAX_PARTS_IN_ALL
    });
    if let Some(depth) = too_deep {
        shorten(root, depth.saturating_sub(1));
    }
}

/// Leaves out what is beside too much, and counts the parts at each depth.
fn narrow(part: &mut Explanation, depth: usize, levels: &mut Vec<usize>) {
    if levels.len() == depth {
        levels.push(0);
    }
    if let Some(level) = levels.get_mut(depth) {
        *level += 1;
    }
    part.hidden = part.parts.len().saturating_sub(MAX_PARTS);
    part.parts.truncate(MAX_PARTS);
    part.parts.iter_mut().for_each(|part| narrow(part, depth + 1, levels));
}

/// Leaves out what is below `depth`.
fn shorten(part: &mut Explanation, depth: usize) {
    if depth == 0 {
        part.hidden += part.parts.len();
        part.parts.clear();
        return;
    }
    part.parts.iter_mut().for_each(|part| shorten(part, depth - 1));
}
