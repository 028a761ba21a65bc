//! What is allowed and most likely not meant.
//!
//! A warning should be right nearly always when it speaks, so a doubt that a sensible predicate
//! could raise as well is not among them.

mod logic;
mod names;
mod ranges;
mod texts;

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, SelectExpr, operators};

use super::check::functions::Plan;
use super::check::suggest::nearest;
use super::check::types::Type;
use super::check::{Checked, written};
use super::context::Context;
use super::parse::Columns;
use super::program::Purpose;
use super::tree::children;
use super::tree::loops::Loop;
use super::tree::spelling::spelled;

macro_rules! oddities {
    ($( $(#[$doc:meta])* $name:ident = $word:literal, )*) => {
        /// What is odd about an expression.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Oddity { $( $(#[$doc])* $name, )* }

        impl Oddity {
            /// Every oddity there is.
            pub const ALL: &[Self] = &[ $( Self::$name, )* ];

            /// Returns the stable word for the oddity.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$name => $word, )* }
            }
        }
    };
}

oddities! {
    /// Something is true or false whatever the call is.
    Constant = "constant",
    /// The two sides are the same.
    SameSides = "same_sides",
    /// Two conditions that never hold together.
    NeverBoth = "never_both",
    /// Two conditions of which one always holds.
    AlwaysEither = "always_either",
    /// A value that can never be among those it is looked for in.
    NeverEqual = "never_equal",
    /// A number that what it is compared with never reaches.
    OutOfRange = "out_of_range",
    /// A field that is always there is asked for with `has`.
    AlwaysThere = "always_there",
    /// A field that nothing has.
    UnknownField = "unknown_field",
    /// A server of tools is compared with a tool.
    ServerNotTool = "server_not_tool",
    /// A `*` in something that is compared, not matched.
    Wildcard = "wildcard",
    /// A tool where a resource is meant, or the other way round.
    ToolOrResource = "tool_or_resource",
    /// What one harness calls a tool, and others do not.
    HarnessName = "harness_name",
    /// A status that no call has.
    UnknownStatus = "unknown_status",
    /// Looking for nothing.
    EmptyText = "empty_text",
    /// A pattern for files where a regular expression is expected.
    Glob = "glob",
}

/// Something that is allowed and most likely not meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What is odd.
    pub oddity: Oddity,
    /// Where, counted in characters from 0.
    pub column: Option<usize>,
    /// One sentence for people.
    pub message: String,
    /// What to do instead.
    pub hint: Option<String>,
}

/// Returns what is odd about `root`, in the order of the source.
pub(super) fn warnings(
    root: &IdedExpr,
    checked: &Checked,
    (context, purpose): (Context, Purpose),
    columns: &Columns<'_>,
) -> Box<[Warning]> {
    let mut reader = Reader { checked, context, columns, found: Vec::new() };
    if purpose == Purpose::Predicate && !reader.depends(root) {
        let message = format!("`{}` does not depend on the call", spelled(root));
        reader.warn(Oddity::Constant, root, message, None);
    } else {
        reader.expr(root);
    }
    reader.found.sort_by_key(|warning| warning.column);
    reader.found.into()
}

struct Reader<'c> {
    checked: &'c Checked,
    context: Context,
    columns: &'c Columns<'c>,
    found: Vec<Warning>,
}

