//! Numbers that are never reached.

use cel::common::ast::{Expr, IdedExpr, LiteralValue, operators};

use super::{Context, Oddity, Plan, Reader, is_path, spelled};

/// How much of an answer a predicate sees, in characters (contract §5.3).
const CONTENT_CHARS: f64 = 4096.0;

/// What a number can be, and what to say about it.
struct Range {
    least: f64,
    most: f64,
    hint: Option<&'static str>,
}

impl Reader<'_> {
    pub(super) fn out_of_range(
        &mut self,
        expr: &IdedExpr,
        name: &str,
        left: &IdedExpr,
        right: &IdedExpr,
    ) {
        let (of, name, number) = match (literal_number(left), literal_number(right)) {
            (None, Some(number)) => (left, name, number),
            (Some(number), None) => (right, turned(name), number),
            _ => return,
        };
        let Some(range) = self.range(of) else { return };
        let Some(always) = decided(&range, name, number) else { return };
        let of = spelled(of);
        let bounds = if range.most.is_finite() {
            format!("from {} to {}", range.least, range.most)
        } else {
            format!("never below {}", range.least)
        };
        let word = if always { "always" } else { "never" };
        let message = format!("`{of}` is {bounds}, so this is {word} true");
        self.warn(Oddity::OutOfRange, expr, message, range.hint.map(str::to_owned));
    }

    fn range(&self, expr: &IdedExpr) -> Option<Range> {
        let Expr::Call(call) = &expr.expr else { return None };
        let (least, most, hint) = match (self.checked.plan_of(expr.id)?, call.func_name.as_str()) {
            (Plan::Own("@size"), _) => {
                let of = call.target.as_deref().or(call.args.first())?;
                if self.context == Context::Hook && is_path(of, "record.body.content") {
                    let hint = "a predicate sees the first 4,096 characters of an answer";
                    (0.0, CONTENT_CHARS, Some(hint))
                } else {
                    (0.0, f64::INFINITY, None)
                }
            }
            (Plan::Ask(_), "trust") => (0.0, 1.0, None),
            (Plan::Ask(_), "trust_count") => (0.0, f64::INFINITY, None),
            _ => return None,
        };
        Some(Range { least, most, hint })
    }
}

/// Tells whether a comparison is always true or never; `None` is neither.
fn decided(range: &Range, name: &str, number: f64) -> Option<bool> {
    let Range { least, most, .. } = *range;
    let (never, always) = match name {
        operators::LESS => (number <= least, number > most),
        operators::LESS_EQUALS => (number < least, number >= most),
        operators::GREATER => (number >= most, number < least),
        operators::GREATER_EQUALS => (number > most, number <= least),
        operators::EQUALS => (number < least || number > most, false),
        operators::NOT_EQUALS => (false, number < least || number > most),
        _ => return None,
    };
    (never || always).then_some(always)
}

/// Returns the operator for the two sides in the other order.
fn turned(name: &str) -> &str {
    match name {
        operators::LESS => operators::GREATER,
        operators::LESS_EQUALS => operators::GREATER_EQUALS,
        operators::GREATER => operators::LESS,
        operators::GREATER_EQUALS => operators::LESS_EQUALS,
        same => same,
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is compared with small numbers")]
fn literal_number(expr: &IdedExpr) -> Option<f64> {
    match &expr.expr {
        Expr::Literal(LiteralValue::Int(int)) => Some(*int.inner() as f64),
        Expr::Literal(LiteralValue::UInt(uint)) => Some(*uint.inner() as f64),
        Expr::Literal(LiteralValue::Double(double)) => Some(*double.inner()),
        _ => None,
    }
}
