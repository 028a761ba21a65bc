//! Expressions that mostly make sense, so that most of them get past the checks.

use super::choices::Choices;

/// How deep expressions are generated.
const DEPTH: usize = 6;

const TEXTS: &[&str] = &[
    "record.body.tool",
    "record.body.status",
    "record.body.content",
    "resource",
    "current_actor()",
    "current_namespace()",
    "record.thread",
    "system.daemon_version",
    "record.body.args.path",
    "record.body.args.command",
    "record.body.args[\"text\"]",
    "record.parents[0]",
    "fanout_status(\"t\")",
];
const LITERALS: &[&str] = &[
    "\"bash\"",
    "\"error\"",
    "\"ok\"",
    "\"tool:bash\"",
    "\"\"",
    "\"a\"",
    "\"/etc\"",
    "\"1\"",
    "\"-9223372036854775808\"",
    "\"1.5\"",
    "\"true\"",
    "\"\u{3bb}\"",
    "\"\u{1f511}x\"",
    "'make'",
];
const PATTERNS: &[&str] = &["\"error: [A-Z]+\"", "\"^/etc\"", "\"a+b*\"", "\"\"", "\"[0-9]{2}\""];
const INTS: &[&str] = &[
    "0",
    "1",
    "3",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "record.clock",
    "now()",
    "record.body.args.n",
    "trust_count(current_actor(), \"code\")",
    "system.records_total",
];
const UINTS: &[&str] = &["0u", "1u", "3u", "18446744073709551615u", "record.body.args.big"];
const DOUBLES: &[&str] = &[
    "0.0",
    "1.0",
    "1.5",
    "-0.0",
    "1e300",
    "(0.0 / 0.0)",
    "(1.0 / 0.0)",
    "3.0",
    "record.body.args.half",
    "trust(current_actor(), \"code\")",
    "system.today.cost_usd",
];
const LISTS: &[&str] = &[
    "record.body.args.list",
    "record.body.args.words",
    "record.parents",
    "[]",
    "[1, 2, 3]",
    "[\"a\", \"bash\"]",
    "[1, \"a\", true, null, 1.0]",
];
const MAPS: &[&str] = &[
    "record.body.args",
    "record.body.args.map",
    "record.body",
    "{}",
    "{\"a\": 1}",
    "{1: \"a\", \"b\": 2u}",
    "{true: [1]}",
    "{1u: 1, 3: [2]}",
    "{\"n\": 7, \"flag\": true}",
    "record",
    "system",
    "system.today",
    "record.body.args.map.b",
    "task(\"x\")",
];
const ANY: &[&str] = &[
    "record.body.args.none",
    "record.body.args.missing",
    "record.body.args.huge",
    "record.body.args.map.b",
    "record.body.args.map.b.c",
    "null",
    "b\"a\"",
    "b\"\\xff\"",
    "b''",
    "bytes",
    "type",
    "int",
    "string",
];
const FIELDS: &[&str] =
    &["a", "path", "n", "list", "tool", "b", "missing", "`n`", "`a.b`", "body", "args", "today"];
/// The variables of loops. What has one of these names outside is hidden.
const VARIABLES: &[&str] = &["x", "x", "y", "record", "resource", "int"];

/// Returns an expression that should be true or false.
pub fn test(choices: &mut Choices<'_>) -> String {
    Grammar { choices, variables: Vec::new() }.test(DEPTH)
}

/// Returns an expression of any type.
pub fn any(choices: &mut Choices<'_>) -> String {
    Grammar { choices, variables: Vec::new() }.any(DEPTH)
}

struct Grammar<'c, 'b> {
    choices: &'c mut Choices<'b>,
    /// The variables of the loops around.
    variables: Vec<&'static str>,
}

impl Grammar<'_, '_> {
    fn one_of(&mut self, leaves: &[&str]) -> String {
        self.choices.of(leaves).to_owned()
    }

    fn is_leaf(&mut self, depth: usize) -> bool {
        depth == 0 || self.choices.is_empty()
    }

    fn variable(&mut self) -> Option<String> {
        let known = self.variables.len();
        (known > 0).then(|| self.variables[self.choices.below(known)].to_owned())
    }

    fn test(&mut self, depth: usize) -> String {
        if self.is_leaf(depth) {
            return self.one_of(&["true", "false", "record.body.args.flag"]);
        }
        let next = depth - 1;
        match self.choices.below(20) {
            0 | 1 => format!("{} == {}", self.text(next), self.literal()),
            2 => format!("({} && {})", self.test(next), self.test(next)),
            3 => format!("({} || {})", self.test(next), self.test(next)),
            4 => format!("!({})", self.test(next)),
            5 => format!("({} ? {} : {})", self.test(next), self.test(next), self.test(next)),
            6 => {
                let sign = self.choices.of(&["==", "!=", "<", "<=", ">", ">="]);
                format!("({} {sign} {})", self.any(next), self.any(next))
            }
            7 => {
                let sign = self.choices.of(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {sign} {})", self.number(next), self.number(next))
            }
            8 => format!("({} in {})", self.any(next), self.list(next)),
            9 => format!("({} in {})", self.any(next), self.map(next)),
            10 => format!("{} in [{}, {}]", self.text(next), self.literal(), self.literal()),
            11 => format!("{}.contains({})", self.text(next), self.literal()),
            12 => {
                let name = self.choices.of(&["contains", "startsWith", "endsWith"]);
                format!("{}.{name}({})", self.text(next), self.text(next))
            }
            13 => format!("{}.matches({})", self.text(next), self.choices.of(PATTERNS)),
            14 => format!("has({}.{})", self.map(next), self.choices.of(FIELDS)),
            15 | 16 => {
                let name = self.choices.of(&["exists", "all", "exists_one"]);
                self.over(depth, name, Self::test)
            }
            17 => format!("bool({})", self.any(next)),
            18 => format!("({} == {})", self.list(next), self.list(next)),
            _ => self.any(next),
        }
    }

