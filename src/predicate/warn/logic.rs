//! Conditions that decide nothing.

use cel::common::ast::{Expr, IdedExpr, LiteralValue, operators};

use super::{Oddity, Reader, literal_text, spelled, written};

impl Reader<'_> {
    /// Reads the operands of a chain of `&&` or of `||`.
    pub(super) fn chain(&mut self, expr: &IdedExpr, name: &str) {
        let mut operands = Vec::new();
        flatten(expr, name, &mut operands);
        for operand in &operands {
            self.literal_operand(operand, name);
        }
        for (at, later) in operands.iter().enumerate() {
            let earlier = operands.iter().take(at).find(|earlier| clash(earlier, later, name));
            if earlier.is_some() {
                self.clashing(later, name);
            }
        }
        for operand in operands {
            self.expr(operand);
        }
    }

    fn literal_operand(&mut self, operand: &IdedExpr, name: &str) {
        let Expr::Literal(LiteralValue::Boolean(value)) = &operand.expr else { return };
        let (sign, value) = (written(name), *value.inner());
        let message = if value == (name == operators::LOGICAL_AND) {
            format!("`{sign} {value}` changes nothing")
        } else {
            format!("`{sign} {value}` makes all of this {value}")
        };
        self.warn(Oddity::Constant, operand, message, None);
    }

    fn clashing(&mut self, later: &IdedExpr, name: &str) {
        let Some((of, _)) = compared(later) else { return };
        let of = spelled(of);
        if name == operators::LOGICAL_AND {
            let message = format!("`{of}` is never two things at once, so this never holds");
            let hint = format!("either of them: `||`, or `{of} in […]`");
            self.warn(Oddity::NeverBoth, later, message, Some(hint));
        } else {
            let message =
                format!("`{of}` always differs from one of the two, so this always holds");
            let hint = format!("neither of them: `&&`, or `!({of} in […])`");
            self.warn(Oddity::AlwaysEither, later, message, Some(hint));
        }
    }

    pub(super) fn same_sides(&mut self, expr: &IdedExpr, left: &IdedExpr, right: &IdedExpr) {
        // What is written out is told apart at a glance, and `1 == 1` is somebody's way of `true`.
        let both = [left, right].iter().all(|side| !matches!(side.expr, Expr::Literal(_)));
        if both && spelled(left) == spelled(right) {
            let message = format!("`{}` is compared with itself", spelled(left));
            self.warn(Oddity::SameSides, expr, message, None);
        }
    }
}

/// Finds the operands of a chain, however the parser balanced it.
fn flatten<'e>(expr: &'e IdedExpr, name: &str, operands: &mut Vec<&'e IdedExpr>) {
    match &expr.expr {
        Expr::Call(call) if call.func_name == name => {
            call.args.iter().for_each(|operand| flatten(operand, name, operands));
        }
        _ => operands.push(expr),
    }
}

/// Tells whether two operands are `a == "x"` and `a == "y"` of `&&`, or `a != "x"` and `a != "y"`
/// of `||`.
fn clash(one: &IdedExpr, two: &IdedExpr, name: &str) -> bool {
    let wanted =
        if name == operators::LOGICAL_AND { operators::EQUALS } else { operators::NOT_EQUALS };
    let is_wanted =
        |expr: &IdedExpr| matches!(&expr.expr, Expr::Call(call) if call.func_name == wanted);
    let (Some((one_of, one_is)), Some((two_of, two_is))) = (compared(one), compared(two)) else {
        return false;
    };
    is_wanted(one) && is_wanted(two) && one_is != two_is && spelled(one_of) == spelled(two_of)
}

/// Returns what is compared with a text that is written out, and the text.
fn compared(expr: &IdedExpr) -> Option<(&IdedExpr, &str)> {
    let Expr::Call(call) = &expr.expr else { return None };
    let [left, right] = call.args.as_slice() else { return None };
    match (literal_text(left), literal_text(right)) {
        (None, Some(text)) => Some((left, text)),
        (Some(text), None) => Some((right, text)),
        _ => None,
    }
}
