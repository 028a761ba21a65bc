//! How much of everything there may be (contract-polpo §17).

/// The most bytes of an envelope.
pub const ENVELOPE_BYTES: usize = 262_144;

/// The most bytes that a handler may write as its answer.
pub const OUTPUT_BYTES: usize = 65_536;

/// How many bytes of what a handler says beside its answer are kept.
pub const DIAGNOSTIC_BYTES: usize = 8_192;

/// The most bytes of feedback, serialised.
pub const FEEDBACK_BYTES: usize = 16_384;

/// How many characters of a reason are kept.
pub const REASON_CHARS: usize = 512;

/// How deep an answer may nest.
pub const ANSWER_DEPTH: usize = 64;

/// How many values an answer may hold, itself included.
pub const ANSWER_NODES: usize = 10_000;

/// How many characters of a result the model reads.
pub const RESULT_CHARS: usize = 256_000;

/// How deep handlers may cause handlers: a call of an agent's is at 0, one of its hook's at 1.
pub const MAX_DEPTH: u8 = 2;

/// The most hooks of an invocation that ask a model.
pub const PROMPT_CALLS: u32 = 8;

/// The most hooks of an invocation that ask an agent.
pub const VERIFIER_RUNS: u32 = 4;

/// The most turns that an agent who is asked may take.
pub const VERIFIER_TURNS: u32 = 10;

/// How many observers are told at once; the rest wait.
pub const OBSERVERS_AT_ONCE: usize = 4;

/// How often the ungated answer of an invocation is mended.
pub const RECOVERIES: u64 = 1;

/// The most bytes of a checkpoint, with those of the records it names.
pub const CHECKPOINT_BYTES: u64 = 4_194_304;