    /// Returns a macro over a range, with a body that may use its variable.
    fn over(&mut self, depth: usize, name: &str, body: fn(&mut Self, usize) -> String) -> String {
        let next = depth - 1;
        let range = if self.choices.below(3) == 0 { self.map(next) } else { self.list(next) };
        if self.variables.len() == 2 {
            return format!("{range}.{name}(z, true)");
        }
        let variable = self.choices.of(VARIABLES);
        self.variables.push(variable);
        let body = body(self, next);
        self.variables.pop();
        format!("{range}.{name}({variable}, {body})")
    }

    fn literal(&mut self) -> String {
        self.one_of(LITERALS)
    }

    fn text(&mut self, depth: usize) -> String {
        if self.is_leaf(depth) {
            return self.one_of(TEXTS);
        }
        let next = depth - 1;
        match self.choices.below(8) {
            0 => self.literal(),
            1 => format!("({} + {})", self.text(next), self.text(next)),
            2 => format!("string({})", self.any(next)),
            3 => format!("({} ? {} : {})", self.test(next), self.text(next), self.text(next)),
            4 => self.variable().unwrap_or_else(|| self.literal()),
            _ => self.one_of(TEXTS),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        let leaves = self.choices.of(&[INTS, INTS, UINTS, DOUBLES]);
        if self.is_leaf(depth) {
            return self.one_of(leaves);
        }
        let next = depth - 1;
        match self.choices.below(10) {
            0 => format!("size({})", self.any(next)),
            1 => {
                let sign = self.choices.of(&["+", "-", "*", "/", "%"]);
                format!("({} {sign} {})", self.one_of(leaves), self.one_of(leaves))
            }
            2 => {
                let sign = self.choices.of(&["+", "-", "*", "/", "%"]);
                format!("({} {sign} {})", self.number(next), self.number(next))
            }
            3 => format!("(-{})", self.number(next)),
            4 => {
                let name = self.choices.of(&["int", "uint", "double"]);
                format!("{name}({})", self.any(next))
            }
            5 => format!("{}.size()", self.list(next)),
            6 => self.variable().unwrap_or_else(|| "7".to_owned()),
            _ => self.one_of(leaves),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        if self.is_leaf(depth) {
            return self.one_of(LISTS);
        }
        let next = depth - 1;
        match self.choices.below(10) {
            0 => format!("[{}, {}]", self.any(next), self.any(next)),
            1 => format!("({} + {})", self.list(next), self.list(next)),
            2 => self.over(depth, "map", Self::any),
            3 => self.over(depth, "filter", Self::test),
            4 => self.over(depth, "map", |this, depth| {
                format!("{}, {}", this.test(depth), this.any(depth))
            }),
            5 => self.variable().unwrap_or_else(|| "[[1], [2]]".to_owned()),
            _ => self.one_of(LISTS),
        }
    }

    fn map(&mut self, depth: usize) -> String {
        if self.is_leaf(depth) {
            return self.one_of(MAPS);
        }
        let next = depth - 1;
        match self.choices.below(8) {
            0 => format!("{{{}: {}}}", self.any(next), self.any(next)),
            1 => format!("{{{}: {}, {}: 1}}", self.text(next), self.any(next), self.number(next)),
            2 => self.variable().unwrap_or_else(|| "{}".to_owned()),
            _ => self.one_of(MAPS),
        }
    }

    fn any(&mut self, depth: usize) -> String {
        if self.is_leaf(depth) {
            return self.one_of(ANY);
        }
        let next = depth - 1;
        match self.choices.below(16) {
            0 => self.test(next),
            1 | 2 => self.text(next),
            3 | 4 => self.number(next),
            5 => self.list(next),
            6 => self.map(next),
            7 => self.literal(),
            8 => format!("dyn({})", self.any(next)),
            9 => format!("type({})", self.any(next)),
            10 => format!("bytes({})", self.text(next)),
            11 => format!("{}[{}]", self.list(next), self.number(next)),
            12 => format!("{}[{}]", self.map(next), self.any(next)),
            13 => format!("{}.{}", self.map(next), self.choices.of(FIELDS)),
            14 => self.variable().unwrap_or_else(|| self.one_of(ANY)),
            _ => self.one_of(ANY),
        }
    }
}
