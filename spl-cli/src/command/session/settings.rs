//! The text of a settings file with hooks: `hooks.<Event>[] = {matcher?, hooks: [{type, command}]}`.
//!
//! Comes in: a text and what is wanted of it. Goes out: the text with that change, or where it
//! stands in the way. A change is spliced into the text at the places that the parser reports, so
//! that everything else stays as it is: comments, indentation, line ends, the order of keys.

mod document;
mod entries;
mod install;
mod layout;
mod splice;
mod uninstall;

pub(super) use document::{Document, Fault, Syntax};
pub(super) use entries::{Entry, entries};
pub(super) use install::install;
pub(super) use uninstall::uninstall;

#[cfg(test)]
mod laws;
