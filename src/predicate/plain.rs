//! Reading what most predicates are, without the parser: comparisons of paths with constants, all of
//! them joined by `&&` or all by `||`.
//!
//! The parser sets up tables for the whole grammar first, which takes a thousand times longer than
//! to read such an expression, and a process that lives for one tool call pays for it each time. What
//! is read here is the parser's own tree, to the number and the place of each node; whatever is
//! not quite of this form is left to the parser, mistakes included. A tree from here is flat, so it
//! needs no deep stack either.

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, SelectExpr, SourceInfo, operators};

/// The most that is joined, and the most that a path has of segments.
const MAX_PARTS: usize = 16;

/// The functions that a path may be asked with a text.
const FUNCTIONS: [&str; 4] = ["contains", "endsWith", "matches", "startsWith"];

/// Words that stand for something else than a name.
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// Reads an expression of this form; `None` for any other.
pub(super) fn parse(source: &str) -> Option<(IdedExpr, SourceInfo)> {
    if !source.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        return None;
    }
    let mut reader = Reader { source, at: 0, next_id: 1, info: SourceInfo::default() };
    let expr = reader.joined()?;
    (reader.rest().is_empty()).then_some((expr, reader.info))
}

struct Reader<'s> {
    source: &'s str,
    at: usize,
    next_id: u64,
    info: SourceInfo,
}

impl<'s> Reader<'s> {
    fn joined(&mut self) -> Option<IdedExpr> {
        let mut terms = vec![Some(self.term()?)];
        let mut joints = Vec::new();
        let (sign, function) = match self.rest().get(..2) {
            Some("&&") => ("&&", operators::LOGICAL_AND),
            Some("||") => ("||", operators::LOGICAL_OR),
            _ => return terms.pop()?,
        };
        while let Some(place) = self.sign(sign) {
            terms.push(Some(self.term()?));
            joints.push(self.id(place));
        }
        (terms.len() <= MAX_PARTS).then_some(())?;
        balanced(&mut terms, &joints, function)
    }

    /// `path == constant`, `path.function('text')` or a path alone.
    fn term(&mut self) -> Option<IdedExpr> {
        let path = self.path()?;
        for (sign, function) in [("==", operators::EQUALS), ("!=", operators::NOT_EQUALS)] {
            if let Some(place) = self.sign(sign) {
                let id = self.id(place);
                let constant = self.constant()?;
                return Some(call(id, function, None, vec![path, constant]));
            }
        }
        Some(path)
    }

    fn path(&mut self) -> Option<IdedExpr> {
        let (name, place) = self.name()?;
        let mut path = IdedExpr { id: self.id(place), expr: Expr::Ident(name.to_owned()) };
        for _ in 0..MAX_PARTS {
            let Some(dot) = self.sign(".") else { return Some(path) };
            let (field, _) = self.name()?;
            if let Some(bracket) = self.sign("(") {
                FUNCTIONS.contains(&field).then_some(())?;
                let id = self.id(bracket);
                let text = self.text()?;
                self.sign(")")?;
                return Some(call(id, field, Some(path), vec![text]));
            }
            let operand = Box::new(path);
            let select = SelectExpr { operand, field: field.to_owned(), test: false };
            path = IdedExpr { id: self.id(dot), expr: Expr::Select(select) };
        }
        None
    }

    fn constant(&mut self) -> Option<IdedExpr> {
        let rest = self.rest();
        if rest.starts_with(['"', '\'']) {
            return self.text();
        }
        let len = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let (word, behind) = rest.split_at(len);
        // A number goes on with a point, and a name with a line.
        (!behind.starts_with(['.', '_'])).then_some(())?;
        let literal = match word {
            "true" => LiteralValue::Boolean(true.into()),
            "false" => LiteralValue::Boolean(false.into()),
            digits if (1..=9).contains(&len) && digits.bytes().all(|it| it.is_ascii_digit()) => {
                LiteralValue::Int(digits.parse::<i64>().ok()?.into())
            }
            _ => return None,
        };
        let place = self.take(len);
        Some(IdedExpr { id: self.id(place), expr: Expr::Literal(literal) })
    }

