//! What must be so before a predicate can hold, read from its tree.
//!
//! Whoever finds that nothing of it is so may say "does not hold" without evaluating, and is right
//! to the letter: the predicate would have said so too, without an error and within its budget.
//! For that, keys are taken only from [`cheap`](Rank::is_cheap) conjuncts and from the first
//! conjunct after them. `&&` is false where one side is, and what stands before that side was
//! cheap.

mod order;
mod read;

use std::sync::Arc;

use cel::common::ast::IdedExpr;

use super::Context;
pub(super) use order::order;

/// The keys of which at least one fits wherever the predicate holds, or fails.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Selector(Vec<SearchKey>);

/// What a call must be like, all of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SearchKey {
    /// Where.
    pub place: Place,
    /// `record.body.status`
    pub status: Option<Arc<str>>,
    /// What occurs in `record.body.content`.
    pub needle: Option<Arc<str>>,
}

/// Where a predicate may hold. No resource says anything of a tool, and no tool of a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Whatever the tool and the resource are.
    Anywhere,
    /// `record.body.tool`
    Tool(PlaceName),
    /// `resource`
    Resource(PlaceName),
}

/// What a tool or a resource has to be called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaceName {
    /// This.
    Is(Arc<str>),
    /// Anything that begins with this.
    StartsWith(Arc<str>),
}

/// What evaluating an expression may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Looks at the tool or the resource.
    Place,
    /// Looks at the status.
    Status,
    /// Searches the content.
    Search,
    /// Is false, and that cheaply, where its selector rules it out; anything otherwise.
    Guarded,
    /// Anything.
    Unknown,
}

impl Rank {
    /// Tells whether evaluating takes no more than its literals and the content are long, and
    /// cannot fail.
    pub(super) const fn is_cheap(self) -> bool {
        matches!(self, Self::Place | Self::Status | Self::Search)
    }
}

/// The most keys that one selector grows to where conjuncts multiply them.
const MAX_PRODUCT: usize = 64;

impl Selector {
    /// Reads the selector of `root`. A body has typed fields only in [`Context::Hook`].
    pub(super) fn of(root: &IdedExpr, context: Context) -> Self {
        read::read(root, context).1
    }

    /// Returns the keys.
    pub(super) fn keys(&self) -> &[SearchKey] {
        &self.0
    }

    fn any() -> Self {
        Self(vec![SearchKey::ANY])
    }

    fn of_keys(keys: impl Iterator<Item = SearchKey>) -> Self {
        let mut keys: Vec<SearchKey> = keys.collect();
        keys.sort_unstable();
        keys.dedup();
        if keys.contains(&SearchKey::ANY) { Self::any() } else { Self(keys) }
    }

    fn or(self, other: Self) -> Self {
        Self::of_keys(self.0.into_iter().chain(other.0))
    }

    fn and(self, other: &Self) -> Self {
        let product = self.0.len() * other.0.len();
        if product > self.0.len().max(other.0.len()).max(MAX_PRODUCT) {
            return self;
        }
        Self::of_keys(self.0.iter().flat_map(|one| other.0.iter().map(|two| one.and(two))))
    }
}

impl SearchKey {
    const ANY: Self = Self { place: Place::Anywhere, status: None, needle: None };

    /// Returns what both ask for; of two things of one kind, what is found less often.
    fn and(&self, other: &Self) -> Self {
        let length = |needle: &Option<Arc<str>>| needle.as_ref().map_or(0, |needle| needle.len());
        let longer = length(&other.needle) > length(&self.needle);
        let narrower = other.place.narrowness() > self.place.narrowness();
        Self {
            place: if narrower { &other.place } else { &self.place }.clone(),
            status: self.status.as_ref().or(other.status.as_ref()).cloned(),
            needle: if longer { &other.needle } else { &self.needle }.clone(),
        }
    }

    /// Tells whether it looks into the body.
    pub(super) const fn reads_body(&self) -> bool {
        matches!(self.place, Place::Tool(_)) || self.status.is_some() || self.needle.is_some()
    }
}

