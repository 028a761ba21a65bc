//! From an expression back to text: as it may have been written, macros as macros.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, operators};

use super::loops::Loop;
use crate::predicate::check::written;

/// How tightly an operator binds. An operand that binds looser stands in brackets.
type Binding = u8;

const TERNARY: Binding = 0;
const OR: Binding = 1;
const AND: Binding = 2;
const RELATION: Binding = 3;
const SUM: Binding = 4;
const PRODUCT: Binding = 5;
const SIGN: Binding = 6;
const MEMBER: Binding = 7;

/// Returns the text of `expr`.
pub(in crate::predicate) fn spelled(expr: &IdedExpr) -> String {
    spelled_within(expr, usize::MAX)
}

/// Returns the text of `expr`, with at most `most` characters of each string in it.
pub(in crate::predicate) fn spelled_within(expr: &IdedExpr, most: usize) -> String {
    let mut speller = Speller { text: String::new(), most };
    speller.expr(expr, TERNARY);
    speller.text
}

struct Speller {
    text: String,
    most: usize,
}

impl Speller {
    fn expr(&mut self, expr: &IdedExpr, around: Binding) {
        let own = binding(expr);
        if own < around {
            self.text.push('(');
        }
        match &expr.expr {
            Expr::Unspecified | Expr::Struct(_) => self.text.push('…'),
            Expr::Literal(literal) => self.literal(literal),
            Expr::Ident(name) => self.text.push_str(name),
            Expr::Select(select) => self.select(select),
            Expr::Call(call) => self.call(call, own),
            Expr::List(list) => {
                self.text.push('[');
                self.exprs(&list.elements);
                self.text.push(']');
            }
            Expr::Map(map) => {
                self.text.push('{');
                for (at, entry) in map.entries.iter().enumerate() {
                    let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
                    self.text.push_str(if at == 0 { "" } else { ", " });
                    self.expr(&entry.key, OR);
                    self.text.push_str(": ");
                    self.expr(&entry.value, TERNARY);
                }
                self.text.push('}');
            }
            Expr::Comprehension(all) => match Loop::of(all) {
                Some(it) => {
                    self.expr(it.range, MEMBER);
                    self.text.push_str(&format!(".{}({}", it.name, it.variable));
                    for part in it.parts {
                        self.text.push_str(", ");
                        self.expr(part, TERNARY);
                    }
                    self.text.push(')');
                }
                None => self.text.push('…'),
            },
        }
        if own < around {
            self.text.push(')');
        }
    }

    fn exprs(&mut self, exprs: &[IdedExpr]) {
        for (at, expr) in exprs.iter().enumerate() {
            self.text.push_str(if at == 0 { "" } else { ", " });
            self.expr(expr, TERNARY);
        }
    }

    fn select(&mut self, select: &SelectExpr) {
        let field = &select.field;
        let plain = field.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        let quote = if plain { "" } else { "`" };
        self.text.push_str(if select.test { "has(" } else { "" });
        self.expr(&select.operand, MEMBER);
        self.text.push_str(&format!(".{quote}{field}{quote}"));
        self.text.push_str(if select.test { ")" } else { "" });
    }

    fn call(&mut self, call: &CallExpr, own: Binding) {
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::CONDITIONAL, [condition, yes, no]) => {
                self.expr(condition, OR);
                self.text.push_str(" ? ");
                self.expr(yes, OR);
                self.text.push_str(" : ");
                self.expr(no, TERNARY);
            }
            (operators::INDEX, [target, index]) => {
                self.expr(target, MEMBER);
                self.text.push('[');
                self.expr(index, TERNARY);
                self.text.push(']');
            }
            (operators::LOGICAL_NOT | operators::NEGATE, [only]) => {
                self.text.push_str(written(&call.func_name));
                let start = self.text.len();
                // Two signs in a row would cancel each other out.
                self.expr(only, MEMBER);
                // And a sign in front of digits would become part of the number.
                if self.text.get(start..).is_some_and(|it| it.starts_with(char::is_numeric)) {
                    self.text.insert(start, '(');
                    self.text.push(')');
                }
            }
            (name, [left, right]) if own < MEMBER => {
                // The parser balances chains of these, so their shape says nothing.
                let chain = matches!(own, OR | AND);
                self.expr(left, own);
                self.text.push_str(&format!(" {} ", written(name)));
                self.expr(right, if chain { own } else { own + 1 });
            }
            (name, args) => {
                if let Some(target) = &call.target {
                    self.expr(target, MEMBER);
                    self.text.push('.');
                }
                self.text.push_str(name);
                self.text.push('(');
                self.exprs(args);
                self.text.push(')');
            }
        }
    }

    fn literal(&mut self, literal: &LiteralValue) {
        match literal {
            LiteralValue::Boolean(bool) => self.text.push_str(&bool.inner().to_string()),
            LiteralValue::Int(int) => self.text.push_str(&int.inner().to_string()),
            LiteralValue::UInt(uint) => self.text.push_str(&format!("{}u", uint.inner())),
            LiteralValue::Double(double) => self.text.push_str(&format!("{:?}", double.inner())),
            LiteralValue::Null => self.text.push_str("null"),
            LiteralValue::String(text) => self.string(text.inner()),
            LiteralValue::Bytes(bytes) => self.bytes(bytes.inner()),
        }
    }

    fn string(&mut self, string: &str) {
        self.text.push('"');
        for c in string.chars().take(self.most) {
            match c {
                '"' | '\\' => self.text.extend(['\\', c]),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                c if c.is_control() => self.text.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => self.text.push(c),
            }
        }
        if string.chars().nth(self.most).is_some() {
            self.text.push('…');
        }
        self.text.push('"');
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.text.push_str("b\"");
        for byte in bytes.iter().take(self.most) {
            match byte {
                b'"' | b'\\' => self.text.extend(['\\', char::from(*byte)]),
                b' '..=b'~' => self.text.push(char::from(*byte)),
                byte => self.text.push_str(&format!("\\x{byte:02x}")),
            }
        }
        self.text.push_str(if bytes.len() > self.most { "…\"" } else { "\"" });
    }
}

