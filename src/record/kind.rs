//! The grammar of `body.kind` (contract §1.10).

use std::fmt;

/// The schema name of a body: `core.hook.v1`, `core.work.turn.v1`, `@me.note`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(Box<str>);

/// Why a text is not a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be 2 to 4 segments `scope.category.entity[.vN]` of lower-case letters, digits, `-` and `_`"
)]
pub struct KindError;

impl Kind {
    /// Checks and takes a kind.
    ///
    /// Two segments only under the scopes `core` and `@…`; a fourth only if it is a version.
    pub fn parse(text: &str) -> Result<Self, KindError> {
        let segments: Vec<&str> = text.split('.').collect();
        let ident = |text: &str| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
        };
        let version = |text: &str| {
            text.strip_prefix('v')
                .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        };
        let (Some(scope), rest) = (segments.first(), segments.iter().skip(1)) else {
            return Err(KindError);
        };
        let named = scope.strip_prefix('@');
        let good = ident(named.unwrap_or(scope))
            && rest.clone().all(|segment| ident(segment))
            && match segments.len() {
                2 => *scope == "core" || named.is_some(),
                3 => true,
                4 => segments.last().is_some_and(|last| version(last)),
                _ => false,
            };
        if good { Ok(Self(text.into())) } else { Err(KindError) }
    }

    /// Returns the kind.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_the_grammar() {
        for good in ["core.hook.v1", "core.intent", "@me.note", "core.work.turn.v12", "x.a.b"] {
            assert!(Kind::parse(good).is_ok(), "{good}");
        }
        for bad in
            ["", "core", "x.note", "Core.hook.v1", "a.b.c.d", "a..b", "core.a.b.v", "a.b.c.v1.d"]
        {
            assert!(Kind::parse(bad).is_err(), "{bad}");
        }
    }
}
