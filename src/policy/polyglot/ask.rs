//! Running a hook.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::{Event, Shell, payload, read_answer};
use crate::cancel::Cancel;
use crate::policy::{Handle, Handler, PolicyHook, Question, Ran, Reply};
use crate::time::Stopwatch;
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
    /// How long all may take together, and how long they have: from the first one on.
    within: Option<Duration>,
    took: Option<Stopwatch>,
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
        Self { cwd, told_cwd, environment, cancel, within: None, took: None, prepared: None }
    }

    /// Sets how long all may take together.
    pub(in crate::policy) fn within(self, within: Option<Duration>) -> Self {
        Self { within, ..self }
    }

    /// Returns how long a hook may take now.
    fn timeout(&mut self, hook: &PolicyHook) -> Duration {
        let Some(within) = self.within else { return hook.timeout };
        let took = self.took.get_or_insert_with(Stopwatch::start);
        within.saturating_sub(took.elapsed()).min(hook.timeout)
    }

    fn run(
        &mut self,
        command: &str,
        event: Event,
        timeout: Duration,
        question: &Question<'_>,
    ) -> ScriptEnd {
        let Self { cwd, told_cwd, environment, cancel, prepared, .. } = self;
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
            timeout,
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
        let timeout = self.timeout(hook);
        if timeout.is_zero() {
            let how = "not asked: there was no time left".to_owned();
            return ran(None, 0, Reply::Failed { how, detail: String::new() });
        }
        let end = self.run(command, event, timeout, question);
        let exit = match end.ending {
            Ending::Exited(status) => Some(status),
            _ => None,
        };
        let took_ms = u64::try_from(end.took.as_millis()).unwrap_or(u64::MAX);
        ran(exit, took_ms, read_answer(event, &end, timeout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;
    use crate::policy::polyglot::{Files, Project, load};

    /// Whoever waits for all of them waits for no longer, whatever each may take.
    #[test]
    fn what_is_left_of_the_time_is_all_that_a_hook_may_take() {
        let settings = r#"{"hooks":{"preToolUse":[
            {"command":"echo first >&2; exit 1"},
            {"command":"exec sleep 600","timeoutMs":600000},
            {"command":"exit 2"}]}}"#;
        let home = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(home.path().join(".polyglot")).expect("made");
        std::fs::write(home.path().join(".polyglot/settings.json"), settings).expect("written");
        let (home, project) = (home.path(), Project::Asked);
        let files = Files { home: Some(home), workspace: home, project };
        let policy = load(&files, &|_| None).expect("settings");
        let policy = policy
            .at(std::env::temp_dir(), vec![("PATH".into(), "/usr/bin:/bin".into())])
            .within(Duration::from_millis(500));
        let input = object! { "command": "ls" };
        let verdict = policy.ask(&Question::Before { tool: "bash", input: &input }, &Cancel::new());
        assert_eq!(verdict.block(), None);
        let [first, second, third] = &verdict.ran[..] else { panic!("{verdict:?}") };
        let how = |ran: &Ran| match &ran.reply {
            Reply::Failed { how, .. } => how.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(first.exit, Some(1));
        assert!(how(second).starts_with("timed out after"), "{}", how(second));
        assert!(how(third).starts_with("not asked"), "{}", how(third));
    }
}