impl Place {
    fn narrowness(&self) -> usize {
        match self {
            Self::Anywhere => 0,
            Self::Tool(PlaceName::StartsWith(prefix))
            | Self::Resource(PlaceName::StartsWith(prefix)) => prefix.len(),
            Self::Tool(PlaceName::Is(_)) | Self::Resource(PlaceName::Is(_)) => usize::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::parse;

    fn words(key: &SearchKey) -> String {
        let name = |of: &str, name: &PlaceName| match name {
            PlaceName::Is(text) => format!("{of} {text}"),
            PlaceName::StartsWith(prefix) => format!("{of} {prefix}*"),
        };
        let place = match &key.place {
            Place::Anywhere => None,
            Place::Tool(tool) => Some(name("tool", tool)),
            Place::Resource(resource) => Some(name("resource", resource)),
        };
        let status = key.status.as_ref().map(|status| format!("status {status}"));
        let needle = key.needle.as_ref().map(|needle| format!("content *{needle}*"));
        let parts: Vec<String> = place.into_iter().chain(status).chain(needle).collect();
        if parts.is_empty() { "anything".to_owned() } else { parts.join(" and ") }
    }

    fn selects(source: &str, context: Context) -> String {
        let (parsed, _) = parse::parse(source).expect(source);
        let selector = Selector::of(&order(parsed, context), context);
        let keys: Vec<String> = selector.keys().iter().map(words).collect();
        if keys.is_empty() { "nothing".to_owned() } else { keys.join(", ") }
    }

    #[test]
    fn a_selector_is_what_a_predicate_cannot_do_without() {
        for (source, want) in [
            ("record.body.tool == 'a'", "tool a"),
            ("'a' == record.body.tool", "tool a"),
            ("(record.body.`tool`) == 'a'", "tool a"),
            ("record['body']['tool'] == 'a'", "tool a"),
            ("record.body['tool'] == 'a'", "tool a"),
            ("record.body.tool in ['b', 'a', 'b']", "tool a, tool b"),
            ("record.body.tool in []", "nothing"),
            ("record.body.tool.startsWith('a')", "tool a*"),
            ("record.body.tool.startsWith('')", "anything"),
            ("resource == 'a'", "resource a"),
            ("resource in ['a', 'b']", "resource a, resource b"),
            ("resource.startsWith('a')", "resource a*"),
            ("record.body.status == 'a'", "status a"),
            ("record.body.status in ['a', 'b']", "status a, status b"),
            ("record.body.content.contains('a')", "content *a*"),
            ("record.body.content.contains('')", "anything"),
            // `&&`: all of it, and of two of a kind the one that is found less often.
            (
                "record.body.content.contains('c') && record.body.status == 's' && \
                 record.body.args.n > 3 && record.body.tool == 'a'",
                "tool a and status s and content *c*",
            ),
            ("record.body.tool == 'a' && record.body.tool == 'b'", "tool a"),
            ("record.body.tool.startsWith('ab') && record.body.tool == 'a'", "tool a"),
            ("resource.startsWith('r') && record.body.tool.startsWith('ab')", "tool ab*"),
            (
                "record.body.content.contains('c') && record.body.content.contains('cc')",
                "content *cc*",
            ),
            (
                "record.body.tool in ['a', 'b'] && record.body.status in ['s', 't']",
                "tool a and status s, tool a and status t, tool b and status s, tool b and status t",
            ),
            // `||`: either, if each side has something.
            ("record.body.tool == 'a' || resource == 'b'", "tool a, resource b"),
            (
                "(record.act == 'x' && record.body.tool == 'a') || record.body.tool in ['b']",
                "tool a, tool b",
            ),
            ("record.body.tool == 'a' || record.act == 'x'", "anything"),
            (
                "record.body.status == 's' && (record.body.tool == 'a' || resource == 'b')",
                "tool a and status s, resource b and status s",
            ),
            // Of what may be dear only the first is surely evaluated.
            (
                "record.act == 'x' && (record.body.tool == 'a' && record.act == 'x' || \
                 record.body.tool == 'b')",
                "anything",
            ),
            (
                "(record.act == 'x' && record.body.tool == 'a' || record.body.tool == 'b') && \
                 (record.act == 'x' && record.body.status == 's' || record.body.status == 't')",
                "tool a, tool b",
            ),
            // What is no key.
            ("record.body.tool != 'a'", "anything"),
            ("!(record.body.tool == 'a')", "anything"),
            ("record.body.tool == record.actor", "anything"),
            ("record.body.tool in ['a', record.actor]", "anything"),
            ("record.body.tool in {'a': 1}", "anything"),
            ("record.body.tool.endsWith('a')", "anything"),
            ("record.body.args.tool == 'a'", "anything"),
            ("record.body.content == 'a'", "anything"),
            ("has(record.body.tool)", "anything"),
            ("true ? record.body.tool == 'a' : false", "anything"),
            ("['a'].exists(resource, resource == 'a')", "anything"),
            ("true", "anything"),
        ] {
            assert_eq!(selects(source, Context::Hook), want, "{source}");
        }
    }

    #[test]
    fn where_a_body_may_hold_anything_only_the_resource_selects() {
        let source = "record.body.tool == 'a' && resource == 'b' && record.body.status == 's'";
        assert_eq!(selects(source, Context::Permission), "resource b");
        assert_eq!(selects(source, Context::Hook), "tool a and status s");
    }

    #[test]
    fn conjuncts_do_not_multiply_keys_without_bound() {
        let many = |count: u32| {
            let texts: Vec<String> = (0..count).map(|number| format!("'{number}'")).collect();
            texts.join(", ")
        };
        let source =
            format!("record.body.status in [{}] && record.body.tool in [{}]", many(100), many(200));
        let (parsed, _) = parse::parse(&source).expect("an expression");
        let selector = Selector::of(&order(parsed, Context::Hook), Context::Hook);
        assert_eq!(selector.keys().len(), 200);
        assert!(selector.keys().iter().all(|key| key.status.is_none()));
    }
}
