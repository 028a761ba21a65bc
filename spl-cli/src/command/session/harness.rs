//! The harnesses that hooks can be installed into: where each reads its settings, which events it
//! is asked to tell of, and how long it may wait for us.

/// A harness whose settings we know how to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Harness {
    /// Claude Code
    Claude,
    /// OpenAI Codex CLI
    Codex,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// opencode
    Opencode,
}
