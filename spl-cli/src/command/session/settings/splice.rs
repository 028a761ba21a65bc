//! Changes of a text at given places: members added to an array or an object, and taken out.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object};
use jsonc_parser::common::{Range as Span, Ranged as _};

use super::layout::{Layout, indentation, indentation_of_line};

/// Changes of a text that do not overlap.
#[derive(Default)]
pub(super) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Puts `new` in the place of a range. Of two that stand at one place, the first goes first.
    pub(super) fn replace(&mut self, range: Range<usize>, new: impl Into<String>) {
        self.0.push((range, new.into()));
    }

    /// Returns whether nothing changes.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text with these changes.
    pub(super) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(text.len() + 4096);
        let mut at = 0;
        for (range, new) in self.0 {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push_str(&new);
            at = range.end.max(at);
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }
}

/// An array or an object in a text: where it stands, and where its members do.
pub(super) struct Container {
    span: Span,
    members: Vec<Span>,
}

impl From<&Object<'_>> for Container {
    fn from(object: &Object<'_>) -> Self {
        let members = object.properties.iter().map(|property| property.range).collect();
        Self { span: object.range, members }
    }
}

impl From<&Array<'_>> for Container {
    fn from(array: &Array<'_>) -> Self {
        let members = array.elements.iter().map(|element| element.range()).collect();
        Self { span: array.range, members }
    }
}

impl Container {
    /// Where the inside ends.
    const fn close(&self) -> usize {
        self.span.end - 1
    }

    /// Returns whether the members stand on lines of their own. Where there are none, `default`.
    pub(super) fn is_over_lines(&self, text: &str, default: bool) -> bool {
        let breaks = |range: Range<usize>| text.get(range).is_some_and(|part| part.contains('\n'));
        match (self.members.first(), self.members.last()) {
            (Some(first), Some(last)) => {
                breaks(self.span.start..first.start) || breaks(last.end..self.close())
            }
            _ => default || breaks(self.span.start..self.close()),
        }
    }

    /// Adds members at the end. `write` is given the indentation of a line of its own, or nothing
    /// where all stands on one line.
    pub(super) fn append(
        &self,
        text: &str,
        layout: &Layout,
        over_lines: bool,
        edits: &mut Edits,
        write: impl FnOnce(Option<&str>) -> Vec<String>,
    ) {
        let last = self.members.last();
        let from = last.map_or(self.span.start + 1, |last| last.end);
        let gap = Gap::of(text, from..self.close());
        let base = indentation_of_line(text, self.span.start);
        let own = self.members.first().and_then(|first| indentation(text, first.start));
        let inner = own.map_or_else(|| layout.inside(base), str::to_owned);
        let members = write(over_lines.then_some(inner.as_str()));
        if last.is_some() && gap.comma.is_none() {
            edits.replace(from..from, ",");
        }
        let mut new = String::new();
        for (at, member) in members.iter().enumerate() {
            if at > 0 {
                new.push(',');
            }
            if over_lines {
                new.push_str(layout.newline);
                new.push_str(&inner);
            } else if layout.spaced && (at > 0 || last.is_some()) {
                new.push(' ');
            }
            new.push_str(member);
        }
        if gap.comma.is_some() {
            new.push(',');
        }
        let rest = text.get(gap.end..self.close()).unwrap_or_default();
        if over_lines && last.is_none() && !rest.contains('\n') {
            new.push_str(layout.newline);
            new.push_str(base);
            edits.replace(gap.end..self.close(), new);
        } else {
            edits.replace(gap.end..gap.end, new);
        }
    }

    /// Takes out the members that `removed` says, one for each.
    pub(super) fn remove(&self, text: &str, removed: &[bool], edits: &mut Edits) {
        let is_removed = |at: usize| removed.get(at).copied().unwrap_or(false);
        if self.is_bare_without(text, removed) {
            edits.replace(self.span.start + 1..self.close(), "");
            return;
        }
        let end_of_gap =
            |at: usize| self.members.get(at + 1).map_or(self.close(), |next| next.start);
        let gaps: Vec<Gap> = (self.members.iter().enumerate())
            .map(|(at, member)| Gap::of(text, member.end..end_of_gap(at)))
            .collect();
        let last_kept = (0..self.members.len()).rev().find(|at| !is_removed(*at));
        let mut kept_before = false;
        for (at, (member, gap)) in self.members.iter().zip(&gaps).enumerate() {
            if !is_removed(at) {
                kept_before = true;
                continue;
            }
            let end = gap.comma.map_or(member.end, |comma| comma + 1);
            // A comment before the comma stays, and then it is what follows.
            let comma = gap.comma.filter(|comma| member.end + space(text, member.end) < *comma);
            let (start, after) = if kept_before || last_kept.is_none() {
                let follows = comma.map_or(end, |_| member.end);
                (self.start_of_space(text, member.start, follows), end)
            } else {
                (member.start, end + space(text, end))
            };
            match comma {
                Some(comma) => {
                    edits.replace(start..member.end, "");
                    edits.replace(comma..after, "");
                }
                None => edits.replace(start..after, ""),
            }
        }
        // The comma before what is gone now stands behind the last member.
        let had_trailing = gaps.last().is_some_and(|gap| gap.comma.is_some());
        if let Some(last) = last_kept.filter(|last| last + 1 < self.members.len() && !had_trailing)
            && let Some(comma) = gaps.get(last).and_then(|gap| gap.comma)
        {
            edits.replace(comma..comma + 1, "");
        }
    }

    /// Returns whether nothing but white space is left without these members.
    pub(super) fn is_bare_without(&self, text: &str, removed: &[bool]) -> bool {
        let ends = self.members.iter().map(|member| member.end);
        let starts = self.members.iter().map(|member| member.start);
        let froms = [self.span.start + 1].into_iter().chain(ends);
        let mut gaps = froms.zip(starts.chain([self.close()]));
        let blank = |c: char| c.is_whitespace() || c == ',';
        removed.iter().filter(|removed| **removed).count() == self.members.len()
            && gaps.all(|(from, to)| text.get(from..to).is_some_and(|gap| gap.chars().all(blank)))
    }

    /// Returns where the white space before `start` begins, unless the line end in it is needed: a
    /// comment before it would take in what follows.
    fn start_of_space(&self, text: &str, start: usize, end: usize) -> usize {
        let before = text.get(self.span.start + 1..start).unwrap_or_default();
        let bare = before.trim_end_matches(char::is_whitespace);
        let gone = before.get(bare.len()..).unwrap_or_default();
        let rest = text.get(end..).unwrap_or_default();
        let next = rest.trim_start_matches([' ', '\t']).chars().next();
        if gone.contains('\n') && !matches!(next, Some('\n' | '\r')) {
            return start;
        }
        start - gone.len()
    }
}

/// Returns how much white space there is at a place.
fn space(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.len() - rest.trim_start_matches(char::is_whitespace).len()
}

/// What stands between two members, or behind the last: white space, comments, perhaps a comma.
struct Gap {
    /// Where the comma is.
    comma: Option<usize>,
    /// Where the last comma or comment ends.
    end: usize,
}

impl Gap {
    fn of(text: &str, range: Range<usize>) -> Self {
        let (mut at, mut end, mut comma) = (range.start, range.start, None);
        while let Some(rest) = text.get(at..range.end).filter(|rest| !rest.is_empty()) {
            let len = if rest.starts_with("//") {
                rest.find(['\n', '\r']).unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else if rest.starts_with(',') {
                comma = Some(at);
                1
            } else {
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            at += len;
            end = at;
        }
        Self { comma, end }
    }
}
