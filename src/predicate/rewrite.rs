//! From a checked expression to the one that is evaluated: the same, metered.
//!
//! - A loop counts a round before it starts it. The more its body does, the more a round counts.
//! - What handles texts, bytes, lists or maps, or may, becomes a function of ours that counts what
//!   it handles and builds. Operations on numbers and booleans stay the evaluator's own.
//! - What the evaluator builds is handed to us at once, to be counted and made cheap to copy.
//! - Functions of facts become variables.

use std::cell::RefCell;
use std::collections::HashMap;

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedEntryExpr, IdedExpr, ListExpr, LiteralValue,
    MapEntryExpr, MapExpr, SelectExpr, operators,
};

use super::check::Checked;
use super::functions::Plan;
use super::guard::{Place, children};
use super::program::Purpose;

/// How many operations of a loop's body one unit pays for.
const NODES_PER_UNIT: usize = 8;
/// As how many operations a conversion counts, or what reads a calendar: each takes up to a
/// microsecond, however short a text it is about.
const NODES_OF_A_CONVERSION: usize = 16;

/// What takes the place of an operator whose operands may be large.
const METERED: &[(&str, &str)] = &[
    (operators::EQUALS, "@equals"),
    (operators::NOT_EQUALS, "@differs"),
    (operators::LESS, "@is_less"),
    (operators::LESS_EQUALS, "@is_at_most"),
    (operators::GREATER, "@is_greater"),
    (operators::GREATER_EQUALS, "@is_at_least"),
    (operators::ADD, "@add"),
    (operators::SUBSTRACT, "@subtract"),
    (operators::MULTIPLY, "@multiply"),
    (operators::DIVIDE, "@divide"),
    (operators::MODULO, "@remainder"),
];

/// Returns what is evaluated for `root`.
pub(super) fn rewrite(root: IdedExpr, checked: &Checked, purpose: Purpose) -> IdedExpr {
    finished(purpose, Rewriter { checked, watched: None }.expr(root))
}

/// Returns what is evaluated for `root`, and apart from it the parts that are watched: in place of
/// each stands `@watch(index)`. `watched` are their ids and indices, below their number.
pub(super) fn rewrite_watched(
    root: IdedExpr,
    checked: &Checked,
    purpose: Purpose,
    watched: HashMap<u64, usize>,
) -> (IdedExpr, Vec<IdedExpr>) {
    let parts = RefCell::new(vec![IdedExpr::default(); watched.len()]);
    let watched = Watched { indices: watched, parts };
    let expr = finished(purpose, Rewriter { checked, watched: Some(&watched) }.expr(root));
    (expr, watched.parts.into_inner())
}

/// Returns what makes of a result what an expression is for.
fn finished(purpose: Purpose, expr: IdedExpr) -> IdedExpr {
    let finish = match purpose {
        Purpose::Predicate => "@verdict",
        Purpose::Result => "@answer",
    };
    ours(finish, vec![expr])
}

struct Rewriter<'c> {
    checked: &'c Checked,
    watched: Option<&'c Watched>,
}

/// The parts that are watched: where each goes, by its id, and those that are there.
struct Watched {
    indices: HashMap<u64, usize>,
    parts: RefCell<Vec<IdedExpr>>,
}

