//! The model that says what a file has for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::script::{Parts, ScriptError, Turn, read, reply};
use super::{Message, Model, ModelError, Reply, TurnRequest};
use crate::cancel::Cancel;

/// How often it is looked whether an awaited file is there.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Plays the turns of a script, one each time it is asked, whatever it is told. After the last one
/// it says nothing, which ends the run.
///
/// ```json
/// {"turns": [
///   {"text": "Looking.", "tool_calls": [{"id": "c1", "name": "bash", "args": {"command": "ls"}}]},
///   {"wait_for": "go", "text": "Done.", "usage": {"input_tokens": 10, "output_tokens": 2}}
/// ]}
/// ```
///
/// All members are optional but the name of a call. Calls without an id get the next of `c1`, `c2`,
/// … that the script does not use. A turn with `wait_for` is held until that file is in the
/// workspace, so that something else can happen first. `"stop": "output_limit"` cuts a turn off. A
/// turn with `fails` fails with these words, and a call with `malformed` has arguments that could
/// not be read, for this reason.
///
/// `tasks` beside `turns` has turns for tasks, under the words in which each is asked for; a task
/// that is not there plays on where it was asked for.
#[derive(Debug)]
pub struct Scripted {
    run: Part,
    /// By what they are to do.
    tasks: BTreeMap<String, Part>,
    workspace: PathBuf,
}

/// Turns, and the next of them.
#[derive(Debug)]
struct Part {
    turns: Vec<Turn>,
    next: usize,
}

impl Part {
    const fn of(turns: Vec<Turn>) -> Self {
        Self { turns, next: 0 }
    }

    /// Returns the turn of a run that has taken so many: it may be one that is resumed.
    fn turn(&mut self, taken: usize) -> Option<&Turn> {
        self.next = self.next.max(taken);
        self.turns.get(self.next)
    }
}

impl Scripted {
    /// Reads a script; the files that it waits for are those of `workspace`.
    pub fn parse(script: &[u8], workspace: impl AsRef<Path>) -> Result<Self, ScriptError> {
        let Parts { turns, tasks } = read(script)?;
        let tasks = tasks.into_iter().map(|(goal, turns)| (goal, Part::of(turns))).collect();
        let workspace = workspace.as_ref().to_owned();
        Ok(Self { run: Part::of(turns), tasks, workspace })
    }

    /// Waits for a file, and tells whether it came before `cancel` was raised.
    fn wait_for(workspace: &Path, file: &Path, cancel: &Cancel) -> bool {
        while !workspace.join(file).exists() {
            if cancel.wait(LOOK_EVERY) {
                return false;
            }
        }
        true
    }
}

impl Model for Scripted {
    fn turn(
        &mut self,
        request: &TurnRequest,
        cancel: &Cancel,
        said: &mut dyn FnMut(&str),
    ) -> Result<Reply, ModelError> {
        let taken = request.messages.iter();
        let taken = taken.filter(|said| matches!(said, Message::Assistant { .. })).count();
        let part = match request.messages.first() {
            Some(Message::User { text }) => self.tasks.get_mut(text),
            _ => None,
        };
        let part = part.unwrap_or(&mut self.run);
        let Some(turn) = part.turn(taken) else { return Ok(reply(String::new(), vec![])) };
        if let Some(file) = &turn.wait_for
            && !Self::wait_for(&self.workspace, file, cancel)
        {
            return Err(ModelError::Cancelled);
        }
        let (reply, fails) = (turn.reply.clone(), turn.fails.clone());
        part.next += 1;
        if !reply.text.is_empty() {
            said(&reply.text);
        }
        fails.map_or(Ok(reply), Err)
    }

    fn name(&self) -> &'static str {
        "scripted"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::Object;
    use crate::model::{CallRequest, StopReason, Usage};
    use crate::object;

    fn scripted(script: &str) -> Scripted {
        Scripted::parse(script.as_bytes(), ".").expect("a script")
    }

    fn next(model: &mut Scripted) -> Reply {
        model.turn(&TurnRequest::default(), &Cancel::new(), &mut |_| {}).expect("a reply")
    }

    #[test]
    fn turns_are_played_in_order_and_then_there_is_silence() {
        let mut model = scripted(
            r#"{"turns":[
                {"text":"one","tool_calls":[{"id":"c2","name":"bash","args":{"command":"ls"}},
                                            {"name":"list_dir"}]},
                {"tool_calls":[{"name":"no_such_tool"}],"stop":"output_limit",
                 "usage":{"input_tokens":7,"output_tokens":1}},
                {}
            ]}"#,
        );
        let call = |id: &str, name: &str, args| CallRequest {
            id: id.into(),
            name: name.into(),
            args,
            malformed: None,
        };
        let first = next(&mut model);
        assert_eq!((first.text.as_str(), first.stop), ("one", StopReason::ToolUse));
        let listed = call("c1", "list_dir", Object::new());
        assert_eq!(first.calls, [call("c2", "bash", object! { "command": "ls" }), listed]);
        let second = next(&mut model);
        assert_eq!(second.calls, [call("c3", "no_such_tool", Object::new())]);
        assert_eq!(second.stop, StopReason::OutputLimit);
        assert_eq!(second.usage, Usage { input_tokens: 7, output_tokens: 1, estimated: false });
        for _ in 0..3 {
            let silence = next(&mut model);
            assert_eq!((silence.text.as_str(), silence.calls.len()), ("", 0));
            assert_eq!(silence.stop, StopReason::EndTurn);
        }
    }

    #[test]
    fn a_resumed_run_goes_on_where_it_was() {
        let script = r#"{"turns":[{"text":"one"},{"text":"two"}]}"#;
        let said = || Message::Assistant { text: String::new(), calls: Vec::new() };
        let after = |turns: usize| {
            let messages = (0..turns).map(|_| said()).collect();
            let request = TurnRequest { messages, ..TurnRequest::default() };
            let reply = scripted(script).turn(&request, &Cancel::new(), &mut |_| {});
            reply.expect("a reply").text
        };
        assert_eq!((after(0), after(1), after(9)), ("one".into(), "two".into(), String::new()));
    }

    #[test]
    fn a_turn_is_held_until_its_file_is_there() {
        let workspace = tempfile::TempDir::new().expect("a directory");
        let script = br#"{"turns":[{"wait_for":"sub/go","text":"gone"}]}"#;
        let mut model = Scripted::parse(script, workspace.path()).expect("a script");
        let cancel = Cancel::new();
        let (said, saying) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let reply =
                    model.turn(&TurnRequest::default(), &cancel, &mut |_| {}).expect("a reply");
                said.send(reply.text).expect("a listener");
            });
            std::fs::create_dir(workspace.path().join("sub")).expect("a directory");
            std::fs::write(workspace.path().join("sub/go"), "").expect("a file");
            assert_eq!(saying.recv().as_deref(), Ok("gone"));
        });
    }

    #[test]
    fn a_held_turn_can_be_cancelled_and_taken_again() {
        let workspace = tempfile::TempDir::new().expect("a directory");
        let script = br#"{"turns":[{"wait_for":"go","text":"gone"}]}"#;
        let mut model = Scripted::parse(script, workspace.path()).expect("a script");
        let cancel = Cancel::new();
        cancel.cancel();
        let turn = model.turn(&TurnRequest::default(), &cancel, &mut |_| {});
        assert_eq!(turn, Err(ModelError::Cancelled));
        std::fs::write(workspace.path().join("go"), "").expect("a file");
        assert_eq!(next(&mut model).text, "gone");
    }
}