impl Reader<'_> {
    fn warn(&mut self, oddity: Oddity, at: &IdedExpr, message: String, hint: Option<String>) {
        let column = self.columns.of(at);
        self.found.push(Warning { oddity, column, message, hint });
    }

    fn expr(&mut self, expr: &IdedExpr) {
        match &expr.expr {
            Expr::Comprehension(all) => {
                let it = Loop::of(all);
                let parts = it.into_iter().flat_map(|it| [vec![it.range], it.parts].concat());
                return parts.for_each(|part| self.expr(part));
            }
            Expr::Select(select) => self.select(expr, select),
            Expr::Call(call) => match (call.func_name.as_str(), call.args.as_slice()) {
                (name @ (operators::LOGICAL_AND | operators::LOGICAL_OR), _) => {
                    return self.chain(expr, name);
                }
                (name, [left, right]) if call.target.is_none() => {
                    self.binary(expr, name, left, right);
                }
                _ => self.method(call),
            },
            _ => {}
        }
        children(expr, |child, _| self.expr(child));
    }

    fn binary(&mut self, expr: &IdedExpr, name: &str, left: &IdedExpr, right: &IdedExpr) {
        match name {
            operators::EQUALS | operators::NOT_EQUALS => {
                self.named(left, right);
                self.named(right, left);
            }
            operators::IN => {
                if let Expr::List(list) = &right.expr {
                    list.elements.iter().for_each(|element| {
                        self.never_equal(left, element);
                        self.named(left, element);
                    });
                }
                return;
            }
            operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS => {}
            _ => return,
        }
        self.same_sides(expr, left, right);
        self.out_of_range(expr, name, left, right);
    }

    fn method(&mut self, call: &CallExpr) {
        let (Some(target), [argument]) = (call.target.as_deref(), call.args.as_slice()) else {
            return;
        };
        if let Some(text) = literal_text(argument) {
            self.searched(&call.func_name, target, argument, text);
        }
    }

    fn select(&mut self, expr: &IdedExpr, select: &SelectExpr) {
        const OF_A_CALL: [&str; 4] = ["tool", "args", "status", "content"];
        let field = select.field.as_str();
        if let Type::Shape(shape) = self.checked.type_of(&select.operand) {
            let known = shape.fields.iter().any(|(name, _)| *name == field);
            if known && select.test {
                let message = format!("`{}.{field}` is always there", shape.name);
                self.warn(Oddity::AlwaysThere, expr, message, None);
            } else if !known {
                let near = nearest(field, shape.fields.iter().map(|(name, _)| *name));
                let message = format!("`{}` has no field `{field}`", shape.name);
                self.unknown_field(expr, shape.name, field, message, near);
            }
        } else if is_path(&select.operand, "record.body") && !OF_A_CALL.contains(&field) {
            let near = nearest(field, OF_A_CALL);
            if near.is_some() {
                let message = format!("no call has a field `{field}`");
                self.unknown_field(expr, "record.body", field, message, near);
            }
        }
    }

    fn unknown_field(
        &mut self,
        expr: &IdedExpr,
        of: &str,
        field: &str,
        message: String,
        near: Option<&str>,
    ) {
        self.found.push(Warning {
            oddity: Oddity::UnknownField,
            column: self.columns.of_field(expr, field),
            message,
            hint: near.map(|near| format!("did you mean `{of}.{near}`?")),
        });
    }

    fn never_equal(&mut self, wanted: &IdedExpr, element: &IdedExpr) {
        let (one, two) = (self.checked.type_of(wanted), self.checked.type_of(element));
        if !one.may_equal(two) {
            let message = format!("{} is never equal to {}", one.name(), two.name());
            self.warn(Oddity::NeverEqual, element, message, None);
        }
    }

    /// Tells whether an expression asks for any fact.
    fn depends(&self, expr: &IdedExpr) -> bool {
        let own = match &expr.expr {
            // A loop variable is as constant as what is looped over.
            Expr::Ident(name) => super::check::bindings::VARIABLES.contains(&name.as_str()),
            Expr::Call(_) => {
                matches!(self.checked.plan_of(expr.id), Some(Plan::Fact(_) | Plan::Ask(_)))
            }
            _ => false,
        };
        let mut depends = own;
        children(expr, |child, _| depends = depends || self.depends(child));
        depends
    }
}

/// Tells whether `expr` is written as `path`, in dots or as keys.
fn is_path(expr: &IdedExpr, path: &str) -> bool {
    let (before, last) = path.rsplit_once('.').unwrap_or(("", path));
    match &expr.expr {
        Expr::Ident(name) => name == path,
        Expr::Select(select) => {
            !select.test && select.field == last && is_path(&select.operand, before)
        }
        Expr::Call(call) => match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::INDEX, [of, by]) => literal_text(by) == Some(last) && is_path(of, before),
            _ => false,
        },
        _ => false,
    }
}

fn literal_text(expr: &IdedExpr) -> Option<&str> {
    match &expr.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}
