//! The hooks that are loaded, in each language.

use super::dice::Dice;

/// What a hook looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The status.
    Status,
    /// The status and a word in the content.
    Contains,
    /// A pattern in the content.
    Matches,
    /// The trust in the actor.
    Trust,
    /// An argument.
    Argument,
    /// A word in the content, whatever the tool.
    Needle,
}

/// The shapes of a mixed set; all of them ask for a tool.
const MIXED: [Shape; 5] =
    [Shape::Status, Shape::Contains, Shape::Matches, Shape::Trust, Shape::Argument];

/// The pattern of [`Shape::Matches`].
pub const PATTERN: &str = "error: [A-Z]+[0-9]{3}";

/// How many tools hooks are for, if there are enough hooks.
const MAX_TOOLS: usize = 1_000;

/// A hook.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Its place among the others.
    pub number: usize,
    pub shape: Shape,
    /// The tool that it is for.
    pub tool: String,
    /// The word that it looks for, if it does.
    pub word: String,
}

impl Hook {
    /// Returns it as a predicate in CEL.
    pub fn cel(&self) -> String {
        let Self { shape, tool, word, .. } = self;
        let tool = format!("record.body.tool == \"{tool}\"");
        match shape {
            Shape::Status => format!("{tool} && record.body.status == \"error\""),
            Shape::Contains => {
                format!(
                    "{tool} && record.body.status == \"error\" \
                     && record.body.content.contains(\"{word}\")"
                )
            }
            Shape::Matches => format!("{tool} && record.body.content.matches(\"{PATTERN}\")"),
            Shape::Trust => format!("{tool} && trust(current_actor(), \"code\") < 0.5"),
            Shape::Argument => {
                format!(
                    "{tool} && has(record.body.args.path) \
                     && record.body.args.path.startsWith(\"/etc\")"
                )
            }
            Shape::Needle => format!("record.body.content.contains(\"{word}\")"),
        }
    }

    /// Returns it as a policy in Cedar, which has no regular expressions.
    pub fn cedar(&self) -> Option<String> {
        let Self { shape, tool, word, .. } = self;
        let tool = format!("context.tool == \"{tool}\"");
        let condition = match shape {
            Shape::Status => format!("{tool} && context.status == \"error\""),
            Shape::Contains => {
                format!(
                    "{tool} && context.status == \"error\" && context.content like \"*{word}*\""
                )
            }
            Shape::Matches => return None,
            Shape::Trust => format!("{tool} && context.trust_per_mille < 500"),
            Shape::Argument => {
                format!("{tool} && context.args has path && context.args.path like \"/etc*\"")
            }
            Shape::Needle => format!("context.content like \"*{word}*\""),
        };
        Some(format!("permit(principal, action, resource) when {{ {condition} }};"))
    }

    /// Returns it as a rule in Rego that puts its number into the set `hits`.
    pub fn rego(&self) -> String {
        let Self { number, shape, tool, word } = self;
        let tool = format!("input.tool == \"{tool}\"");
        let condition = match shape {
            Shape::Status => format!("{tool}; input.status == \"error\""),
            Shape::Contains => {
                format!("{tool}; input.status == \"error\"; contains(input.content, \"{word}\")")
            }
            Shape::Matches => format!("{tool}; regex.match(`{PATTERN}`, input.content)"),
            Shape::Trust => format!("{tool}; input.trust < 0.5"),
            Shape::Argument => format!("{tool}; startswith(input.args.path, \"/etc\")"),
            Shape::Needle => format!("contains(input.content, \"{word}\")"),
        };
        format!("hits contains {number} if {{ {condition} }}\n")
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
        Hook { number, shape: MIXED[(number + number / tools) % MIXED.len()], tool, word }
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
        Hook { number, shape: Shape::Needle, tool: String::new(), word }
    };
    (0..count).map(&mut needle).collect()
}