    /// A text without escapes.
    fn text(&mut self) -> Option<IdedExpr> {
        let rest = self.rest();
        let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''))?;
        let (text, behind) = rest.get(1..)?.split_once(quote)?;
        // Three quotes begin a text of another kind.
        let is_other = text.is_empty() && behind.starts_with(quote);
        (!text.contains('\\') && !is_other).then_some(())?;
        let place = self.take(text.len() + 2);
        let literal = LiteralValue::String(text.to_owned().into());
        Some(IdedExpr { id: self.id(place), expr: Expr::Literal(literal) })
    }

    fn name(&mut self) -> Option<(&'s str, (usize, usize))> {
        let rest = self.rest();
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let len = rest.bytes().take_while(part).count();
        let (name, behind) = rest.split_at(len);
        let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        // A quote right behind a name makes it the prefix of a text.
        let good = begins && !RESERVED.contains(&name) && !behind.starts_with(['"', '\'', '`']);
        good.then(|| (name, self.take(len)))
    }

    /// Takes a sign, if it comes next.
    fn sign(&mut self, sign: &str) -> Option<(usize, usize)> {
        self.rest().starts_with(sign).then(|| self.take(sign.len()))
    }

    /// Returns what is left, without the spaces before it.
    fn rest(&mut self) -> &'s str {
        let rest = self.source.get(self.at..).unwrap_or_default();
        let trimmed = rest.trim_start_matches(' ');
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    /// Goes on behind a part of this length, and returns its first and its last byte.
    const fn take(&mut self, len: usize) -> (usize, usize) {
        let start = self.at;
        self.at += len;
        (start, start + len - 1)
    }

    /// Numbers a node.
    fn id(&mut self, (start, stop): (usize, usize)) -> u64 {
        let id = self.next_id;
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.info.add_offset(id, byte(start), byte(stop));
        self.next_id += 1;
        id
    }
}

fn call(id: u64, name: &str, target: Option<IdedExpr>, args: Vec<IdedExpr>) -> IdedExpr {
    let call = CallExpr { func_name: name.to_owned(), target: target.map(Box::new), args };
    IdedExpr { id, expr: Expr::Call(call) }
}

/// Joins terms in a balanced tree: the joint in the middle is the outermost.
fn balanced(terms: &mut [Option<IdedExpr>], joints: &[u64], name: &str) -> Option<IdedExpr> {
    let Some(last) = joints.len().checked_sub(1) else { return terms.first_mut()?.take() };
    let middle = last.div_ceil(2);
    let (before, after) = terms.split_at_mut_checked(middle + 1)?;
    let left = balanced(before, joints.get(..middle)?, name)?;
    let right = balanced(after, joints.get(middle + 1..)?, name)?;
    Some(call(*joints.get(middle)?, name, None, vec![left, right]))
}

#[cfg(test)]
mod tests {
    use cel::parser::Parser;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// Holds a tree against the parser's, its numbers and places included.
    #[track_caller]
    fn check(source: &str) -> bool {
        let Some((expr, info)) = parse(source) else { return false };
        let parser = Parser::new().enable_optional_syntax(false).enable_ident_escape_syntax(true);
        let (wanted, places) = parser.parse_with_source_info(source).expect(source);
        assert_eq!(expr, wanted, "{source}");
        for id in 0..100 {
            assert_eq!(info.offset_for(id), places.offset_for(id), "{source}: {id}");
        }
        true
    }

    #[test]
    fn plain_predicates_are_read_as_the_parser_reads_them() {
        for source in [
            "a",
            "a.b.c",
            r#"record.body.tool == "bash""#,
            r#"record.body.tool == "bash" && record.body.status != "ok""#,
            r#"resource == 'tool:bash' || record.body.status=="error" || a.b"#,
            "a == 1 && b == 0 && c != 123456789 && d == true && e == false",
            r#"record.body.content.contains("E0425") && a.startsWith('x') && a.endsWith("")"#,
            r#"  a  .  b  (  == ""#,
            r#"  a  .  b  ==  "x"  "#,
            "a && b && c && d && e && f && g && h",
            "a && b && c",
            "a || b || c || d",
        ] {
            assert_eq!(check(source), !source.contains("(  =="), "{source}");
        }
    }

    #[test]
    fn whatever_is_not_plain_is_left_to_the_parser() {
        for source in [
            "",
            "a &&",
            "a && b || c",
            "(a)",
            "!a",
            "a == b",
            "a == 1.5",
            "a == 1u",
            "a == 0x1",
            "a == -1",
            "a == 'x' == 'y'",
            r#"a == "\n""#,
            r#"a == """x""""#,
            "r'x' == a",
            "a.b()",
            "has(a.b)",
            "a['b']",
            "in",
            "a.namespace",
            "a ? b : c",
            "a == 'é'",
            "a\n&& b",
            "a // b",
            "a.exists(x, x == 1)",
            "a == 12345678901",
            "a.`b`",
            "a == true_",
            ".a",
            "a b",
            "a == '",
        ] {
            assert!(parse(source).is_none(), "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_pieces_are_read_as_the_parser_reads_them_or_not_at_all(
            pieces in proptest::collection::vec(select(&PIECES[..]), 0..14),
        ) {
            check(&pieces.concat());
        }
    }

    const PIECES: [&str; 30] = [
        "a",
        "b_1",
        "record",
        ".",
        ".",
        "body",
        "==",
        " == ",
        "!=",
        "&&",
        " && ",
        " || ",
        "||",
        "'x'",
        "\"tool:bash\"",
        "''",
        "1",
        "07",
        "true",
        "false",
        "null",
        "in",
        "(",
        ")",
        ".contains(",
        " ",
        "\\",
        "!",
        "u",
        "'",
    ];
}
