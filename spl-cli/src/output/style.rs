//! The few colours there are.

use anstyle::{AnsiColor, Style};

/// What went well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// What may not be what a person wants.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
/// What went wrong.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The name of something.
pub(crate) const NAME: Style = Style::new().bold();
/// What is there to be copied or skipped, not read.
pub(crate) const DIM: Style = Style::new().dimmed();