fn binding(expr: &IdedExpr) -> Binding {
    let call = match &expr.expr {
        Expr::Call(call) => call,
        Expr::Literal(literal) if is_negative(literal) => return SIGN,
        _ => return MEMBER,
    };
    match call.func_name.as_str() {
        operators::CONDITIONAL => TERNARY,
        operators::LOGICAL_OR => OR,
        operators::LOGICAL_AND => AND,
        operators::EQUALS
        | operators::NOT_EQUALS
        | operators::LESS
        | operators::LESS_EQUALS
        | operators::GREATER
        | operators::GREATER_EQUALS
        | operators::IN => RELATION,
        operators::ADD | operators::SUBSTRACT => SUM,
        operators::MULTIPLY | operators::DIVIDE | operators::MODULO => PRODUCT,
        operators::LOGICAL_NOT | operators::NEGATE => SIGN,
        _ => MEMBER,
    }
}

fn is_negative(literal: &LiteralValue) -> bool {
    match literal {
        LiteralValue::Int(int) => *int.inner() < 0,
        LiteralValue::Double(double) => double.inner().is_sign_negative(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::predicate::{deep, parse};

    fn respelled(source: &str, most: usize) -> Option<String> {
        let source = source.to_owned();
        deep::run(move || {
            let (expr, _) = parse::parse(&source).ok()?;
            Some(spelled_within(&expr, most))
        })
        .expect("no panic")
    }

    #[test]
    fn what_is_written_plainly_comes_back() {
        for source in [
            r#"record.body.tool == "bash" && record.body.status != "ok""#,
            "a && b && c || d && !e",
            "(a || b) && c",
            "a - b - (c - d) * -e",
            "-(-a) + -1 - -(1)",
            "(a ? b : c) ? d : e ? f : g",
            "(-1).x == (1 + 2).size()",
            "xs.all(x, x > 1) && xs.exists(x, x in [1, 2u, 1.5, 1e+300])",
            "xs.exists_one(x, has(x.y)) == has(a.b.c)",
            "xs.map(x, x + 1).filter(x, x != 2)",
            "xs.map(x, x > 1, x * 2)",
            r#"{"a": [1], 2: {}}["a"][0] == m.`x-y`.z"#,
            r#""tab\t, quote \", λ, \u0001" + 'x' == b"\xffa""#,
            "size(a) % f() == null",
        ] {
            let wanted = source.replace("1e+300", "1e300").replace("'x'", "\"x\"");
            assert_eq!(respelled(source, usize::MAX).as_deref(), Some(wanted.as_str()));
        }
    }

    #[test]
    fn long_strings_are_cut() {
        let cut = respelled(r#"f("abcdef", "abc", b"abcdef")"#, 3);
        assert_eq!(cut.as_deref(), Some(r#"f("abc…", "abc", b"abc…")"#));
    }

    /// Brackets around everything: whatever shape is written, it is read again as that shape.
    fn source() -> impl Strategy<Value = String> {
        let atom = prop::sample::select(vec!["a", "1", "-1", "a.b", "'s'", "[1]", "{1: 2}", "1.5"]);
        atom.prop_map(str::to_owned).prop_recursive(5, 24, 3, |inner| {
            let sign = prop::sample::select(vec![
                "&&", "||", "==", "<", " in ", "+", "-", "*", "/", "%", "!=",
            ]);
            prop_oneof![
                4 => (inner.clone(), sign, inner.clone())
                    .prop_map(|(one, sign, two)| format!("({one}){sign}({two})")),
                1 => inner.clone().prop_map(|one| format!("!({one})")),
                1 => inner.clone().prop_map(|one| format!("-({one})")),
                1 => inner.clone().prop_map(|one| format!("({one}).f(({one})[0])")),
                1 => (inner.clone(), inner.clone())
                    .prop_map(|(one, two)| format!("({one}).all(x, ({two}) == x)")),
                1 => (inner.clone(), inner.clone(), inner)
                    .prop_map(|(a, b, c)| format!("({a})?({b}):({c})")),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_spelled_is_read_as_the_same(source in source()) {
            let Some(once) = respelled(&source, usize::MAX) else { return Ok(()) };
            let twice = respelled(&once, usize::MAX);
            prop_assert_eq!(twice.as_deref(), Some(once.as_str()));
        }
    }
}
