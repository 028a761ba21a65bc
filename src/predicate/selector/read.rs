//! From a condition to the keys that it cannot do without.

use std::sync::Arc;

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

use super::{Place, PlaceName, Rank, SearchKey, Selector};
use crate::predicate::Context;

/// Returns what evaluating `expr` may take.
pub(super) fn rank(expr: &IdedExpr, context: Context) -> Rank {
    read(expr, context).0
}

/// Returns what evaluating `expr` may take, and its selector.
pub(super) fn read(expr: &IdedExpr, context: Context) -> (Rank, Selector) {
    let Expr::Call(call) = &expr.expr else { return (Rank::Unknown, Selector::any()) };
    match (call.func_name.as_str(), call.args.as_slice()) {
        (operators::LOGICAL_AND, _) => chain(expr, context),
        (operators::LOGICAL_OR, [left, right]) => {
            let (one, left) = read(left, context);
            let (two, right) = read(right, context);
            (one.max(two), left.or(right))
        }
        _ => atom(call, context).unwrap_or_else(|| (Rank::Unknown, Selector::any())),
    }
}

fn chain(expr: &IdedExpr, context: Context) -> (Rank, Selector) {
    let mut rank = Rank::Place;
    let mut selector = Selector::any();
    for conjunct in conjuncts(expr) {
        let (its_rank, its_selector) = read(conjunct, context);
        selector = selector.and(&its_selector);
        rank = rank.max(its_rank);
        if !rank.is_cheap() {
            // What comes later is evaluated only after this one, whatever that takes.
            let any = selector == Selector::any();
            return (if any { Rank::Unknown } else { Rank::Guarded }, selector);
        }
    }
    (rank, selector)
}

/// Returns what a chain of `&&` consists of, in the order of evaluation; anything else consists
/// of itself.
fn conjuncts(expr: &IdedExpr) -> Vec<&IdedExpr> {
    let mut found = Vec::new();
    let mut todo = vec![expr];
    while let Some(expr) = todo.pop() {
        match &expr.expr {
            Expr::Call(call) if is_chain(expr) => todo.extend(call.args.iter().rev()),
            _ => found.push(expr),
        }
    }
    found
}

pub(super) fn is_chain(expr: &IdedExpr) -> bool {
    matches!(&expr.expr, Expr::Call(call) if call.func_name == operators::LOGICAL_AND)
}

/// What a conjunct compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Tool,
    Resource,
    Status,
    Content,
}

fn atom(call: &CallExpr, context: Context) -> Option<(Rank, Selector)> {
    match (call.func_name.as_str(), call.target.as_deref(), call.args.as_slice()) {
        (operators::EQUALS, None, [one, two]) => {
            let (subject, value) = match text(two) {
                Some(value) => (subject(one, context)?, value),
                None => (subject(two, context)?, text(one)?),
            };
            is_one_of(subject, &[value])
        }
        (operators::IN, None, [one, IdedExpr { expr: Expr::List(list), .. }]) => {
            let values: Option<Vec<&str>> = list.elements.iter().map(text).collect();
            is_one_of(subject(one, context)?, &values?)
        }
        ("startsWith", Some(target), [prefix]) => {
            let name = PlaceName::StartsWith(text(prefix)?.into());
            let place = match subject(target, context)? {
                _ if name == PlaceName::StartsWith("".into()) => Place::Anywhere,
                Subject::Tool => Place::Tool(name),
                Subject::Resource => Place::Resource(name),
                Subject::Status | Subject::Content => return None,
            };
            Some((Rank::Place, Selector(vec![SearchKey { place, ..SearchKey::ANY }])))
        }
        ("contains", Some(target), [needle]) => {
            let needle = Some(text(needle)?).filter(|needle| !needle.is_empty());
            let key = SearchKey { needle: needle.map(Arc::from), ..SearchKey::ANY };
            let searches = subject(target, context)? == Subject::Content;
            searches.then(|| (Rank::Search, Selector(vec![key])))
        }
        _ => None,
    }
}

fn is_one_of(subject: Subject, values: &[&str]) -> Option<(Rank, Selector)> {
    let key = |value: &&str| {
        let value = Arc::from(*value);
        match subject {
            Subject::Tool => {
                Some(SearchKey { place: Place::Tool(PlaceName::Is(value)), ..SearchKey::ANY })
            }
            Subject::Resource => {
                Some(SearchKey { place: Place::Resource(PlaceName::Is(value)), ..SearchKey::ANY })
            }
            Subject::Status => Some(SearchKey { status: Some(value), ..SearchKey::ANY }),
            Subject::Content => None,
        }
    };
    let keys: Option<Vec<SearchKey>> = values.iter().map(key).collect();
    let rank = if subject == Subject::Status { Rank::Status } else { Rank::Place };
    Some((rank, Selector::of_keys(keys?.into_iter())))
}

fn subject(expr: &IdedExpr, context: Context) -> Option<Subject> {
    if is_variable(expr, "resource") {
        return Some(Subject::Resource);
    }
    let (body, field) = member(expr).filter(|_| context == Context::Hook)?;
    let (record, _) = member(body).filter(|(_, field)| *field == "body")?;
    match field {
        _ if !is_variable(record, "record") => None,
        "tool" => Some(Subject::Tool),
        "status" => Some(Subject::Status),
        "content" => Some(Subject::Content),
        _ => None,
    }
}

fn is_variable(expr: &IdedExpr, name: &str) -> bool {
    matches!(&expr.expr, Expr::Ident(variable) if variable == name)
}

/// Reads `of.field` and `of["field"]`.
fn member(expr: &IdedExpr) -> Option<(&IdedExpr, &str)> {
    match &expr.expr {
        Expr::Select(select) if !select.test => Some((&select.operand, &select.field)),
        Expr::Call(call) if call.func_name == operators::INDEX => match call.args.as_slice() {
            [of, field] => Some((of, text(field)?)),
            _ => None,
        },
        _ => None,
    }
}

fn text(expr: &IdedExpr) -> Option<&str> {
    match &expr.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}
