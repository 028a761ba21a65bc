//! What is asked for: a path and its query, with every caller's word encoded.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but what RFC 3986 calls unreserved.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A path with its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target(String);

impl Target {
    /// Returns the path of these segments. A segment may hold anything, `/` included.
    pub(crate) fn of(segments: &[&str]) -> Self {
        let segments: Vec<String> = segments.iter().map(|segment| encoded(segment)).collect();
        Self(format!("/{}", segments.join("/")))
    }

    /// Returns the same target with one more pair in its query.
    pub(crate) fn with(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.0.push(if self.0.contains('?') { '&' } else { '?' });
        self.0.push_str(&format!("{key}={}", encoded(&value.to_string())));
        self
    }

    /// Returns the same target with one more pair in its query, if there is a value.
    pub(crate) fn with_some(self, key: &str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn encoded(text: &str) -> String {
    // A lone dot or two would be taken for a step in the path.
    match text {
        "." => "%2E".into(),
        ".." => "%2E%2E".into(),
        text => utf8_percent_encode(text, ENCODED).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_of_any_name_is_one_segment() {
        let target = |thread: &str| Target::of(&["v1", "threads", thread]).0;
        assert_eq!(target("th_1-a.b~c"), "/v1/threads/th_1-a.b~c");
        assert_eq!(target("a/b?c#d e%"), "/v1/threads/a%2Fb%3Fc%23d%20e%25");
        assert_eq!(target(".."), "/v1/threads/%2E%2E");
        assert_eq!(target("ü"), "/v1/threads/%C3%BC");
    }

    #[test]
    fn a_query_is_added_pair_by_pair() {
        let target = Target::of(&["v1"]).with("a", 1).with_some("b", None::<i64>).with("c", "x&y");
        assert_eq!(target.to_string(), "/v1?a=1&c=x%26y");
    }
}
