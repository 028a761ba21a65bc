//! Which tools a run was granted, by name.

use super::arguments::short;
use crate::code::{Code, Coded};

/// The names that a run was granted: each a tool, or by a `*` at its end every tool that begins so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grants(Vec<String>);

/// A name that was granted and that no tool has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool `{}`; there are {}", short(.name), .there.join(", "))]
pub struct NoSuchTool {
    /// The name.
    pub name: String,
    /// The tools that there are.
    pub there: Vec<String>,
}

impl Coded for NoSuchTool {
    fn code(&self) -> Code {
        Code::InvalidRequest
    }

    fn field(&self) -> Option<&str> {
        Some("tools")
    }
}

impl Grants {
    /// Reads names with commas between.
    pub fn parse(text: &str) -> Result<Self, String> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        match names.iter().find(|name| name.is_empty() || name.trim_end_matches('*').contains('*'))
        {
            Some(empty) if empty.is_empty() => Err("a name between the commas is empty".into()),
            Some(odd) => Err(format!("`{}`: a `*` stands at the end of a name", short(odd))),
            None => Ok(Self(names)),
        }
    }

    /// Tells whether the tool `name` was granted.
    pub fn cover(&self, name: &str) -> bool {
        self.0.iter().any(|grant| covers(grant, name))
    }

    /// Tells whether a tool that begins with `prefix` may have been granted.
    pub fn reach(&self, prefix: &str) -> bool {
        self.0.iter().any(|grant| match grant.strip_suffix('*') {
            Some(start) => start.starts_with(prefix) || prefix.starts_with(start),
            None => grant.starts_with(prefix),
        })
    }

    /// Tells whether a tool that begins with `prefix` was asked for, and not just everything.
    pub fn name(&self, prefix: &str) -> bool {
        self.0.iter().any(|grant| grant.starts_with(prefix))
    }

    /// Refuses a grant that covers none of the tools `there`.
    pub(super) fn check(&self, there: &[&str]) -> Result<(), NoSuchTool> {
        let unmet = |grant: &&String| !there.iter().any(|name| covers(grant, name));
        self.0.iter().find(unmet).map_or(Ok(()), |grant| {
            let there = there.iter().map(|name| format!("`{name}`")).collect();
            Err(NoSuchTool { name: grant.clone(), there })
        })
    }
}

fn covers(grant: &str, name: &str) -> bool {
    grant.strip_suffix('*').map_or(grant == name, |start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_a_name_or_how_names_begin() {
        let grants = Grants::parse("bash, mcp__time__*").expect("read");
        assert!(grants.cover("bash") && grants.cover("mcp__time__now"));
        assert!(!grants.cover("bashful") && !grants.cover("mcp__times__now"));
        assert!(grants.reach("mcp__time__") && grants.name("mcp__time__"));
        assert!(!grants.reach("mcp__git__"));
        let everything = Grants::parse("*").expect("read");
        assert!(everything.reach("mcp__git__") && !everything.name("mcp__git__"));
        assert!(Grants::parse("mcp__*").expect("read").reach("mcp__git__"));
        assert!(Grants::parse("mcp__git__log").expect("read").reach("mcp__git__"));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        assert!(Grants::parse("bash,,list_dir").is_err());
        assert!(Grants::parse("").is_err());
        assert!(Grants::parse("m*p").is_err());
    }
}