impl Rewriter<'_> {
    fn expr(&self, expr: IdedExpr) -> IdedExpr {
        let id = expr.id;
        let expr = self.metered(expr);
        let Some(watched) = self.watched else { return expr };
        let Some(index) = watched.indices.get(&id) else { return expr };
        if let Some(part) = watched.parts.borrow_mut().get_mut(*index) {
            *part = expr;
        }
        ours("@watch", vec![int(i64::try_from(*index).unwrap_or(-1))])
    }

    fn metered(&self, expr: IdedExpr) -> IdedExpr {
        let light = match &expr.expr {
            Expr::Call(call) => call.args.iter().all(|arg| self.checked.type_of(arg).is_light()),
            _ => true,
        };
        if let Some(name) = self.checked.name_of(expr.id) {
            // The dot in front says that this is all of the name.
            return ident(&format!(".{name}"));
        }
        match expr.expr {
            Expr::Call(call) => match self.checked.plan_of(expr.id) {
                Some(plan) => self.function(expr.id, call, plan),
                None => self.operator(call, light),
            },
            Expr::Select(select) => new(Expr::Select(SelectExpr {
                operand: Box::new(self.expr(*select.operand)),
                ..select
            })),
            Expr::List(list) => ours("@list", vec![self.list(list)]),
            Expr::Map(map) => {
                let entries = map.entries.into_iter().map(|entry| self.entry(entry)).collect();
                ours("@map", vec![new(Expr::Map(MapExpr { entries }))])
            }
            Expr::Comprehension(all) => self.comprehension(*all),
            other => new(other),
        }
    }

    fn exprs(&self, exprs: Vec<IdedExpr>) -> Vec<IdedExpr> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    fn list(&self, list: ListExpr) -> IdedExpr {
        new(Expr::List(ListExpr { elements: self.exprs(list.elements), ..list }))
    }

    fn entry(&self, entry: IdedEntryExpr) -> IdedEntryExpr {
        let expr = match entry.expr {
            EntryExpr::MapEntry(entry) => EntryExpr::MapEntry(MapEntryExpr {
                // Even a map that turns out to be none has read its keys.
                key: self.copied(entry.key),
                value: self.expr(entry.value),
                optional: entry.optional,
            }),
            field @ EntryExpr::StructField(_) => field,
        };
        IdedEntryExpr { id: entry.id, expr }
    }

    fn operator(&self, call: CallExpr, light: bool) -> IdedExpr {
        if call.func_name == operators::IN {
            let mut args = call.args.into_iter();
            let within = args.next_back().map(|within| match within.expr {
                // Looked at once and then gone: it may stay as the evaluator builds it.
                Expr::List(list) if is_constant(&list) => new(Expr::List(list)),
                _ => self.expr(within),
            });
            let wanted = args.map(|arg| self.expr(arg));
            return ours("@is_in", wanted.chain(within).collect());
        }
        let metered = METERED.iter().find(|(name, _)| *name == call.func_name && !light);
        let args = self.exprs(call.args);
        match metered {
            Some((_, name)) => ours(name, args),
            None => new(Expr::Call(CallExpr { args, ..call })),
        }
    }

    fn function(&self, id: u64, call: CallExpr, plan: Plan) -> IdedExpr {
        let target = call.target.map(|target| *target);
        match plan {
            Plan::Own(name) => {
                ours(name, target.into_iter().chain(call.args).map(|arg| self.expr(arg)).collect())
            }
            Plan::Matches => {
                let text = target.into_iter().chain(call.args).next().map(|text| self.expr(text));
                let pattern = self.checked.pattern_of(id).and_then(|at| i64::try_from(at).ok());
                ours("@matches", text.into_iter().chain([int(pattern.unwrap_or(-1))]).collect())
            }
            Plan::Absent => ident(&format!("{}()", call.func_name)),
            Plan::Fact(name) => ident(name),
            Plan::Ask(name) => call.args.into_iter().fold(ident(name), |asked, argument| {
                call_of(operators::INDEX, vec![asked, self.expr(argument)])
            }),
            Plan::Free | Plan::Converts => {
                let argument = |expr: IdedExpr| match plan {
                    Plan::Free => self.expr(expr),
                    _ => self.copied(expr),
                };
                new(Expr::Call(CallExpr {
                    func_name: call.func_name,
                    target: target.map(|target| Box::new(argument(target))),
                    args: call.args.into_iter().map(argument).collect(),
                }))
            }
        }
    }

    /// Rewrites what the evaluator will copy, unless it is known to be small.
    fn copied(&self, expr: IdedExpr) -> IdedExpr {
        let light = self.checked.type_of(&expr).is_light();
        let expr = self.expr(expr);
        if light { expr } else { ours("@copy", vec![expr]) }
    }

    fn comprehension(&self, all: ComprehensionExpr) -> IdedExpr {
        let weight = weight(&all.loop_step);
        let iter_range = self.expr(all.iter_range);
        if let Expr::List(_) = all.accu_init.expr {
            // `map` or `filter`. The evaluator knows such a loop by its shape, and builds its list
            // in place; so its condition stays, and the round is counted in its step.
            let loop_step = self.append(all.loop_step, weight);
            let all = ComprehensionExpr { iter_range, loop_step, ..all };
            return ours("@share", vec![new(Expr::Comprehension(Box::new(all)))]);
        }
        new(Expr::Comprehension(Box::new(ComprehensionExpr {
            iter_range,
            // Asked before a round that may not take place, and only then counted.
            loop_cond: if_then(self.expr(all.loop_cond), tick(weight)),
            loop_step: self.expr(all.loop_step),
            result: self.expr(all.result),
            ..all
        })))
    }

    /// Rewrites `found + [element]`, or `condition ? found + [element] : found`.
    fn append(&self, step: IdedExpr, weight: usize) -> IdedExpr {
        let Expr::Call(mut call) = step.expr else { return counted(weight, self.expr(step)) };
        if call.func_name == operators::CONDITIONAL {
            let mut args = call.args.into_iter();
            let condition = args.next().map(|condition| counted(weight, self.expr(condition)));
            let step = args.next().map(|step| self.append(step, 0));
            call.args = condition.into_iter().chain(step).chain(args).collect();
            return new(Expr::Call(call));
        }
        if let Some(IdedExpr { expr: Expr::List(list), .. }) = call.args.last_mut() {
            for element in &mut list.elements {
                let kept = ours("@keep", vec![self.expr(std::mem::take(element))]);
                *element = if weight == 0 { kept } else { counted(weight, kept) };
            }
        }
        new(Expr::Call(call))
    }
}

/// Tells whether a list is written out in full.
fn is_constant(list: &ListExpr) -> bool {
    list.elements.iter().all(|element| matches!(element.expr, Expr::Literal(_)))
}

/// Returns what one round of a loop counts, by what its body does apart from the loops in it.
pub(super) fn weight(step: &IdedExpr) -> usize {
    let mut nodes = 0_usize;
    let mut todo = vec![step];
    while let Some(expr) = todo.pop() {
        nodes += match &expr.expr {
            Expr::Call(call) if converts(&call.func_name) => NODES_OF_A_CONVERSION,
            _ => 1,
        };
        children(expr, |child, place| {
            if place == Place::Once {
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

/// Returns `expr`, evaluated after a round of this weight was counted.
fn counted(weight: usize, expr: IdedExpr) -> IdedExpr {
    if_then(tick(weight), expr)
}

/// Returns what counts a round, and is true.
fn tick(weight: usize) -> IdedExpr {
    ours("@tick", vec![int(i64::try_from(weight).unwrap_or(i64::MAX))])
}

fn if_then(condition: IdedExpr, expr: IdedExpr) -> IdedExpr {
    let no = new(Expr::Literal(LiteralValue::Boolean(false.into())));
    call_of(operators::CONDITIONAL, vec![condition, expr, no])
}

/// Makes a node. What it is called is of no use any more.
const fn new(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}

fn ours(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    call_of(name, args)
}

fn call_of(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    new(Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args }))
}

fn ident(name: &str) -> IdedExpr {
    new(Expr::Ident(name.to_owned()))
}

fn int(value: i64) -> IdedExpr {
    new(Expr::Literal(LiteralValue::Int(value.into())))
}
