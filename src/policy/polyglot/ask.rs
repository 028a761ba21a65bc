//! Running a hook.

use std::ffi::OsString;
use std::path::Path;

use super::{Event, Shell, payload, read_answer};
use crate::cancel::Cancel;
use crate::policy::{Handle, Handler, PolicyHook, Question, Ran, Reply};
use crate::tool::{Ending, Script, ScriptEnd};

/// How much a hook may write, to each of its two streams.
pub const STREAM_BYTES: usize = 64_000;

/// The variable that tells a hook at which event it is asked.
const EVENT_VARIABLE: &str = "POLYGLOT_HOOK_EVENT";

/// Asks hooks by running their commands.
pub(in crate::policy) struct Asker<'a> {
    cwd: &'a Path,
    told_cwd: &'a Path,
    environment: &'a [(OsString, OsString)],
    cancel: &'a Cancel,
    /// What all hooks of one question read, and their environment: made for the first.
    prepared: Option<Prepared>,
}

struct Prepared {
    payload: String,
    environment: Vec<(OsString, OsString)>,
}

impl<'a> Asker<'a> {
    pub(in crate::policy) const fn new(
        cwd: &'a Path,
        told_cwd: &'a Path,
        environment: &'a [(OsString, OsString)],
        cancel: &'a Cancel,
    ) -> Self {
        Self { cwd, told_cwd, environment, cancel, prepared: None }
    }

    fn run(
        &mut self,
        command: &str,
        event: Event,
        hook: &PolicyHook,
        question: &Question<'_>,
    ) -> ScriptEnd {
        let Self { cwd, told_cwd, environment, cancel, prepared } = self;
        let prepared = prepared.get_or_insert_with(|| {
            let mut environment = environment.to_vec();
            environment.retain(|(name, _)| name != EVENT_VARIABLE);
            environment.push((EVENT_VARIABLE.into(), event.as_str().into()));
            Prepared { payload: payload(question, told_cwd), environment }
        });
        let shell = Shell::here();
        Script {
            program: shell.program(),
            arguments: &shell.arguments(command),
            dir: cwd,
            environment: &prepared.environment,
            input: prepared.payload.as_bytes(),
            timeout: hook.timeout,
            most_bytes: STREAM_BYTES,
        }
        .run(cancel)
    }
}

impl Handle for Asker<'_> {
    fn ask(&mut self, hook: &PolicyHook, question: &Question<'_>) -> Ran {
        let Handler::Command(command) = &hook.handler;
        let ran = |exit, took_ms, reply| Ran {
            source: hook.source.clone(),
            command: command.clone(),
            exit,
            took_ms,
            reply,
        };
        // Hooks of this dialect stand at its own seams alone.
        let Some(event) = Event::at(hook.seam) else {
            return ran(None, 0, Reply::Proceed { context: None });
        };
        let end = self.run(command, event, hook, question);
        let exit = match end.ending {
            Ending::Exited(status) => Some(status),
            _ => None,
        };
        let took_ms = u64::try_from(end.took.as_millis()).unwrap_or(u64::MAX);
        ran(exit, took_ms, read_answer(event, &end, hook.timeout))
    }
}
