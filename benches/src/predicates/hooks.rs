//! The hooks that are loaded, in each language.

use super::dice::Dice;

/// What a hook looks at, beside the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The status.
    Status,
    /// The status, and a word in the content.
    StatusAndWord,
    /// A pattern in the content.
    Pattern,
    /// The trust in the actor.
    Trust,
    /// An argument.
    Argument,
    /// A word in the content.
    Word,
}

/// The shapes of a mixed set.
const MIXED: [Shape; 5] =
    [Shape::Status, Shape::StatusAndWord, Shape::Pattern, Shape::Trust, Shape::Argument];

/// The pattern of [`Shape::Pattern`].
pub const PATTERN: &str = "error: [A-Z]+[0-9]{3}";

/// How many tools hooks are for, if there are enough hooks.
const MAX_TOOLS: usize = 1_000;

/// A hook.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Its place among the others.
    pub number: usize,
    pub shape: Shape,
    /// The tool that it is for, unless it is for any.
    pub tool: Option<String>,
    /// The word that it looks for, if it does.
    pub word: String,
}

impl Hook {
    /// Returns it as a predicate in CEL.
    pub fn cel(&self) -> String {
        let status = r#"record.body.status == "error""#;
        let word = format!(r#"record.body.content.contains("{}")"#, self.word);
        let looks = match self.shape {
            Shape::Status => status.to_owned(),
            Shape::StatusAndWord => format!("{status} && {word}"),
            Shape::Pattern => format!(r#"record.body.content.matches("{PATTERN}")"#),
            Shape::Trust => r#"trust(current_actor(), "code") < 0.5"#.to_owned(),
            Shape::Argument => {
                let path = "record.body.args.path";
                format!(r#"has({path}) && {path}.startsWith("/etc")"#)
            }
            Shape::Word => word,
        };
        self.with_tool("record.body.tool", &looks, "&&")
    }

    /// Returns it as a policy in Cedar, which has no regular expressions.
    pub fn cedar(&self) -> Option<String> {
        let status = r#"context.status == "error""#;
        let word = format!(r#"context.content like "*{}*""#, self.word);
        let looks = match self.shape {
            Shape::Status => status.to_owned(),
            Shape::StatusAndWord => format!("{status} && {word}"),
            Shape::Pattern => return None,
            Shape::Trust => "context.trust_per_mille < 500".to_owned(),
            Shape::Argument => {
                r#"context.args has path && context.args.path like "/etc*""#.to_owned()
            }
            Shape::Word => word,
        };
        let looks = self.with_tool("context.tool", &looks, "&&");
        Some(format!("permit(principal, action, resource) when {{ {looks} }};"))
    }

    /// Returns it as a rule in Rego that puts its number into the set `hits`.
    pub fn rego(&self) -> String {
        let status = r#"input.status == "error""#;
        let word = format!(r#"contains(input.content, "{}")"#, self.word);
        let looks = match self.shape {
            Shape::Status => status.to_owned(),
            Shape::StatusAndWord => format!("{status}; {word}"),
            Shape::Pattern => format!("regex.match(`{PATTERN}`, input.content)"),
            Shape::Trust => "input.trust < 0.5".to_owned(),
            Shape::Argument => r#"startswith(input.args.path, "/etc")"#.to_owned(),
            Shape::Word => word,
        };
        let looks = self.with_tool("input.tool", &looks, ";");
        format!("hits contains {} if {{ {looks} }}\n", self.number)
    }

    fn with_tool(&self, name: &str, looks: &str, and: &str) -> String {
        match &self.tool {
            Some(tool) => format!(r#"{name} == "{tool}" {and} {looks}"#),
            None => looks.to_owned(),
        }
    }
}

/// Returns for how many tools that many hooks are.
pub fn tools(hooks: usize) -> usize {
    hooks.min(MAX_TOOLS)
}

/// Returns the name of a tool.
pub fn tool(number: usize) -> String {
    format!("tool-{number:03}")
}

/// Returns the word that the hooks of a tool look for.
pub fn word_of(tool: &str) -> String {
    format!("cannot open {tool}.lock")
}

/// Returns hooks of mixed shapes, as many for each tool as for any other.
pub fn mixed(count: usize) -> Vec<Hook> {
    let tools = tools(count);
    let hook = |number: usize| {
        let tool = tool(number % tools);
        let word = word_of(&tool);
        // By the round too, so that the hooks of one tool differ.
        Hook {
            number,
            shape: MIXED[(number + number / tools) % MIXED.len()],
            tool: Some(tool),
            word,
        }
    };
    (0..count).map(hook).collect()
}

/// The same, but each hundredth looks for a word, whatever the tool.
pub fn with_needles(count: usize) -> Vec<Hook> {
    let mut hooks = mixed(count);
    for (hook, needle) in hooks.iter_mut().skip(99).step_by(100).zip(needles(count / 100)) {
        *hook = Hook { number: hook.number, ..needle };
    }
    hooks
}

/// Returns hooks that look for a word each, whatever the tool: words as diverse as the text.
pub fn needles(count: usize) -> Vec<Hook> {
    let mut dice = Dice::new(7);
    let mut needle = |number: usize| {
        let word = format!("{} {}{number}", dice.word(), dice.word());
        Hook { number, shape: Shape::Word, tool: None, word }
    };
    (0..count).map(&mut needle).collect()
}
